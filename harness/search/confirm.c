// SPDX-License-Identifier: GPL-2.0-or-later
// Trials: who boots next, and what the boots prove.
#include "harness/search/confirm.h"

#include <math.h>

#include "harness/stats/dist.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/summary.h"

#define TRIAL_ALPHA	  0.01
#define EARLY_BOOTS	  3 /* where 5 are enough, there is a look after 3, at a tenth of the error */
#define EARLY_DF	  8.0
#define MEDIAN_OF_3_ERROR 0.67 /* of normal values, in units of their sigma */
#define BOOTS_MIN	  5
#define BOOTS_MAX	  60

int trial_boots(double d)
{
	double n = ceil(2 * (3.97 / d) * (3.97 / d) + 1);

	return d > 0 ? (int)fmin(fmax(n, BOOTS_MIN), BOOTS_MAX) : BOOTS_MAX;
}

void trial_init(struct trial *t, enum search_purpose purpose, int target, double worse, int boots,
		double sigma, const int *nodes, size_t n)
{
	*t = (struct trial){
		.purpose = purpose,
		.target = target,
		.worse = worse,
		.boots = boots,
		.sigma = sigma,
		.p = NAN,
	};
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(&t->sides, (struct trial_side){.node = nodes[i]});
}

void trial_release(struct trial *t)
{
	for (size_t i = 0; i < t->sides.n; i++)
		VEC_FREE(&t->sides.at[i].values);
	VEC_FREE(&t->sides);
}

bool trial_has(const struct trial *t, int node)
{
	for (size_t i = 0; i < t->sides.n; i++)
		if (t->sides.at[i].node == node)
			return true;
	return false;
}

/* The exact test of the last side against each other one. */
static void judge(struct trial *t)
{
	const struct trial_side *last = &t->sides.at[t->sides.n - 1];

	t->closed = true;
	t->p = 0;
	for (size_t i = 0; i + 1 < t->sides.n; i++) {
		const struct trial_side *side = &t->sides.at[i];
		struct rank_test rank =
			rank_test(side->values.at, side->values.n, last->values.at, last->values.n);

		t->p = fmax(t->p, t->worse > 0 ? rank.p_greater : rank.p_less);
	}
	t->passed = t->p < TRIAL_ALPHA;
}

/* The noise of one boot, but no less than the steps that values come in. */
static double noise(const struct trial *t)
{
	autofree double *all = xcalloc(t->sides.n * EARLY_BOOTS, sizeof(*all));

	for (size_t i = 0; i < t->sides.n; i++)
		memcpy(all + i * EARLY_BOOTS, t->sides.at[i].values.at, EARLY_BOOTS * sizeof(*all));
	return fmax(t->sigma, values_resolution(all, t->sides.n * EARLY_BOOTS));
}

/*
 * A first look at a step that is many times the noise, which the search knows from many more boots
 * than these: Student's t of the difference of the medians. What does not pass goes on.
 */
static void look_early(struct trial *t)
{
	const double *last = t->sides.at[t->sides.n - 1].values.at;
	double error = noise(t) * MEDIAN_OF_3_ERROR * sqrt(2), p = 0;

	for (size_t i = 0; i + 1 < t->sides.n; i++) {
		double step = values_median(last, EARLY_BOOTS) -
			      values_median(t->sides.at[i].values.at, EARLY_BOOTS);

		p = fmax(p, dist_t_sf(t->worse * step / error, EARLY_DF));
	}
	if (p < TRIAL_EARLY_ALPHA) {
		t->closed = t->passed = true;
		t->p = p;
	}
}

static bool all_have(const struct trial *t, size_t boots)
{
	for (size_t i = 0; i < t->sides.n; i++)
		if (t->sides.at[i].values.n != boots)
			return false;
	return true;
}

void trial_add(struct trial *t, int node, double value)
{
	for (size_t i = 0; i < t->sides.n; i++) {
		struct trial_side *side = &t->sides.at[i];

		if (side->node == node && side->values.n < (size_t)t->boots && !t->closed)
			VEC_PUSH(&side->values, value);
	}
	if (t->closed)
		return;
	if (all_have(t, (size_t)t->boots))
		judge(t);
	else if (t->boots == BOOTS_MIN && all_have(t, EARLY_BOOTS))
		look_early(t);
}

void trial_break(struct trial *t)
{
	t->closed = t->broken = true;
	t->passed = false;
}

int turn(const size_t *have, size_t sides, size_t want, int *ret_boots)
{
	for (size_t position = 0; position < sides * want; position++) {
		size_t lap = position / sides, at = position % sides;
		size_t side = lap % 2 ? sides - 1 - at : at;

		if (have[side] > lap)
			continue;
		/* the last of a lap begins the next one */
		*ret_boots = at == sides - 1 && lap + 1 < want ? 2 : 1;
		return (int)side;
	}
	return -1;
}

bool trial_next(const struct trial *t, int *ret_node, int *ret_boots)
{
	autofree size_t *have = xcalloc(t->sides.n, sizeof(*have));
	bool early;
	int side;

	if (t->closed)
		return false;
	for (size_t i = 0; i < t->sides.n; i++)
		have[i] = t->sides.at[i].values.n;
	early = t->boots == BOOTS_MIN && turn(have, t->sides.n, EARLY_BOOTS, ret_boots) >= 0;
	side = turn(have, t->sides.n, early ? EARLY_BOOTS : (size_t)t->boots, ret_boots);
	if (side >= 0)
		*ret_node = t->sides.at[side].node;
	return side >= 0;
}
