// SPDX-License-Identifier: GPL-2.0-or-later
// The exact rank test against R, against counting every arrangement, and by its error rate.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/ranktest.h"

static const double x[] = { 12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6 };
static const double y[] = { 14.2, 11.9, 13.3, 15.1, 12.8, 10.9, 16.4, 13.7 };

static void values(void)
{
	struct rank_test t = rank_test(x, 8, y, 8);

	is_double(t.u, 54, 0, "wilcox.test(y, x, exact = T)$statistic");
	is_double(t.p, 0.0206682206682207, 1e-12, "its p");
	is_double(t.p_greater, 0.0103341103341103, 1e-12, "alternative = \"greater\"");
	is_double(t.p_less, 0.9926184926184927, 1e-12, "alternative = \"less\"");
	ok(t.exact, "exact");
	t = rank_test(y, 8, x, 8);
	is_double(t.p_less, 0.0103341103341103, 1e-12, "the other way round");
}

/*
 * R, with v <- c(a, b) and k <- length(b):
 *   s <- combn(length(v), k, function(i) sum(rank(v)[i])); o <- sum(rank(v)[length(a) + 1:k])
 *   mean(s <= o); mean(s >= o)
 */
static void tied_values(void)
{
	static const double a1[] = { 3, 5, 5, 6, 7, 7 }, b1[] = { 5, 7, 8, 8, 9, 9, 10 };
	static const double a2[] = { 1, 1, 1, 2, 2, 9 }, b2[] = { 1, 2, 2, 2 };
	static const double a3[] = { 1, 1, 2 }, b3[] = { 1, 1, 1, 3, 3, 4, 4 };
	struct rank_test t = rank_test(a1, 6, b1, 7);

	is_double(t.p_less, 0.99533799533799538, 1e-12, "ties: p_less");
	is_double(t.p_greater, 0.00990675990675991, 1e-12, "ties: p_greater");
	t = rank_test(a2, 6, b2, 4);
	is_double(t.p_less, 0.738095238095238, 1e-12, "heavy ties: p_less");
	is_double(t.p_greater, 0.452380952380952, 1e-12, "heavy ties: p_greater");
	t = rank_test(a3, 3, b3, 7);
	is_double(t.p_less, 0.916666666666667, 1e-12, "uneven sides: p_less");
	is_double(t.p_greater, 0.166666666666667, 1e-12, "uneven sides: p_greater");
}

static double pairs_above(const double *all, size_t n, unsigned in_b)
{
	double u = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			if ((in_b >> i & 1) && !(in_b >> j & 1))
				u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
	return u;
}

static void count_all(const double *all, size_t n_a, size_t n_b, double *ret_less,
		      double *ret_greater)
{
	unsigned observed = ((1u << n_b) - 1) << n_a;
	double seen = pairs_above(all, n_a + n_b, observed), less = 0, greater = 0, total = 0;

	for (unsigned s = 0; s < 1u << (n_a + n_b); s++) {
		double u;

		if (__builtin_popcount(s) != (int)n_b)
			continue;
		u = pairs_above(all, n_a + n_b, s);
		total++;
		less += u <= seen;
		greater += u >= seen;
	}
	*ret_less = less / total;
	*ret_greater = greater / total;
}

static void every_arrangement(void)
{
	size_t wrong = 0, tables = 0;
	struct rng r;

	rng_seed(&r, 31);
	for (size_t n_a = 1; n_a <= 5; n_a++)
		for (size_t n_b = 1; n_b <= 5; n_b++)
			for (int kinds = 1; kinds <= 9; kinds += 2) {
				double all[10], less, greater;
				struct rank_test t;

				for (size_t i = 0; i < n_a + n_b; i++)
					all[i] = (double)rng_below(&r, (uint64_t)kinds);
				t = rank_test(all, n_a, all + n_a, n_b);
				count_all(all, n_a, n_b, &less, &greater);
				wrong += !(fabs(t.p_less - less) < 1e-12 &&
					   fabs(t.p_greater - greater) < 1e-12);
				tables++;
			}
	is_int((long)wrong, 0, "%zu small tables equal the count of all arrangements", tables);
}

/* One pair of equal values that are at the top of a large table must hardly matter. */
static void large_tables(void)
{
	double a[60], b[60], p_free, p_tied;
	struct rng r;

	rng_seed(&r, 32);
	for (int i = 0; i < 60; i++) {
		a[i] = rng_normal(&r);
		b[i] = rng_normal(&r) + 0.6;
	}
	a[0] = 99;
	b[0] = 100;
	p_free = rank_test(a, 60, b, 60).p;
	b[0] = 99;
	p_tied = rank_test(a, 60, b, 60).p;
	is_double(p_tied, p_free, 0.02, "tied and untied counting agree at 60 x 60: %g", p_free);
	for (int i = 0; i < 60; i++) {
		a[i] = i / 2;
		b[i] = 1000 + i / 2;
	}
	is_double(rank_test(a, 60, b, 60).p, 2 * rank_test_min_p(60, 60), 1e-9,
		  "complete separation with ties reaches the smallest p");
}

static void distribution(void)
{
	RANK_NULL_CLEANUP struct rank_null null;

	rank_null_init(&null, 20, 20);
	is_double(null.at_most[100], 0.003072477824617884, 1e-12, "pwilcox(100, 20, 20)");
	is_int((long)rank_null_critical(&null, 0.05), 139, "qwilcox(.05, 20, 20)");
	rank_null_release(&null);
	rank_null_init(&null, 40, 5);
	is_double(null.at_most[20], 0.000920803529992413, 1e-12, "pwilcox(20, 5, 40)");
	rank_null_release(&null);
	rank_null_init(&null, 60, 60);
	is_double(null.at_most[1500], 0.058101751049599110, 1e-11, "pwilcox(1500, 60, 60)");
	rank_null_release(&null);
	rank_null_init(&null, 3, 3);
	is_int((long)rank_null_critical(&null, 0.04), 0, "3 x 3 has no 92%% interval");
	is_int((long)rank_null_critical(&null, 0.05), 1, "but a 90%% one");
	rank_null_release(&null);
	rank_null_init(&null, 0, 4);
	is_int((long)rank_null_critical(&null, 0.05), 0, "no values, no interval");
}

static void approximation(void)
{
	double a[150], b[120];
	struct rank_test t;

	for (int i = 0; i < 150; i++)
		a[i] = 2 * (i + 1);
	for (int i = 0; i < 120; i++)
		b[i] = 2 * (i + 1) + 31;
	t = rank_test(a, 150, b, 120);
	ok(!t.exact, "18,000 pairs are approximated, and say so");
	is_double(t.p, 0.925647301974664, 1e-12, "wilcox.test(1:120*2+31, 1:150*2, exact = F)");
	is_double(t.p_greater, 0.462823650987332, 1e-12, "the same, alternative = \"greater\"");
	for (int i = 0; i < 150; i++)
		a[i] = (i + 1) % 7;
	for (int i = 0; i < 120; i++)
		b[i] = (i + 1) % 8;
	t = rank_test(a, 150, b, 120);
	is_double(t.p, 0.0642515837861546, 1e-12, "wilcox.test((1:120)%%%%8, (1:150)%%%%7, exact = F)");
	for (int i = 0; i < 150; i++)
		a[i] = b[i % 120] = 7;
	is_double(rank_test(a, 150, b, 120).p, 1, 0, "all equal: p is 1");
}

static void edges(void)
{
	static const double same[] = { 4, 4, 4, 4, 4, 4 }, bad[] = { 1, NAN };
	static const double low[] = { -INFINITY, -INFINITY, 1, 2, 3 };
	static const double high[] = { 4, 5, 6, INFINITY, INFINITY };

	ok(isnan(rank_test(x, 8, y, 0).p) && isnan(rank_test(NULL, 0, NULL, 0).u), "an empty side");
	ok(isnan(rank_test(x, 8, bad, 2).p), "NaN");
	is_double(rank_test(x, 1, y, 1).p, 1, 0, "one against one proves nothing");
	is_double(rank_test(same, 6, same, 6).p, 1, 0, "ties only");
	is_double(rank_test(low, 5, high, 5).p, 2 / 252.0, 1e-12, "infinities rank");
}

static void fewest_boots(void)
{
	is_double(rank_test_min_p(4, 4), 1 / 70.0, 1e-13, "n = 4: 0.0143");
	is_double(rank_test_min_p(8, 8), 1 / 12870.0, 1e-13, "n = 8: 0.00008");
	is_int((long)rank_test_boots(0.01, 1), 5, "1%%: five boots serve one test");
	is_int((long)rank_test_boots(0.01, 2), 6, "but not two");
	is_int((long)rank_test_boots(0.01, 4), 6, "six serve four");
	is_int((long)rank_test_boots(0.01, 5), 7, "but not five");
	is_int((long)rank_test_boots(0.01, 17), 7, "seven serve seventeen");
	is_int((long)rank_test_boots(0.01, 18), 8, "but not eighteen");
	is_int((long)rank_test_boots(0.01, 64), 8, "eight serve sixty-four");
	is_int((long)rank_test_boots(0.01, 65), 9, "but not sixty-five");
	is_int((long)rank_test_boots(0.05, 300), 8, "5%% over 300 metrics takes eight");
	is_int((long)rank_test_boots(0, 1), 0, "certainty cannot be had");
}

/* Under no difference p <= alpha happens in at most alpha of cases, with ties or without. */
static void false_alarms(void)
{
	static const double alphas[] = { 0.01, 0.05, 0.2 };
	int trials = 4000;
	struct rng r;

	rng_seed(&r, 33);
	for (int rounded = 0; rounded < 2; rounded++) {
		int alarms[3] = { 0 };

		for (int t = 0; t < trials; t++) {
			double a[8], b[8], p;

			for (int i = 0; i < 8; i++) {
				a[i] = rounded ? round(1.5 * rng_normal(&r)) : rng_normal(&r);
				b[i] = rounded ? round(1.5 * rng_normal(&r)) : rng_normal(&r);
			}
			p = rank_test(a, 8, b, 8).p;
			for (int i = 0; i < 3; i++)
				alarms[i] += p <= alphas[i];
		}
		for (int i = 0; i < 3; i++) {
			double seen = (double)alarms[i] / trials;
			double error = sqrt(alphas[i] * (1 - alphas[i]) / trials);

			ok(seen <= alphas[i] + 4 * error && seen >= 0.6 * alphas[i] - 4 * error,
			   "%s: %.4f alarms at %g", rounded ? "rounded" : "continuous", seen,
			   alphas[i]);
		}
	}
}

int main(void)
{
	values();
	tied_values();
	every_arrangement();
	large_tables();
	distribution();
	approximation();
	edges();
	fewest_boots();
	false_alarms();
	return plan_done();
}
