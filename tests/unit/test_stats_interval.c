// SPDX-License-Identifier: GPL-2.0-or-later
// Intervals and the stopping rule: values from R, edges, coverage by simulation.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/interval.h"
#include "harness/stats/summary.h"

static const double x[] = { 12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6 };
static const double mean_x = 11.1, sd_x = 1.79045086101638;

static void is_interval(struct interval i, double low, double high, double level, const char *what)
{
	is_double(i.low, low, 1e-12, "%s: low", what);
	is_double(i.high, high, 1e-12, "%s: high", what);
	is_double(i.level, level, 1e-12, "%s: level", what);
}

static void values(void)
{
	double twenty[20];

	for (int i = 0; i < 20; i++)
		twenty[i] = 20 - i;
	is_interval(interval_t(8, mean_x, sd_x, 0.99), 8.88475717898658, 13.31524282101342, 0.99,
		    "t.test(x, conf.level = .99)$conf.int");
	/*
	 * R: r <- 1 + n; K <- (sqrt(r) / a)^(2 / n)
	 *    mean + c(-1, 1) * s / sqrt(n) * sqrt((n - 1) * (K - 1) / (1 - K / r))
	 */
	is_interval(interval_always_valid(8, mean_x, sd_x, 0.95), 8.40909952016169,
		    13.79090047983831, 0.95, "always valid, n = 8, a = .05");
	is_interval(interval_always_valid(30, 100, 2, 0.99), 98.53994236071411, 101.46005763928589,
		    0.99, "always valid, n = 30, a = .01");
	is_interval(interval_median(twenty, 20, 0.99), 4, 17, 0.99,
		    "k = qbinom(.005, 20, .5) = 4th from either end");
	is_interval(interval_median(twenty, 20, 0.95), 6, 15, 0.95, "qbinom(.025, 20, .5) = 6");
	is_interval(interval_median(x, 8, 0.95), 8.2, 13.9, 0.95, "qbinom(.025, 8, .5) = 1");
	is_interval(interval_median(x, 5, 0.95), 9.8, 13.9, 0.9375,
		    "five values give 1 - 2 * .5^5 at most");
}

static void edges(void)
{
	struct interval i = interval_always_valid(3, 5, 1, 0.99);

	ok(isinf(i.low) && isinf(i.high) && i.low < 0, "always valid: infinite while n is small");
	ok(isinf(interval_always_valid(1, 5, NAN, 0.95).high), "and at one value");
	ok(isnan(interval_always_valid(0, NAN, NAN, 0.95).low), "undefined at none");
	ok(isnan(interval_t(1, 5, NAN, 0.95).low), "t needs two values");
	ok(isnan(interval_t(5, NAN, 1, 0.95).low) && interval_t(5, NAN, 1, 0.95).level == 0,
	   "NaN gives no interval and no level");
	ok(isnan(interval_t(5, 1, 1, 1).low), "nor does a level of 1");
	ok(isnan(interval_median(NULL, 0, 0.95).low), "median of nothing");
	i = interval_median(x, 1, 0.95);
	ok(i.low == 12.1 && i.high == 12.1 && i.level == 0, "one value promises nothing");
	i = (struct interval){ 1, 3, 0.95 };
	is_double(interval_width_pct(&i, -2), 100, 0, "width in percent of a negative centre");
	ok(isinf(interval_width_pct(&i, 0)), "of 0: infinite");
	ok(interval_excludes(&i, 0) && interval_excludes(&i, 4) && !interval_excludes(&i, 1),
	   "what lies outside");
	ok(interval_within(&i, 1, 3) && !interval_within(&i, 1.5, 4), "what it lies within");
	ok(interval_reached(&i, 0.95) && !interval_reached(&i, 0.99), "what it may claim");
	i = (struct interval){ NAN, NAN, 0 };
	ok(!interval_excludes(&i, 0) && !interval_within(&i, -9, 9), "NaN claims nothing");
}

static void stopping(void)
{
	struct stats_goal goal = { .level = 0.99, .width_pct = 5 };
	double sd = 2.5 * sqrt(10) / 3.24983554401538; /* qt(.995, 9): exactly 5% at n = 10 */

	ok(stats_converged(10, 100, sd * 0.999, &goal), "just narrow enough: the FULL width is 5%%");
	ok(!stats_converged(10, 100, sd * 1.001, &goal), "just too wide");
	ok(stats_converged(10, -100, sd * 0.999, &goal), "a negative mean counts by its size");
	ok(!stats_converged(10, -100, sd * 1.001, &goal), "and is not always converged");
	ok(!stats_converged(10, NAN, 0, &goal), "a NaN mean is never sure");
	ok(!stats_converged(10, 100, NAN, &goal), "nor a NaN spread");
	ok(!stats_converged(10, INFINITY, NAN, &goal), "nor an infinite mean");
	ok(!stats_converged(1, 100, NAN, &goal), "nor one value");
	ok(!stats_converged(0, NAN, NAN, &goal), "nor none");
	ok(stats_converged(2, 100, 0, &goal), "equal values are");
	ok(stats_converged(5, 0, 0, &goal), "constant zero too");
	ok(!stats_converged(10, 0.01, 1, &goal), "a mean near 0 cannot reach its percent");
	goal.floor = 3;
	ok(stats_converged(10, 0.01, 1, &goal), "but an absolute floor");
	ok(!stats_converged(10, 0.01, 2, &goal), "if it is that good");
}

/* Binomial bounds of four standard errors: one failure in 30,000 runs of a right program. */
static void is_rate(int seen, int trials, double at_most, const char *what)
{
	double bound = at_most + 4 * sqrt(at_most * (1 - at_most) / trials);

	ok(seen <= bound * trials, "%s: %.4f <= %.4f", what, (double)seen / trials, bound);
}

static double skewed(struct rng *r)
{
	return rng_exp(r) - M_LN2;	/* median 0 */
}

static void coverage(void)
{
	int t_missed = 0, median_missed = 0, trials = 3000;
	struct rng r;

	rng_seed(&r, 21);
	for (int t = 0; t < trials; t++) {
		double v[12], s[12];
		struct interval i;

		for (int j = 0; j < 12; j++) {
			v[j] = rng_normal(&r);
			s[j] = skewed(&r);
		}
		i = interval_t(12, values_mean(v, 12), values_sd(v, 12), 0.95);
		t_missed += interval_excludes(&i, 0);
		i = interval_median(s, 12, 0.95);
		median_missed += interval_excludes(&i, 0);
	}
	is_rate(t_missed, trials, 0.05, "t misses a normal mean");
	ok(t_missed > 0.035 * trials, "but is no wider than it must be");
	is_rate(median_missed, trials, 0.05, "order statistics miss a skewed median");
}

/* Looked at after every value up to 200, and stopped at the first miss. */
static void optional_stopping(void)
{
	int always_missed = 0, t_missed = 0, trials = 2000;
	struct rng r;

	rng_seed(&r, 22);
	for (int t = 0; t < trials; t++) {
		struct welford w = { 0 };
		bool always = false, student = false;

		for (int j = 0; j < 200 && !(always && student); j++) {
			struct interval i;

			welford_add(&w, rng_normal(&r));
			i = interval_always_valid(w.n, w.mean, welford_sd(&w), 0.95);
			always |= interval_excludes(&i, 0);
			i = interval_t(w.n, w.mean, welford_sd(&w), 0.95);
			student |= interval_excludes(&i, 0);
		}
		always_missed += always;
		t_missed += student;
	}
	is_rate(always_missed, trials, 0.05, "always valid misses at any of 200 looks");
	ok(t_missed > 0.2 * trials, "where t misses in %.2f", (double)t_missed / trials);
}

int main(void)
{
	values();
	edges();
	stopping();
	coverage();
	optional_stopping();
	return plan_done();
}
