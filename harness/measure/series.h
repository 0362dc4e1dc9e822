// SPDX-License-Identifier: GPL-2.0-or-later
// Boot values of a session: what statistics are computed from.
#pragma once

#include "harness/measure/boot.h"

/* Boots that counted, in order. side is interned in the series. */
struct series_point {
	int64_t boot;
	const char *side, *purpose;
	const struct cell *cell;
	const struct metric *metric;
	double value;
};
struct series {
	VEC(struct series_point) points;
	VEC(char *) strings_;
};

/* Reads what the session has in the store: a resumed session starts from here. */
int series_load(struct lab *lab, struct series *ret, struct err *err);
void series_add(struct series *s, const char *side, const char *purpose,
		const struct boot_result *result);
void series_release(struct series *s);
/* Values of one side (NULL: any), cell and metric whose purpose is the given one; owned, *ret_n of
 * them. */
double *series_values(const struct series *s, const char *side, const char *purpose,
		      const struct cell *cell, const struct metric *metric, size_t *ret_n);
/* How many boots of this side and purpose gave a value of anything. */
size_t series_boots(const struct series *s, const char *side, const char *purpose);
