// SPDX-License-Identifier: GPL-2.0-or-later
// The judgement of rows and tables: numbers from R, each verdict, bad input, error rates.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/compare.h"

static const double x[] = {12.1, 9.8, 11.4, 10.7, 13.9, 8.2, 10.1, 12.6};
static const double y[] = {14.2, 11.9, 13.3, 15.1, 12.8, 10.9, 16.4, 13.7};

static const struct compare_options kpi = {
	.higher_is_better = true,
	.kpi = true,
	.min_effect_pct = 1,
	.error = 0.01,
};

/* One row, alone in its table. */
static struct comparison judged(const double *a, size_t n_a, const double *b, size_t n_b,
				struct compare_options options)
{
	struct comparison c, *row = &c;

	compare_values(a, n_a, b, n_b, &options, &c);
	compare_family(&row, 1);
	return c;
}

static void is_verdict(const struct comparison *c, enum verdict want, const char *what)
{
	is_str(verdict_name(c->verdict), verdict_name(want), "%s", what);
}

static void numbers(void)
{
	struct comparison c = judged(x, 8, y, 8, kpi);

	is_double(c.p, 0.0206682206682207, 1e-12, "wilcox.test(y, x)$p.value");
	is_double(c.p_adjusted, c.p, 0, "alone in its family");
	is_double(c.percent.estimate, 20.8003800886981, 1e-12,
		  "wilcox.test(log(y), log(x), conf.int = T, conf.level = .99), expm1: estimate");
	is_double(c.percent.interval.low, -4.31654676259, 1e-10, "low");
	is_double(c.percent.interval.high, 56.09756097561, 1e-11, "high");
	is_double(c.difference.estimate, 2.5, 1e-12, "the same in units");
	is_double(c.level, 0.99, 0, "level");
	is_double(c.centre_pct, 22.17194570135745, 1e-12, "100 * (median(y) / median(x) - 1)");
	is_double(c.welch_p, 0.01686965893641, 1e-10, "t.test(log(y), log(x))$p.value");
	/* R: r <- c(log(x) - median(log(x)), log(y) - median(log(y))); 1.4826 * median(abs(r)) */
	is_double(c.sigma, 16.2999218981, 1e-10, "sigma: * 16 / (16 - 1.2) * 100");
	is_double(c.a.median, 11.05, 1e-12, "the sides are kept");
	is_verdict(&c, VERDICT_INCONCLUSIVE, "p of 2% at an error of 1%");
	ok(c.needs_boots > 8 && c.needs_boots < 40, "it would take %zu boots", c.needs_boots);
}

/* n values around centre, a tenth of a percent apart. */
static void around(double *v, size_t n, double centre)
{
	for (size_t i = 0; i < n; i++)
		v[i] = centre * (1 + ((double)(i * 5 % n) - (double)n / 2) / 1000);
}

static void verdicts(void)
{
	struct compare_options lower = kpi;
	struct comparison c;
	double a[12], b[12];

	lower.higher_is_better = false;
	around(a, 12, 100);
	around(b, 12, 90);
	c = judged(a, 8, b, 8, kpi);
	is_verdict(&c, VERDICT_REGRESSION, "a throughput that fell by 10%");
	is_double(c.percent.estimate, -10, 1e-3, "percent is the raw change");
	is_int((long)c.needs_boots, 0, "a verdict needs no more boots");
	c = judged(a, 8, b, 8, lower);
	is_verdict(&c, VERDICT_IMPROVEMENT, "a latency that fell by 10%");
	c = judged(b, 8, a, 8, lower);
	is_verdict(&c, VERDICT_REGRESSION, "and one that rose");
	c = judged(a, 12, a, 12, kpi);
	is_verdict(&c, VERDICT_NO_REGRESSION, "the same values within 1%");
	around(b, 12, 99.5);
	c = judged(a, 12, b, 12, kpi);
	ok(c.p_adjusted < 0.9 && fabs(c.percent.estimate) < 1, "half a percent less");
	is_verdict(&c, VERDICT_NO_REGRESSION, "is none where 1% matters");
	around(b, 12, 97);
	c = judged(a, 12, b, 12, (struct compare_options){true, true, 5, 0, 0.01, 0});
	ok(c.p_adjusted < 0.01, "a certain change of 3%%");
	is_verdict(&c, VERDICT_NO_REGRESSION, "is none where 5% matters");
	c = judged(a, 12, b, 12, (struct compare_options){true, true, 3.1, 0, 0.01, 0});
	is_verdict(&c, VERDICT_INCONCLUSIVE, "but close to the margin neither is shown");
	ok(c.needs_boots > 12, "and it takes more boots: %zu", c.needs_boots);
	c = judged(a, 4, b, 4, kpi);
	is_verdict(&c, VERDICT_TOO_FEW_BOOTS, "four boots a side at 1%");
	is_int((long)c.needs_boots, 5, "it takes five");
	is_double(c.level, 1 - 2 / 70.0, 1e-12, "the interval says what it can");
	c = judged(a, 3, a, 3, kpi);
	is_verdict(&c, VERDICT_TOO_FEW_BOOTS, "equal values on three boots: never no change");
}

static void bimodal(void)
{
	static const double two[] = {100,   101.3, 99.2, 100.7, 150.1, 151.4,
				     149.5, 150.8, 98.9, 100.4, 150.3, 99.6};
	double b[12];
	struct comparison c;

	around(b, 12, 50);
	c = judged(two, 12, b, 12, kpi);
	is_verdict(&c, VERDICT_BIMODAL, "two modes on one side");
	ok(c.modes_a.two && !c.modes_b.two && fabs(c.modes_a.high.centre - 150.4) < 1,
	   "and they are shown");
	c = judged(b, 12, two, 12, kpi);
	is_verdict(&c, VERDICT_BIMODAL, "or on the other");
}

static void bad_input(void)
{
	static const double zero[6] = {0}, five[] = {5, 5, 5, 5, 5, 5};
	static const double six[] = {6, 6, 6, 6, 6, 6};
	static const double minus[] = {-10, -11, -10.5, -9.5, -10.2, -9.9};
	static const double below[] = {-20, -21, -20.5, -19.5, -20.2, -19.9};
	static const double plus[] = {10, 11, 10.5, 9.5, 10.2, 9.9};
	static const double holes[] = {10, NAN, 11, 10.5, INFINITY, 9.5, 10.2, 9.9};
	static const double nothing[] = {NAN, NAN};
	struct compare_options units = kpi;
	struct comparison c;

	c = judged(zero, 6, zero, 6, kpi);
	is_verdict(&c, VERDICT_NO_REGRESSION, "always zero on both sides");
	ok(isnan(c.percent.estimate) && isnan(c.centre_pct) && c.difference.estimate == 0,
	   "which has no percentage");
	c = judged(zero, 6, five, 6, kpi);
	is_verdict(&c, VERDICT_IMPROVEMENT, "from zero to five: a difference without percent");
	ok(isnan(c.centre_pct) && c.difference.estimate == 5, "in units");
	units.min_effect_units = 7;
	c = judged(zero, 6, five, 6, units);
	is_verdict(&c, VERDICT_NO_REGRESSION, "unless seven units are the least that matters");
	c = judged(five, 6, six, 6, kpi);
	is_verdict(&c, VERDICT_IMPROVEMENT, "two constants that differ");
	c = judged(minus, 6, below, 6, kpi);
	is_verdict(&c, VERDICT_REGRESSION, "negative values that fell");
	is_double(c.centre_pct, -100 * (20.1 - 10.1) / 10.1, 1e-9, "by their size");
	c = judged(minus, 6, plus, 6, kpi);
	is_verdict(&c, VERDICT_IMPROVEMENT, "a change of sign");
	c = judged(holes, 8, plus, 6, kpi);
	ok(c.missing_a == 2 && c.a.n == 6, "NaN and infinity are missing, and counted as such");
	is_double(c.p, 1, 0, "the rest is compared");
	c = judged(nothing, 2, plus, 6, kpi);
	is_verdict(&c, VERDICT_TOO_FEW_BOOTS, "no value at all on a side");
	ok(isnan(c.p) && isnan(c.p_adjusted) && isnan(c.percent.estimate) && c.a.n == 0 &&
		   isnan(c.a.median) && c.needs_boots == 5,
	   "is missing, never 0");
	c = judged(NULL, 0, NULL, 0, kpi);
	is_verdict(&c, VERDICT_TOO_FEW_BOOTS, "no values on either");
}

/* A metric of two values: the test is sure of a change, its size may still be none. */
static void coarse_metric(void)
{
	double a[20], b[20];
	struct comparison c;

	for (int i = 0; i < 20; i++) {
		a[i] = i < 16 ? 5 : 6;
		b[i] = i < 16 ? 6 : 5;
	}
	c = judged(a, 20, b, 20, kpi);
	ok(c.p_adjusted < 0.001, "16 of 20 against 4 of 20: p = %g", c.p_adjusted);
	ok(c.percent.interval.low == 0 && fabs(c.percent.estimate - 20) < 1e-9,
	   "a median change of 20%% whose interval begins at 0");
	is_verdict(&c, VERDICT_INCONCLUSIVE, "is no verdict");
}

/* Complete separation at n = 6 gives p = 0.00216: enough for four KPIs, not for five. */
static void holm_table(void)
{
	struct comparison rows[5], *all[5];
	double a[6], b[6];

	around(a, 6, 100);
	for (int i = 0; i < 5; i++) {
		around(b, 6, i ? 100 : 80);
		compare_values(a, 6, b, 6, &kpi, &rows[i]);
		all[i] = &rows[i];
	}
	compare_family(all, 4);
	is_double(rows[0].p_adjusted, 8 / 924.0, 1e-12, "Holm over four");
	is_verdict(&rows[0], VERDICT_REGRESSION, "six boots serve four KPIs");
	is_verdict(&rows[1], VERDICT_NO_REGRESSION, "the others did not change");
	compare_family(all, 5);
	is_verdict(&rows[0], VERDICT_TOO_FEW_BOOTS, "but not five");
	is_int((long)rows[0].needs_boots, 7, "which take seven");
	is_verdict(&rows[4], VERDICT_TOO_FEW_BOOTS, "no row of them is called unchanged");
	rows[4].p = NAN;
	compare_family(all, 5);
	is_verdict(&rows[0], VERDICT_REGRESSION, "a row without p is not counted as a test");
}

/* KPIs and the rest are families of their own; among the rest many changes carry each other. */
static void mixed_table(void)
{
	static struct comparison rows[21];
	struct comparison *all[21];
	struct compare_options rest = kpi;
	double a[6], b[6];

	rest.kpi = false;
	around(a, 6, 100);
	for (int i = 0; i < 21; i++) {
		around(b, 6, i < 11 ? 80 : 100);
		compare_values(a, 6, b, 6, i ? &rest : &kpi, &rows[i]);
		all[i] = &rows[i];
	}
	compare_family(all, 21);
	is_double(rows[0].p_adjusted, 2 / 924.0, 1e-12,
		  "one KPI among twenty metrics stands alone");
	is_double(rows[1].p_adjusted, 4 / 924.0, 1e-12, "Benjamini-Hochberg: 10 of 20 changed");
	is_verdict(&rows[1], VERDICT_REGRESSION, "so that six boots are enough for them");
	is_verdict(&rows[20], VERDICT_TOO_FEW_BOOTS, "though not for one that would stand alone");
}

/* Tables of 3 KPIs and 20 other metrics without any change, then with one. */
static void rates(void)
{
	int false_kpi = 0, false_rest = 0, found = 0, tables = 250;
	static struct comparison rows[23];
	struct comparison *all[23];
	struct compare_options options = kpi;
	struct rng r;

	rng_seed(&r, 91);
	for (int t = 0; t < tables; t++) {
		bool kpi_alarm = false, rest_alarm = false;

		for (int i = 0; i < 23; i++) {
			double a[10], b[10];

			for (int j = 0; j < 10; j++) {
				a[j] = 100 + rng_normal(&r);
				b[j] = 100 + rng_normal(&r) - (i == 0 && t % 2 ? 3 : 0);
			}
			options.kpi = i < 3;
			compare_values(a, 10, b, 10, &options, &rows[i]);
			all[i] = &rows[i];
		}
		compare_family(all, 23);
		for (int i = t % 2; i < 23; i++) {
			bool alarm = rows[i].verdict == VERDICT_REGRESSION ||
				     rows[i].verdict == VERDICT_IMPROVEMENT;

			*(i < 3 ? &kpi_alarm : &rest_alarm) |= alarm;
		}
		false_kpi += kpi_alarm;
		false_rest += rest_alarm;
		found += t % 2 && rows[0].verdict == VERDICT_REGRESSION;
	}
	ok(false_kpi <= 9, "%d of %d tables with a false KPI verdict at 1%%", false_kpi, tables);
	ok(false_rest <= 9, "%d with a false verdict among the rest", false_rest);
	ok(found > 0.9 * tables / 2, "a step of three sigma is found in %d of %d", found,
	   tables / 2);
}

/* A change of exactly min_effect may be called "no-regression" in at most 5% of cases. */
static void missed_changes(void)
{
	int passed = 0, trials = 1500;
	struct compare_options options = kpi;
	struct rng r;

	rng_seed(&r, 92);
	options.min_effect_pct = 3;
	for (int t = 0; t < trials; t++) {
		double a[10], b[10];

		for (int j = 0; j < 10; j++) {
			a[j] = 100 * exp(0.01 * rng_normal(&r));
			b[j] = 97 * exp(0.01 * rng_normal(&r));
		}
		passed += judged(a, 10, b, 10, options).verdict == VERDICT_NO_REGRESSION;
	}
	ok(passed <= (0.05 + 4 * sqrt(0.05 * 0.95 / trials)) * trials,
	   "a loss of min_effect passes for none in %.4f", (double)passed / trials);
}

/* relative noise: a level that doubles is no wider, boots that vary three times as much are */
static void spreads(void)
{
	struct compare_options options = kpi;
	double a[20], doubled[20], wide[20];
	struct comparison c;
	struct rng r;

	rng_seed(&r, 93);
	for (int j = 0; j < 20; j++) {
		a[j] = 100 * exp(0.01 * rng_normal(&r));
		doubled[j] = 200 * exp(0.01 * rng_normal(&r));
		wide[j] = 100 * exp(0.03 * rng_normal(&r));
	}
	c = judged(a, 20, doubled, 20, options);
	is_str(spread_verdict(&c.spread), "same", "twice the level");
	c = judged(a, 20, wide, 20, options);
	is_str(spread_verdict(&c.spread), "wider", "three times the noise");
	ok(c.spread.ratio > 2 && c.spread.ratio < 4.5, "its ratio is %.2f", c.spread.ratio);
	c = judged(wide, 20, a, 20, options);
	is_str(spread_verdict(&c.spread), "narrower", "and back");
	c = judged(a, 4, wide, 4, options);
	ok(!spread_verdict(&c.spread), "four boots tell nothing");
}

int main(void)
{
	numbers();
	verdicts();
	bimodal();
	bad_input();
	coarse_metric();
	holm_table();
	mixed_table();
	rates();
	missed_changes();
	spreads();
	return plan_done();
}
