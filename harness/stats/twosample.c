// SPDX-License-Identifier: GPL-2.0-or-later
// Welch's t test and the Brunner-Munzel test.
#include "harness/stats/twosample.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"
#include "harness/stats/summary.h"

static struct mean_test without_noise(double difference, double level)
{
	bool equal = difference == 0;

	return (struct mean_test){
		.difference = difference,
		.t = equal ? 0 : copysign(INFINITY, difference),
		.df = NAN,
		.p = equal,
		.p_greater = equal ? 0.5 : difference < 0,
		.interval = { difference, difference, level },
	};
}

struct mean_test welch_test(const double *a, size_t n_a, const double *b, size_t n_b, double level)
{
	struct mean_test w = { NAN, NAN, NAN, NAN, NAN, { NAN, NAN, 0 } };
	double part_a, part_b, error, half;

	if (n_a < 2 || n_b < 2 || !values_finite(a, n_a) || !values_finite(b, n_b))
		return w;
	part_a = pow(values_sd(a, n_a), 2) / (double)n_a;
	part_b = pow(values_sd(b, n_b), 2) / (double)n_b;
	w.difference = values_mean(b, n_b) - values_mean(a, n_a);
	error = sqrt(part_a + part_b);
	if (error == 0)
		return without_noise(w.difference, level);
	w.t = w.difference / error;
	w.df = pow(part_a + part_b, 2) / (part_a * part_a / (double)(n_a - 1) +
					  part_b * part_b / (double)(n_b - 1));
	w.p_greater = dist_t_sf(w.t, w.df);
	w.p = 2 * dist_t_sf(fabs(w.t), w.df);
	half = dist_t_quantile((1 + level) / 2, w.df) * error;
	w.interval = (struct interval){ w.difference - half, w.difference + half, level };
	return w;
}

static bool tame(const double *v, size_t n)
{
	double median = values_median(v, n), limit = 4 * values_mad(v, n);

	for (size_t i = 0; i < n; i++)
		if (!(fabs(v[i] - median) <= limit))
			return false;
	return true;
}

bool welch_applies(const double *a, size_t n_a, const double *b, size_t n_b)
{
	return n_a > 1 && n_b > 1 && tame(a, n_a) && tame(b, n_b);
}

/* How many of the sorted values lie below x, equal ones as half. */
static double count_below(const double *sorted, size_t n, double x)
{
	size_t twice = 0;

	for (size_t i = 0; i < n && sorted[i] <= x; i++)
		twice += sorted[i] < x ? 2 : 1;
	return (double)twice / 2;
}

struct placement {
	double mean, variance;
};

/* Of each of the n values: its place among the `other` ones. */
static struct placement placements(const double *v, size_t n, const double *other, size_t n_other)
{
	autofree double *sorted = values_sorted(other, n_other);
	struct welford w = { 0 };

	for (size_t i = 0; i < n; i++)
		welford_add(&w, count_below(sorted, n_other, v[i]));
	return (struct placement){ w.mean, pow(welford_sd(&w), 2) };
}

struct brunner_munzel brunner_munzel_test(const double *a, size_t n_a, const double *b, size_t n_b)
{
	struct brunner_munzel bm = { NAN, NAN, NAN, NAN };
	double count_a = (double)n_a, count_b = (double)n_b, part_a, part_b;
	struct placement in_b, in_a;

	if (n_a < BRUNNER_MUNZEL_MIN || n_b < BRUNNER_MUNZEL_MIN || !values_finite(a, n_a) ||
	    !values_finite(b, n_b))
		return bm;
	in_b = placements(a, n_a, b, n_b);
	in_a = placements(b, n_b, a, n_a);
	bm.effect = in_a.mean / count_a;
	/* Placements over their number of values are fractions; these are their variances. */
	part_a = in_b.variance / (count_b * count_b * count_a);
	part_b = in_a.variance / (count_a * count_a * count_b);
	if (part_a + part_b == 0) {
		bm.t = bm.effect == 0.5 ? 0 : copysign(INFINITY, bm.effect - 0.5);
		bm.p = bm.effect == 0.5;
		return bm;
	}
	bm.t = (bm.effect - 0.5) / sqrt(part_a + part_b);
	bm.df = pow(part_a + part_b, 2) /
		(part_a * part_a / (count_a - 1) + part_b * part_b / (count_b - 1));
	bm.p = 2 * dist_t_sf(fabs(bm.t), bm.df);
	return bm;
}
