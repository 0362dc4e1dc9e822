// SPDX-License-Identifier: GPL-2.0-or-later
// Families of tests, Fisher's test, the sequential test and planning.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/fisher.h"
#include "harness/stats/multiple.h"
#include "harness/stats/power.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/sequential.h"

static void are(const double *got, const double *want, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		is_double(got[i], want[i], 1e-12, "%s, %zu", what, i);
}

static void families(void)
{
	static const double p[] = { .01, .04, .03, .005, .5, .9, .0001 };
	static const double holm[] = { .05, .12, .12, .03, 1, 1, .0007 };
	static const double bh[] = { .07 / 3, .056, .0525, .0175, 3.5 / 6, .9, .0007 };
	double ret[7], holed[] = { .01, NAN, .02 };

	holm_adjust(p, 7, ret);
	are(ret, holm, 7, "p.adjust(p, \"holm\")");
	bh_adjust(p, 7, ret);
	are(ret, bh, 7, "p.adjust(p, \"BH\")");
	holm_adjust(holed, 3, ret);
	ok(ret[0] == .02 && isnan(ret[1]) && ret[2] == .02, "a missing p is not counted");
	bh_adjust(holed, 3, holed);
	ok(holed[0] == .02 && isnan(holed[1]) && holed[2] == .02, "in place");
	ret[0] = 7;
	holm_adjust(p, 0, ret);
	bh_adjust(p, 0, ret);
	is_double(ret[0], 7, 0, "an empty family");
}

static void fisher(void)
{
	is_double(fisher_test(1, 10, 7, 11).p, 0.0237358101135191, 1e-11,
		  "fisher.test(matrix(c(1, 9, 7, 4), 2))");
	is_double(fisher_test(1, 10, 7, 11).p_greater, 0.0170278637770898, 1e-11,
		  "fisher.test(matrix(c(7, 4, 1, 9), 2), alternative = \"greater\")");
	is_double(fisher_test(0, 20, 5, 20).p, 0.0471240471240471, 1e-11,
		  "fisher.test(matrix(c(0, 20, 5, 15), 2))");
	is_double(fisher_test(2, 5, 3, 5).p, 1, 1e-12, "equally probable tables all count");
	is_double(fisher_test(0, 8, 0, 8).p, 1, 1e-12, "no failure at all");
	is_double(fisher_test(8, 8, 8, 8).p, 1, 1e-12, "nothing but failures");
	is_double(fisher_test(0, 0, 3, 8).p, 1, 1e-12, "a side that never ran");
	ok(isnan(fisher_test(3, 2, 0, 5).p), "more failures than runs");
}

static void sequential_values(void)
{
	static const double d[] = { 2.1, 2.1, 1.9, 4.4, -1.1, 2.7, 6.3, 1.1 };
	struct sequential s = { 0 }, empty = { 0 }, small = { 0 }, zeros = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		sequential_add(&s, d[i]);
	/* R: r <- 1 + n; r^-.5 * (1 - sum(d)^2 / (r * sum(d^2)))^(-n / 2) */
	is_double(exp(sequential_log_e(&s)), 6.299486102591052, 1e-12, "E of eight differences");
	is_double(sequential_p(&s), 1 / 6.299486102591052, 1e-12, "p = 1 / E");
	sequential_add(&s, NAN);
	sequential_add(&s, INFINITY);
	is_int((long)s.n, 8, "a pair without a number is none");
	is_double(sequential_p(&empty), 1, 0, "no pairs: p = 1");
	for (int i = 0; i < 9; i++)
		sequential_add(&zeros, 0);
	is_double(sequential_p(&zeros), 1, 0, "no difference at all: p = 1");
	for (int i = 0; i < 6; i++)
		sequential_add(&small, 1);
	is_double(exp(sequential_log_e(&small)), pow(7, 2.5), 1e-12, "six equal ones: E = 7^2.5");
	is_double(sequential_p(&small), 1 / 32.0, 1e-12, "but six signs prove no more than 1/32");
	ok(!sequential_decided(&small, 0.01, 1) && sequential_decided(&small, 0.05, 1),
	   "which decides at 5%%, not at 1%%");
	ok(!sequential_decided(&small, 0.05, 2), "nor at 5%% for two tests");
}

/* Looked at after each of 60 pairs. A p < 0.05 of a t test, for comparison, gives 24% by 30. */
static void sequential_rate(void)
{
	int alarms = 0, found = 0, trials = 3000;
	double pairs = 0;
	struct rng r;

	rng_seed(&r, 61);
	for (int t = 0; t < trials; t++) {
		struct sequential null = { 0 }, step = { 0 };
		bool alarm = false;

		for (int i = 0; i < 60; i++) {
			sequential_add(&null, rng_normal(&r) - rng_normal(&r));
			alarm |= sequential_decided(&null, 0.05, 1);
		}
		alarms += alarm;
		while (step.n < 60 && !sequential_decided(&step, 0.05, 1))
			sequential_add(&step, rng_normal(&r) - rng_normal(&r) + 2);
		found += sequential_decided(&step, 0.05, 1);
		pairs += (double)step.n;
	}
	ok(alarms <= (0.05 + 4 * sqrt(0.05 * 0.95 / trials)) * trials,
	   "false alarms in %.4f whatever the stop", (double)alarms / trials);
	ok(found > 0.99 * trials, "a step of two sigma is found in %.3f", (double)found / trials);
	ok(pairs / trials < 15, "after %.1f pairs", pairs / trials);
}

static void planning(void)
{
	/* R: (qt(1-e/2, 2*n-2) + qt(pw, 2*n-2)) * sqrt(2 / ((n-1) * 3/pi)) */
	is_double(power_detectable(1, 5, 0.01, 0.9), 3.4386997929986, 1e-12, "5 boots at 1%%");
	is_double(power_detectable(2, 10, 0.01, 0.9), 4.0606875907534, 1e-12, "10, sigma 2");
	is_double(power_detectable(1, 20, 0.05, 0.8), 0.9547232427809, 1e-12, "20 at 5%%, power .8");
	ok(isinf(power_detectable(1, 4, 0.01, 0.9)), "4 boots can see nothing at 1%%");
	ok(isinf(power_detectable(1, 0, 0.5, 0.9)) && isinf(power_detectable(1, 1, 0.5, 0.9)),
	   "nor can none or one at any error");
	ok(isnan(power_detectable(NAN, 5, 0.01, 0.9)), "unknown noise");
	is_int((long)power_boots(1, 1, 0.01, 0.9), 34, "the first n of that formula under 1");
	is_int((long)power_boots(-1, 1, 0.01, 0.9), 34, "a decrease is as large");
	is_int((long)power_boots(100, 1, 0.01, 0.9), 5, "never under what the test needs");
	is_int((long)power_boots(1, 0, 0.01, 0.9), 5, "not even without noise");
	is_int((long)power_boots(0, 1, 0.01, 0.9), 0, "no change: never");
	is_int((long)power_boots(1, 1e9, 0.01, 0.9), 0, "hopeless noise: never");
	is_int((long)power_boots(NAN, 1, 0.01, 0.9), 0, "NaN: never");
}

static void planned_power(void)
{
	static const size_t boots[] = { 5, 8, 20 };
	int trials = 1500;
	struct rng r;

	rng_seed(&r, 62);
	for (size_t k = 0; k < ARRAY_SIZE(boots); k++) {
		size_t n = boots[k];
		double step = power_detectable(1, n, 0.01, 0.9), a[20], b[20];
		int found = 0;

		for (int t = 0; t < trials; t++) {
			for (size_t i = 0; i < n; i++) {
				a[i] = rng_normal(&r);
				b[i] = rng_normal(&r) + step;
			}
			found += rank_test(a, n, b, n).p <= 0.01;
		}
		ok(fabs((double)found / trials - 0.9) < 0.06, "%zu boots see %.2f sigma in %.3f", n,
		   step, (double)found / trials);
	}
}

int main(void)
{
	families();
	fisher();
	sequential_values();
	sequential_rate();
	planning();
	planned_power();
	return plan_done();
}
