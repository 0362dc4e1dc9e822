// SPDX-License-Identifier: GPL-2.0-or-later
// Three levels of repetition: runs inside boots inside builds of the same source.

/*
 * value = level + build effect + boot effect + run noise, by the method of moments: each level's
 * variance is what is left of the one between its means when that of the level below is taken off.
 * Builds are added one after the other:
 *
 *	struct nested n = {0};
 *	nested_add(&n, values, runs, boots);		// for each build
 *	sd = sqrt(nested_var_boot(&n));
 *
 * Every answer is NaN where nothing is repeated on its level.
 */
#pragma once

#include <stddef.h>

#include "harness/stats/summary.h"

struct nested {
	size_t values, boots;
	struct welford builds;	  /* their means of boot means */
	double within_, between_; /* sums of squares of runs in boots, of boot means in builds */
	double inverse_runs_;	  /* sum of 1 / runs over the boots */
	double inverse_boots_;	  /* sum of 1 / boots over the builds */
};

/* values: the runs of all boots of one build, one boot after the other, runs[i] of boot i. */
void nested_add(struct nested *n, const double *values, const size_t *runs, size_t boots);

double nested_var_run(const struct nested *n);
double nested_var_boot_means(const struct nested *n); /* as they are, run noise included */
/* Without the level below; at least a quarter of what is between the means, as in levels.h. */
double nested_var_boot(const struct nested *n);
double nested_var_build(const struct nested *n);
