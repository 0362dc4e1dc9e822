// SPDX-License-Identifier: GPL-2.0-or-later
// Summaries and the levels of repetition: values from R, edges, and simulated boots.
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/levels.h"
#include "harness/stats/nested.h"
#include "harness/stats/summary.h"

static const double x[] = { 12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6 };
static const size_t n_x = ARRAY_SIZE(x);

static void values(void)
{
	struct summary s = summary_of(x, n_x);

	is_int((long)s.n, 8, "n");
	is_double(s.mean, 11.1, 1e-14, "mean(x)");
	is_double(s.sd, 1.79045086101638, 1e-13, "sd(x)");
	is_double(s.median, 11.05, 1e-14, "median(x)");
	is_double(s.mad, 1.15, 1e-13, "mad(x, constant = 1)");
	is_double(s.min, 8.2, 0, "min(x)");
	is_double(s.max, 13.9, 0, "max(x)");
	is_double(values_quantile(x, n_x, 0.1), 9.32, 1e-13, "quantile(x, .1)");
	is_double(values_quantile(x, n_x, 0.9), 12.99, 1e-13, "quantile(x, .9)");
	is_double(values_quantile(x, n_x, 1), 13.9, 0, "quantile(x, 1)");
	is_double(values_hmean(x, n_x), 10.83817966760427, 1e-13, "1 / mean(1 / x)");
	is_double(values_gmean(x, n_x), 10.97052927832900, 1e-13, "exp(mean(log(x)))");
	is_double(values_resolution(x, n_x), 0.3, 1e-12, "min(diff(sort(x)))");
	is_double(x[0], 12.1, 0, "the input is left in its order");
}

static void edges(void)
{
	static const double with_nan[] = { 1, NAN, 3 }, infinite[] = { 1, 2, INFINITY };
	static const double same[] = { 4, 4, 4 }, huge[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };
	static const double mixed[] = { -2, 0, 5 };
	struct summary none = summary_of(NULL, 0), one = summary_of(x, 1);
	struct summary bad = summary_of(with_nan, 3), inf = summary_of(infinite, 3);

	ok(none.n == 0 && isnan(none.mean) && isnan(none.median) && isnan(none.sd) &&
	   isnan(none.mad) && isnan(none.min) && isnan(none.max), "no values: NaN, not 0");
	ok(one.mean == 12.1 && one.median == 12.1 && isnan(one.sd) && one.mad == 0,
	   "one value has no standard deviation");
	ok(bad.n == 3 && isnan(bad.mean) && isnan(bad.median) && isnan(bad.max), "NaN spreads");
	ok(isinf(inf.mean) && inf.median == 2 && isnan(inf.sd) && isinf(inf.max), "an infinity");
	is_double(summary_of(same, 3).sd, 0, 0, "all equal: sd 0");
	is_double(values_resolution(same, 3), 0, 0, "all equal: no gap");
	is_double(values_sd(huge, 4), sqrt(30), 1e-12, "a large offset costs no digits");
	ok(isnan(values_hmean(mixed, 3)) && isnan(values_gmean(mixed, 3)),
	   "no harmonic or geometric mean of zero and negative values");
	ok(values_logs(mixed, 3) == NULL, "nor logarithms");
	ok(isnan(values_quantile(x, n_x, 1.1)) && isnan(values_quantile(NULL, 0, 0.5)),
	   "quantiles that do not exist");
	ok(isnan(welford_mean(&(struct welford){ 0 })), "an empty stream has no mean");
}

static void pooled(void)
{
	static const double five[] = { 5, 5, 5 }, six[] = { 6, 6 };
	static const double rounded[] = { 5, 5, 5, 5, 5, 6 };
	double a[200], b[200];
	struct rng r;

	rng_seed(&r, 11);
	for (int i = 0; i < 200; i++) {
		a[i] = 100 + 2 * rng_normal(&r) + (i % 50 == 0 ? 500 : 0);
		b[i] = 300 + 2 * rng_normal(&r);
	}
	is_double(values_pooled_sigma(a, 200, b, 200), 2, 0.15, "outliers and a step leave sigma");
	is_double(values_pooled_sigma(five, 3, six, 2), 0, 0, "two constants have none");
	is_double(values_pooled_sigma(rounded, 6, five, 3), 1 / sqrt(12), 1e-12,
		  "a rounded metric has at least that of rounding");
	ok(isnan(values_pooled_sigma(five, 1, NULL, 0)), "one value tells nothing");
}

static void levels_values(void)
{
	static const double v[] = { 1, 3, 5, 7, 6, 8, 10, 12 };
	static const size_t runs[] = { 2, 2, 2, 2 }, uneven[] = { 3, 0, 1, 4 };
	static const size_t single[] = { 1, 1, 1, 1 };
	struct levels l = levels_estimate(v, runs, 4);

	is_double(l.mean, 6.5, 1e-14, "mean of the boot means 2, 6, 7, 11");
	is_double(l.var_run, 2, 1e-14, "anova: residual mean square 2");
	is_double(l.var_boot_means, 41 / 3.0, 1e-13, "var(c(2, 6, 7, 11))");
	is_double(l.var_boot, 41 / 3.0 - 1, 1e-13, "less the run noise in them");
	is_double(levels_boot_sigma(&l, 4), sqrt(41 / 3.0 - 0.5), 1e-13, "a boot of four runs");
	l = levels_estimate(v, uneven, 4);
	is_int((long)l.boots, 3, "a boot without runs does not count");
	is_double(l.var_run, (8 + 20) / 5.0, 1e-13, "pooled by degrees of freedom");
	l = levels_estimate(v, single, 4);
	ok(isnan(l.var_run) && isnan(l.var_boot), "one run a boot cannot tell the two apart");
	is_int((long)levels_runs_per_boot(&l, 10, 1, 1, 30), 1, "then the minimum");
	l = levels_estimate(v, runs, 0);
	ok(l.boots == 0 && isnan(l.mean) && isnan(l.var_boot), "no boots");
}

/*
 * R 4.2: m <- anova(lm(y ~ b/k))[["Mean Sq"]] with y all values in order, b <- gl(3, 12) and
 * k <- gl(12, 3); the variances are m[3], (m[2] - m[3]) / 3 and (m[1] - m[2]) / 12.
 */
static void three_levels(void)
{
	static const double y[3][12] = {
		{ 101.2, 100.4, 100.9, 103.1, 103.8, 102.7, 99.5, 99.1, 100.3, 101.8, 102.2, 101.1 },
		{ 105.9, 106.4, 105.2, 104.1, 104.9, 103.6, 107.0, 106.1, 106.8, 105.5, 104.8, 105.7 },
		{ 98.7, 99.9, 99.2, 100.8, 100.1, 101.0, 97.6, 98.4, 98.1, 99.0, 99.3, 98.2 },
	};
	static const size_t runs[] = { 3, 3, 3, 3 }, single[] = { 1, 1, 1, 1 };
	struct nested n = { 0 }, flat = { 0 }, none = { 0 };

	nested_add(&n, y[0], runs, 4);
	ok(isnan(nested_var_build(&n)), "one build says nothing of builds");
	is_double(nested_var_boot(&n), levels_estimate(y[0], runs, 4).var_boot, 1e-13,
		  "its boots are those of two levels");
	nested_add(&n, y[1], runs, 4);
	nested_add(&n, y[2], runs, 0);
	is_int((int64_t)n.builds.n, 2, "a build without boots does not count");
	nested_add(&n, y[2], runs, 4);
	is_double(nested_var_run(&n), 0.289166666666661, 1e-12, "runs in boots");
	is_double(nested_var_boot_means(&n), 1.491790123456798, 1e-12, "boot means in builds");
	is_double(nested_var_boot(&n), 1.395401234567911, 1e-12, "boots");
	is_double(nested_var_build(&n), 9.911936728395069, 1e-12, "builds");
	nested_add(&flat, y[0], single, 4);
	ok(isnan(nested_var_run(&flat)) && isnan(nested_var_boot(&flat)),
	   "one run a boot cannot tell runs from boots");
	is_double(nested_var_boot_means(&flat), 1.39333333333332, 1e-12,
		  "var(y[1:4]): what is between the boots is still known");
	ok(isnan(nested_var_run(&none)) && isnan(nested_var_boot(&none)) &&
	   isnan(nested_var_boot_means(&none)) && isnan(nested_var_build(&none)), "nothing added");
}

/* Right on average: two builds of ten boots of three runs, sd 3 between builds, 2 and 1 below. */
static void simulated_levels(void)
{
	static const size_t runs[] = { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 };
	enum { TRIALS = 4000 };
	double sum[3] = { 0 }, v[30];
	struct rng r;

	rng_seed(&r, 5);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct nested n = { 0 };

		for (int build = 0; build < 2; build++) {
			double of_build = 3 * rng_normal(&r), of_boot = 0;

			for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
				of_boot = i % 3 ? of_boot : 2 * rng_normal(&r);
				v[i] = 100 + of_build + of_boot + rng_normal(&r);
			}
			nested_add(&n, v, runs, 10);
		}
		sum[0] += nested_var_run(&n);
		sum[1] += nested_var_boot(&n);
		sum[2] += nested_var_build(&n);
	}
	is_double(sum[0] / TRIALS, 1, 0.02, "runs");
	is_double(sum[1] / TRIALS, 4, 0.03, "boots");
	is_double(sum[2] / TRIALS, 9, 0.06, "builds");
}

static void runs_per_boot(void)
{
	struct levels l = { .var_run = 4, .var_boot = 1 };

	is_int((long)levels_runs_per_boot(&l, 9, 1, 1, 30), 6, "sqrt(9 / 1 * 4 / 1)");
	is_int((long)levels_runs_per_boot(&l, 9, 1, 1, 4), 4, "no more than the maximum");
	is_int((long)levels_runs_per_boot(&l, 9, 1, 8, 30), 8, "no fewer than the minimum");
	is_int((long)levels_runs_per_boot(&l, 9, 1, 1, 1), 1, "min 1, max 1 is one");
	is_int((long)levels_runs_per_boot(&l, 0, 1, 0, 30), 1, "at least one");
	is_int((long)levels_runs_per_boot(&l, 9, 0, 1, 30), 30, "free runs: as many as allowed");
	l.var_boot = 0;
	is_int((long)levels_runs_per_boot(&l, 9, 1, 1, 30), 30, "equal boots: all runs in one");
	l = (struct levels){ .var_run = 0, .var_boot = 0 };
	is_int((long)levels_runs_per_boot(&l, 9, 1, 2, 30), 2, "no noise at all: the minimum");
}

/* A 4 x 3 pilot where both variances are 1: right on average, and never zero. */
static void pilots(void)
{
	static const size_t runs[] = { 3, 3, 3, 3 };
	double sum_run = 0, sum_boot = 0, v[12];
	bool zero = false;
	struct rng r;

	rng_seed(&r, 12);
	for (int t = 0; t < 4000; t++) {
		struct levels l;

		for (int boot = 0, i = 0; boot < 4; boot++) {
			double effect = rng_normal(&r);

			for (int run = 0; run < 3; run++)
				v[i++] = effect + rng_normal(&r);
		}
		l = levels_estimate(v, runs, 4);
		sum_run += l.var_run;
		sum_boot += l.var_boot;
		zero |= !(l.var_boot > 0);
	}
	is_double(sum_run / 4000, 1, 0.05, "run variance is unbiased");
	is_double(sum_boot / 4000, 1.05, 0.1, "boot variance nearly so");
	ok(!zero, "and never 0");
}

int main(void)
{
	values();
	edges();
	pooled();
	levels_values();
	three_levels();
	simulated_levels();
	runs_per_boot();
	pilots();
	return plan_done();
}
