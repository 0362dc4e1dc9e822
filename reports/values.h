// SPDX-License-Identifier: GPL-2.0-or-later
// Boot values: what every table of a report is computed from.
#pragma once

#include "db/store.h"

/* The values of one metric in one cell on one side, in boot order. */
struct value_series {
	double *at;
	size_t n; /* boots, or runs where runs are the unit */
	size_t boots, runs;
};

struct value_table {
	char **cells; /* sorted as people count: size=64 before size=1024 */
	size_t n_cells, n_metrics, n_sides;
	struct value_series *series;
};

struct value_request {
	int64_t session;
	const struct boot_row *boots;
	const int *side; /* of each boot, from 0; -1 leaves it out */
	size_t n_boots, n_sides;
	const struct metric_row *metrics;
	size_t n_metrics;
	const char *cell, *metric; /* only these, or NULL */
	bool by_run;		   /* every run is a value, not the centre of a boot's runs */
};

/* Metrics that the session does not describe are left out: nobody knows what better means there. */
int value_table_fill(struct store *store, const struct value_request *request,
		     struct value_table *ret, struct err *err);
const struct value_series *value_table_at(const struct value_table *t, size_t cell, size_t metric,
					  size_t side);
void value_table_release(struct value_table *t);
