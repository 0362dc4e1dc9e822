// SPDX-License-Identifier: GPL-2.0-or-later
// The Hodges-Lehmann shift and equivalence: values from R, edges, coverage by simulation.
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/equivalence.h"
#include "harness/stats/shift.h"
#include "harness/stats/summary.h"

static const double x[] = { 12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6 };
static const double y[] = { 14.2, 11.9, 13.3, 15.1, 12.8, 10.9, 16.4, 13.7 };

static void is_shift(struct shift s, double estimate, double low, double high, double level,
		     const char *what)
{
	is_double(s.estimate, estimate, 1e-12, "%s: estimate", what);
	is_double(s.interval.low, low, 1e-12, "%s: low", what);
	is_double(s.interval.high, high, 1e-12, "%s: high", what);
	is_double(s.interval.level, level, 1e-12, "%s: level", what);
}

static void values(void)
{
	static const double a[] = { 5, 5, 6, 7, 5, 6, 8, 5 }, b[] = { 7, 7, 8, 6, 9, 8, 7, 10 };

	is_shift(shift_of(x, 8, y, 8, 0.95), 2.5, 0.5, 4.4, 0.95,
		 "wilcox.test(y, x, exact = T, conf.int = T)");
	is_shift(shift_of(x, 8, y, 8, 0.99), 2.5, -0.5, 5.3, 0.99, "conf.level = .99");
	is_shift(shift_of(y, 8, x, 8, 0.99), -2.5, -5.3, 0.5, 0.99, "sides changed");
	is_shift(shift_percent(x, 8, y, 8, 0.95), 20.8003800886981, 4.3859649122807,
		 43.8596491228070, 0.95, "wilcox.test(log(y), log(x)), 100 * expm1");
	/* D <- sort(outer(b, a, "-")); median(D); D[14]; D[65 - 14], 14 = qwilcox(.025, 8, 8) */
	is_shift(shift_of(a, 8, b, 8, 0.95), 2, 1, 3, 0.95, "ties");
}

static void small_samples(void)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 5, 7, 9 };

	is_shift(shift_of(a, 3, b, 3, 0.99), 5, 2, 8, 0.9, "3 x 3 gives 90% at most");
	is_shift(shift_of(a, 3, b, 3, 0.9), 5, 2, 8, 0.9, "which is what it then promises");
	is_shift(shift_of(a, 1, b, 1, 0.99), 4, 4, 4, 0, "one pair promises nothing");
}

static void edges(void)
{
	static const double zero[] = { 0, 1, 2 }, negative[] = { -3, -2, -1 }, bad[] = { 1, NAN };
	static const double inf[] = { 1, INFINITY }, same[] = { 5, 5, 5, 5, 5 };
	static const double six[] = { 6, 6, 6, 6, 6 };

	is_double(shift_of(zero, 3, negative, 3, 0.9).estimate, -3, 1e-13, "negative values shift");
	ok(isnan(shift_percent(x, 8, zero, 3, 0.9).estimate), "no percentage with a zero");
	ok(isnan(shift_percent(negative, 3, x, 8, 0.9).interval.low), "nor with negative values");
	ok(isnan(shift_of(x, 8, bad, 2, 0.9).estimate), "NaN");
	ok(isnan(shift_of(inf, 2, x, 8, 0.9).estimate), "an infinity");
	ok(isnan(shift_of(x, 8, NULL, 0, 0.9).estimate), "an empty side");
	ok(isnan(shift_of(x, 8, y, 8, 1.5).interval.low), "a level that is none");
	is_shift(shift_of(same, 5, six, 5, 0.99), 1, 1, 1, 0.99, "two constants");
	is_shift(shift_of(same, 5, same, 5, 0.99), 0, 0, 0, 0.99, "ties only");
}

static int compare_doubles(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

static void order_statistics(void)
{
	double a[7], b[9], all[63];
	size_t wrong = 0;
	struct rng r;

	rng_seed(&r, 41);
	for (int t = 0; t < 50; t++) {
		for (int i = 0; i < 7; i++)
			a[i] = t % 2 ? rng_normal(&r) : (double)rng_below(&r, 4);
		for (int i = 0; i < 9; i++)
			b[i] = t % 2 ? 1e6 * rng_normal(&r) : (double)rng_below(&r, 4);
		values_sort(a, 7);
		values_sort(b, 9);
		for (size_t i = 0; i < 63; i++)
			all[i] = b[i % 9] - a[i / 9];
		qsort(all, 63, sizeof(*all), compare_doubles);
		for (size_t k = 1; k <= 63; k++)
			wrong += shift_kth_difference(a, 7, b, 9, k) != all[k - 1];
	}
	is_int((long)wrong, 0, "every k-th difference equals that of the sorted list, bit for bit");
	ok(isnan(shift_kth_difference(a, 7, b, 9, 0)) && isnan(shift_kth_difference(a, 7, b, 9, 64)),
	   "there is no 0th and no 64th");
}

static void equivalent(void)
{
	/* wilcox.test(y, x, conf.int = T, conf.level = .9)$conf.int is 0.7 .. 4.1 */
	ok(equivalence_shown(x, 8, y, 8, 4.11, 0.05), "within a margin that holds the interval");
	ok(!equivalence_shown(x, 8, y, 8, 4.09, 0.05), "not within a smaller one");
	/* on logarithms, 100 * expm1: 5.785 .. 40.594 */
	ok(equivalence_shown_percent(x, 8, y, 8, 40.6, 0.05), "in percent");
	ok(!equivalence_shown_percent(x, 8, y, 8, 40.5, 0.05), "and not");
	ok(!equivalence_shown(x, 2, x, 2, 100, 0.05), "two boots a side show nothing");
	ok(!equivalence_shown(x, 8, y, 0, 100, 0.05), "nor does an empty side");
	/* R: 2 * (2 * qnorm(.95))^2 * (sigma / margin)^2 = 86.577 and 21.644 */
	is_int((long)equivalence_boots(1, 2, 0.05, 0.9), 87, "boots for margin = sigma / 2");
	is_int((long)equivalence_boots(1, 1, 0.05, 0.9), 22, "and for margin = sigma");
	is_int((long)equivalence_boots(0, 1, 0.05, 0.9), 0, "no margin: no number of boots");
	is_int((long)equivalence_boots(1, NAN, 0.05, 0.9), 0, "unknown noise: none either");
	is_int((long)equivalence_boots(1, 0, 0.05, 0.9), 2, "no noise: the fewest");
}

static void coverage(void)
{
	int missed = 0, missed_rounded = 0, shown = 0, shown_wrong = 0, trials = 3000;
	struct rng r;

	rng_seed(&r, 42);
	for (int t = 0; t < trials; t++) {
		double a[9], b[8], c[8], d[8];
		struct shift s;

		for (int i = 0; i < 9; i++)
			a[i] = rng_normal(&r);
		for (int i = 0; i < 8; i++) {
			b[i] = rng_normal(&r) + 2;
			c[i] = round(1.5 * rng_normal(&r));
			d[i] = round(1.5 * rng_normal(&r)) + 1;
		}
		s = shift_of(a, 9, b, 8, 0.95);
		missed += interval_excludes(&s.interval, 2);
		s = shift_of(c, 8, d, 8, 0.95);
		missed_rounded += interval_excludes(&s.interval, 1);
		shown += equivalence_shown(a, 8, b, 8, 4, 0.05);
		shown_wrong += equivalence_shown(a, 8, b, 8, 2, 0.05);
	}
	ok(missed <= (0.05 + 4 * 0.004) * trials && missed >= 0.025 * trials,
	   "the interval misses %.4f of continuous shifts", (double)missed / trials);
	ok(missed_rounded <= (0.05 + 4 * 0.004) * trials, "and %.4f of rounded ones",
	   (double)missed_rounded / trials);
	ok(shown_wrong <= (0.05 + 4 * 0.004) * trials,
	   "a change as large as the margin passes for none in %.4f", (double)shown_wrong / trials);
	ok(shown > 0.8 * trials, "one of half of it is recognised in %.2f", (double)shown / trials);
}

int main(void)
{
	values();
	small_samples();
	edges();
	order_statistics();
	equivalent();
	coverage();
	return plan_done();
}
