// SPDX-License-Identifier: GPL-2.0-or-later
// What the filling of a report shares between its files. Not for printers.
#pragma once

#include "reports/report.h"

/* A session's rows, read once. */
struct filling {
	struct store *store;
	struct report *report;
	struct boot_row *boots;
	struct boot_runs *counts; /* one for each boot */
	size_t n_boots;
	struct step_row *steps;
	size_t n_steps;
	int *side; /* of each boot, -1 for none */
};

/* The commit's row; a hash nobody stored more of comes back alone. sha NULL gives an empty row. */
int fill_commit(struct filling *f, const char *sha, struct commit_row *ret, struct err *err);
struct report_side *
fill_add_side(struct report *r); /* zeroed, "" for texts; name and rev are the caller's */
int fill_values(struct filling *f, const char *cell, const char *metric, size_t n_sides,
		struct value_table *ret, struct err *err); /* by f->side */
void fill_count_sides(struct filling *f); /* boots and runs of each side, after the values */
int fill_environment(struct filling *f, struct err *err); /* fill_environment.c; by f->side */
void fill_compare_rows(struct report *r);
/* Boots that measure how noisy or healthy the machine is belong to no table. */
bool fill_is_auxiliary(const struct boot_row *boot);

int fill_bisect(struct filling *f, struct err *err); /* fill_bisect.c */
