// SPDX-License-Identifier: GPL-2.0-or-later
// Variance between boots and between the runs of a boot.
#include "harness/stats/levels.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/summary.h"

struct levels levels_estimate(const double *values, const size_t *runs, size_t boots)
{
	struct levels l = { .var_run = NAN, .var_boot = NAN };
	struct welford means = { 0 };
	double within = 0, inverse_runs = 0;

	for (size_t i = 0; i < boots; i++) {
		struct welford boot = { 0 };

		for (size_t j = 0; j < runs[i]; j++)
			welford_add(&boot, values[l.values++]);
		if (!boot.n)
			continue;
		welford_add(&means, boot.mean);
		within += boot.m2;
		inverse_runs += 1 / (double)boot.n;
	}
	l.boots = means.n;
	l.inverse_runs = l.boots ? inverse_runs / (double)l.boots : NAN;
	l.mean = welford_mean(&means);
	l.var_boot_means = welford_sd(&means) * welford_sd(&means);
	if (l.values == l.boots)
		return l;
	l.var_run = within / (double)(l.values - l.boots);
	/* A small pilot often estimates 0 where both variances are equal: hence the quarter. */
	l.var_boot = fmax(l.var_boot_means / 4,
			  l.var_boot_means - l.var_run * l.inverse_runs);
	return l;
}

/* The variance of the mean is proportional to this, for a given total cost. */
static double price(const struct levels *l, double cost_boot, double cost_run, double runs)
{
	return (l->var_boot + l->var_run / runs) * (cost_boot + cost_run * runs);
}

size_t levels_runs_per_boot(const struct levels *l, double cost_boot, double cost_run,
			    size_t min, size_t max)
{
	double best;

	min = MAX(min, (size_t)1);
	max = MAX(min, max);
	if (l->var_run == 0)
		return min;
	best = sqrt(cost_boot / cost_run * l->var_run / l->var_boot);
	if (isnan(best) || best <= (double)min)
		return min;
	if (best >= (double)max)
		return max;
	return (size_t)best + (price(l, cost_boot, cost_run, ceil(best)) <
			       price(l, cost_boot, cost_run, floor(best)));
}

double levels_boot_sigma(const struct levels *l, size_t runs)
{
	return runs ? sqrt(l->var_boot + l->var_run / (double)runs) : NAN;
}
