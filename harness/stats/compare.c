// SPDX-License-Identifier: GPL-2.0-or-later
// One row's numbers, then the verdicts of the whole table.
#include "harness/stats/compare.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/equivalence.h"
#include "harness/stats/multiple.h"
#include "harness/stats/power.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/twosample.h"

/* One-sided error of showing that nothing changed. */
static const double equivalence_alpha = 0.05;

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_INCONCLUSIVE] = "inconclusive",
		[VERDICT_REGRESSION] = "regression",
		[VERDICT_IMPROVEMENT] = "improvement",
		[VERDICT_NO_REGRESSION] = "no-regression",
		[VERDICT_TOO_FEW_BOOTS] = "too-few-boots",
		[VERDICT_BIMODAL] = "bimodal",
	};

	return names[v];
}

/* The finite values in ascending order. */
static double *usable(const double *v, size_t n, size_t *ret_n)
{
	double *sorted = xcalloc(MAX(n, (size_t)1), sizeof(*sorted));

	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]))
			sorted[(*ret_n)++] = v[i];
	values_sort(sorted, *ret_n);
	return sorted;
}

static bool has_percent(const struct comparison *c)
{
	return !isnan(c->percent.estimate);
}

/* The change that counts, its interval and the smallest one that matters, all in one unit. */
static const struct shift *change_of(const struct comparison *c)
{
	return has_percent(c) ? &c->percent : &c->difference;
}

static double min_effect(const struct comparison *c)
{
	if (has_percent(c))
		return c->options.min_effect_pct;
	if (c->options.min_effect_units > 0)
		return c->options.min_effect_units;
	return c->options.min_effect_pct / 100 * fabs(c->a.median);
}

/* a and b are sorted values, or sorted logarithms where a percentage is possible. */
static void compare_scale(struct comparison *c, const struct rank_null *null, const double *a,
			  const double *b, bool logs)
{
	size_t n_a = null->n_a, n_b = null->n_b;
	double equivalence_level = 1 - 2 * equivalence_alpha;
	struct shift wide = shift_sorted(null, a, b, equivalence_level);

	if (logs) {
		c->percent = shift_to_percent(shift_sorted(null, a, b, c->options.level));
		wide = shift_to_percent(wide);
	}
	c->equivalent = interval_reached(&wide.interval, equivalence_level) &&
			interval_within(&wide.interval, -min_effect(c), min_effect(c));
	c->sigma = values_pooled_sigma(a, n_a, b, n_b) * (logs ? 100 : 1);
	if (welch_applies(a, n_a, b, n_b))
		c->welch_p = welch_test(a, n_a, b, n_b, c->options.level).p;
}

double compare_min_effect_pct(double given_pct, double known_spread_pct)
{
	return given_pct > 0 ? given_pct : fmax(1, known_spread_pct);
}

void compare_values(const double *a, size_t n_a, const double *b, size_t n_b,
		    const struct compare_options *options, struct comparison *ret)
{
	static const struct shift no_shift = {NAN, {NAN, NAN, 0}};
	RANK_NULL_CLEANUP struct rank_null null = {0};
	size_t have_a, have_b;
	autofree double *values_a = usable(a, n_a, &have_a), *values_b = usable(b, n_b, &have_b);
	autofree double *logs_a = values_logs(values_a, have_a);
	autofree double *logs_b = values_logs(values_b, have_b);
	bool logs = logs_a && logs_b;
	struct comparison c = {
		.options = *options,
		.percent = no_shift,
		.p_adjusted = NAN,
		.welch_p = NAN,
		.a = summary_of(values_a, have_a),
		.b = summary_of(values_b, have_b),
		.missing_a = n_a - have_a,
		.missing_b = n_b - have_b,
		.modes_a = modes_screen(values_a, have_a),
		.modes_b = modes_screen(values_b, have_b),
	};
	struct rank_test test;

	if (!(c.options.level > 0))
		c.options.level = 1 - c.options.error;
	rank_null_init(&null, have_a, have_b);
	test = rank_test_with(&null, values_a, values_b);
	c.p = test.p;
	c.exact = test.exact;
	c.difference = shift_sorted(&null, values_a, values_b, c.options.level);
	c.level = c.difference.interval.level;
	if (c.a.median != 0)
		c.centre_pct = 100 * (c.b.median - c.a.median) / fabs(c.a.median);
	else
		c.centre_pct = NAN;
	/* relative spread where there is one: twice the level is not twice the noise */
	c.spread = spread_compare(logs ? logs_a : values_a, have_a, logs ? logs_b : values_b,
				  have_b, c.options.level);
	compare_scale(&c, &null, logs ? logs_a : values_a, logs ? logs_b : values_b, logs);
	*ret = c;
}

/* The level that the row's smallest possible p must reach, were it the only change. */
static double hardest_level(const struct comparison *c, size_t tests)
{
	return fmin(c->options.error / (double)tests, 1 - c->options.level + 1e-12);
}

static bool too_few(const struct comparison *c, size_t tests)
{
	if (isnan(c->p))
		return true;
	return c->p_adjusted > c->options.error &&
	       2 * rank_test_min_p(c->a.n, c->b.n) > hardest_level(c, tests);
}

static enum verdict judge(const struct comparison *c, size_t tests)
{
	const struct shift *change = change_of(c);
	bool real;

	if (c->modes_a.two || c->modes_b.two)
		return VERDICT_BIMODAL;
	if (too_few(c, tests))
		return VERDICT_TOO_FEW_BOOTS;
	real = c->p_adjusted <= c->options.error &&
	       interval_reached(&change->interval, c->options.level) &&
	       interval_excludes(&change->interval, 0) && fabs(change->estimate) >= min_effect(c);
	if (real)
		return (change->estimate > 0) == c->options.higher_is_better ? VERDICT_IMPROVEMENT
									     : VERDICT_REGRESSION;
	return c->equivalent ? VERDICT_NO_REGRESSION : VERDICT_INCONCLUSIVE;
}

static size_t boots_for_verdict(const struct comparison *c, size_t tests)
{
	double size = fabs(change_of(c)->estimate), wanted = min_effect(c);
	size_t least = rank_test_boots(hardest_level(c, tests), 1), boots;

	if (c->verdict == VERDICT_TOO_FEW_BOOTS)
		return least;
	if (c->verdict != VERDICT_INCONCLUSIVE)
		return 0;
	if (size >= wanted)
		boots = power_boots(size, c->sigma, hardest_level(c, tests), POWER_DEFAULT);
	else
		boots = equivalence_boots(wanted - size, c->sigma, equivalence_alpha,
					  POWER_DEFAULT);
	return boots ? MAX(MAX(boots, least), MIN(c->a.n, c->b.n) + 1) : 0;
}

static void judge_group(struct comparison *const *rows, size_t n, bool kpi)
{
	autofree double *p = xcalloc(MAX(n, (size_t)1), sizeof(*p));
	size_t tests = 0;

	for (size_t i = 0; i < n; i++) {
		p[i] = rows[i]->options.kpi == kpi ? rows[i]->p : NAN;
		tests += !isnan(p[i]);
	}
	(kpi ? holm_adjust : bh_adjust)(p, n, p);
	for (size_t i = 0; i < n; i++) {
		struct comparison *c = rows[i];

		if (c->options.kpi != kpi)
			continue;
		c->p_adjusted = p[i];
		c->verdict = judge(c, MAX(tests, (size_t)1));
		c->needs_boots = boots_for_verdict(c, MAX(tests, (size_t)1));
	}
}

void compare_family(struct comparison *const *rows, size_t n)
{
	judge_group(rows, n, true);
	judge_group(rows, n, false);
}
