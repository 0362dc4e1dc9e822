// SPDX-License-Identifier: GPL-2.0-or-later
// What `culprit aa` learned of a machine's noise, as a session knew it when it began.
#pragma once

#include "harness/measure/lab.h"

/* Of one cell and metric, percent of its level; NaN where not known. */
struct learned {
	double runs_pct, boots_pct, builds_pct;
	double spread_pct; /* between boot values, of other builds where these are known */
};

/*
 * Puts key "aa" into the options of a session that begins: for each cell and metric what the newest
 * finished `aa` of the same job and machine that measured it knows. A resumed session reads its own
 * options again, so that it judges as it began.
 */
int learned_add(struct lab *lab, struct json *options, struct err *err);
struct learned learned_noise(const struct lab *lab, const struct cell *cell,
			     const struct metric *metric);
/* The smallest change worth telling: the job's, else the larger of 1% and the spread. */
double learned_min_effect_pct(const struct lab *lab, const struct cell *cell,
			      const struct metric *metric);
/* "noise here by 'culprit aa': runs 0.4%, boots 1.2%"; NULL where nothing is known. */
char *learned_sentence(const struct learned *l);
