// SPDX-License-Identifier: GPL-2.0-or-later
// Welch, Brunner-Munzel and the ratio of spreads: values from R, edges, error rates.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/spread.h"
#include "harness/stats/twosample.h"

static const double x[] = { 12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6 };
static const double y[] = { 14.2, 11.9, 13.3, 15.1, 12.8, 10.9, 16.4, 13.7, 30, 2, 18 };

static void welch(void)
{
	static const double same[] = { 3, 3, 3 }, other[] = { 4, 4 }, bad[] = { 1, NAN, 2 };
	struct mean_test w = welch_test(x, 8, y, 8, 0.99);

	is_double(w.t, 2.75681078613188113, 1e-12, "t.test(y[1:8], x, conf.level = .99): t");
	is_double(w.df, 13.99114683735082387, 1e-12, "df");
	is_double(w.p, 0.01544433981734871, 1e-11, "p");
	is_double(w.p_greater, 0.00772216990867435, 1e-11, "alternative = \"greater\"");
	is_double(w.interval.low, -0.19480160892202411, 1e-10, "low");
	is_double(w.interval.high, 5.06980160892202392, 1e-11, "high");
	w = welch_test(same, 3, same, 3, 0.99);
	ok(w.p == 1 && w.difference == 0, "equal constants: p = 1");
	w = welch_test(same, 3, other, 2, 0.99);
	ok(w.p == 0 && isinf(w.t) && w.p_greater == 0 && w.interval.low == 1, "unequal: p = 0");
	ok(welch_test(other, 2, same, 3, 0.99).p_greater == 1, "and 1 on the other side");
	ok(isnan(welch_test(x, 1, y, 8, 0.99).p), "one value has no variance");
	ok(isnan(welch_test(x, 8, bad, 3, 0.99).p), "NaN");
}

static void applies(void)
{
	static const double spike[] = { 10, 11, 12, 13, 50 }, same[] = { 5, 5, 5, 5, 6 };
	static const double within[] = { 10, 11, 12, 13, 14, 18 }, beyond[] = { 10, 11, 12, 13, 14, 19 };

	ok(welch_applies(x, 8, y, 8), "tame values");
	ok(welch_applies(x, 8, within, 6), "3.7 MAD from the median");
	ok(!welch_applies(x, 8, beyond, 6), "4.3 MAD from it");
	ok(!welch_applies(x, 8, spike, 5), "far out");
	ok(!welch_applies(same, 5, x, 8), "one that differs from an else constant side");
	ok(welch_applies(same, 4, x, 8), "a constant side is tame");
	ok(!welch_applies(x, 1, y, 8), "one value is no sample");
}

/*
 * The pain scores of Brunner and Munzel (2000). R, with r <- rank(c(a, b)) and i, j the places
 * of a and b in it: m <- means of r[i], r[j]; s2 <- sum((r[i] - rank(a) - m + (n + 1) / 2)^2) /
 * (n - 1) for each side; t, df and p by Welch's rule on n1 * s2_a, n2 * s2_b.
 */
static void brunner_munzel(void)
{
	static const double a[] = { 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 1, 1, 2, 3, 1, 2, 1 };
	static const double b[] = { 3, 3, 4, 3, 1, 2, 3, 1, 1, 5, 4, 2, 3, 1, 4, 2, 2 };
	static const double low[15] = { 0 };
	double high[15];
	struct brunner_munzel bm = brunner_munzel_test(a, 19, b, 17);

	is_double(bm.effect, 0.76780185758513941, 1e-13, "effect");
	is_double(bm.t, 3.45738873683697490, 1e-12, "statistic");
	is_double(bm.df, 30.91541502366531446, 1e-12, "df");
	is_double(bm.p, 0.00160991914326803, 1e-10, "p");
	ok(isnan(brunner_munzel_test(a, 14, b, 17).p), "refused under 15 values");
	for (int i = 0; i < 15; i++)
		high[i] = i + 1;
	bm = brunner_munzel_test(low, 15, high, 15);
	ok(bm.p == 0 && bm.effect == 1, "complete separation");
	bm = brunner_munzel_test(low, 15, low, 15);
	ok(bm.p == 1 && bm.effect == 0.5, "ties only");
	high[3] = NAN;
	ok(isnan(brunner_munzel_test(low, 15, high, 15).p), "NaN");
}

/*
 * Bonett 2006, in R, with m(v) = mean(v, trim = 1 / (2 * sqrt(length(v) - 4))), z = qnorm(.975):
 *   g <- (n1+n2) * (sum((a-m(a))^4) + sum((b-m(b))^4)) / ((n1-1)*var(a) + (n2-1)*var(b))^2
 *   se <- sqrt((g - (n1-3)/n1) / (n1-1) + (g - (n2-3)/n2) / (n2-1))
 *   sqrt(exp(log(n2/(n2-z) / (n1/(n1-z)) * var(b)/var(a)) + c(-1, 1) * z * se))
 */
static void spread(void)
{
	static const double same[] = { 5, 5, 5, 5, 5 };
	struct spread s = spread_compare(x, 8, y, 11, 0.95);

	is_double(s.ratio, 3.693700155590616, 1e-12, "sd(y) / sd(x)");
	is_double(s.interval.low, 0.967911286266562, 1e-11, "low");
	is_double(s.interval.high, 12.949702377366572, 1e-11, "high");
	ok(isnan(spread_compare(x, 4, y, 11, 0.95).ratio), "refused under five values");
	ok(isnan(spread_compare(same, 5, y, 11, 0.95).ratio), "no ratio to a constant");
	is_double(spread_compare(x, 8, same, 5, 0.95).ratio, 0, 0, "a constant against noise is 0");
}

/* Both tests where one side is four times as noisy, and the ratio with 2% of outliers. */
static void error_rates(void)
{
	int welch_alarms = 0, bm_alarms = 0, spread_alarms = 0, trials = 2000;
	double bound = (0.05 + 4 * sqrt(0.05 * 0.95 / trials)) * trials;
	struct rng r;

	rng_seed(&r, 51);
	for (int t = 0; t < trials; t++) {
		double a[20], b[20], c[20], d[20];
		struct spread s;

		for (int i = 0; i < 20; i++) {
			a[i] = rng_normal(&r);
			b[i] = 4 * rng_normal(&r);
			c[i] = rng_normal(&r) + (rng_uniform(&r) < 0.02 ? 5 + 5 * rng_exp(&r) : 0);
			d[i] = rng_normal(&r) + (rng_uniform(&r) < 0.02 ? 5 + 5 * rng_exp(&r) : 0);
		}
		welch_alarms += welch_test(a, 20, b, 20, 0.95).p < 0.05;
		bm_alarms += brunner_munzel_test(a, 20, b, 20).p < 0.05;
		s = spread_compare(c, 20, d, 20, 0.95);
		spread_alarms += interval_excludes(&s.interval, 1);
	}
	ok(welch_alarms <= bound, "Welch: %d alarms in %d", welch_alarms, trials);
	ok(bm_alarms <= bound * 1.2, "Brunner-Munzel, approximate: %d", bm_alarms);
	ok(spread_alarms <= bound, "spread with outliers: %d", spread_alarms);
}

int main(void)
{
	welch();
	applies();
	brunner_munzel();
	spread();
	error_rates();
	return plan_done();
}
