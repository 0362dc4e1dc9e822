// SPDX-License-Identifier: GPL-2.0-or-later
// Two levels of repetition: runs inside boots (Kalibera and Jones 2013).

/*
 * value = level of the kernel + boot effect + run noise. Runs of one boot share its effect,
 * so only boots count as independent; how many runs a boot is worth follows from the two
 * variances and what a boot and a run cost.
 */
#pragma once

#include <stddef.h>

struct levels {
	size_t boots;
	size_t values;
	double mean;		/* of the boot means */
	double var_run;		/* within boots, pooled; NaN where no boot has two runs */
	double var_boot_means;	/* between the boot means, as they are */
	double var_boot;	/* without the run noise in them; at least a quarter of that */
	double inverse_runs;	/* mean of 1 / runs of a boot */
};

/* values: the runs of all boots one after the other; runs[i]: how many belong to boot i. */
struct levels levels_estimate(const double *values, const size_t *runs, size_t boots);

/*
 * The number of runs per boot that makes the mean most precise for its cost, within
 * min..max. Where a variance is unknown: min. Costs in any common unit.
 */
size_t levels_runs_per_boot(const struct levels *l, double cost_boot, double cost_run,
			    size_t min, size_t max);

/* The standard deviation of one boot value that averages `runs` runs. */
double levels_boot_sigma(const struct levels *l, size_t runs);
