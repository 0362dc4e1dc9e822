// SPDX-License-Identifier: GPL-2.0-or-later
// Variances of runs, boots and builds, pooled over what was added.
#include "harness/stats/nested.h"

#include <math.h>

#include "harness/stats/levels.h"

void nested_add(struct nested *n, const double *values, const size_t *runs, size_t boots)
{
	struct levels l = levels_estimate(values, runs, boots);

	if (!l.boots)
		return;
	n->values += l.values;
	n->boots += l.boots;
	welford_add(&n->builds, l.mean);
	if (l.values > l.boots)
		n->within_ += l.var_run * (double)(l.values - l.boots);
	if (l.boots > 1)
		n->between_ += l.var_boot_means * (double)(l.boots - 1);
	n->inverse_runs_ += l.inverse_runs * (double)l.boots;
	n->inverse_boots_ += 1 / (double)l.boots;
}

static double variance(double squares, size_t n, size_t means)
{
	return n > means ? squares / (double)(n - means) : NAN;
}

/* fmax would take the other number where one is not known */
static double without(double between, double below)
{
	return isnan(below) ? NAN : fmax(between / 4, between - below);
}

double nested_var_run(const struct nested *n)
{
	return variance(n->within_, n->values, n->boots);
}

double nested_var_boot_means(const struct nested *n)
{
	return variance(n->between_, n->boots, n->builds.n);
}

double nested_var_boot(const struct nested *n)
{
	return without(nested_var_boot_means(n),
		       nested_var_run(n) * n->inverse_runs_ / (double)n->boots);
}

double nested_var_build(const struct nested *n)
{
	double sd = welford_sd(&n->builds);

	return without(sd * sd, nested_var_boot_means(n) * n->inverse_boots_ / (double)n->builds.n);
}
