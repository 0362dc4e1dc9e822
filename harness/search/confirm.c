// SPDX-License-Identifier: GPL-2.0-or-later
// Trials: who boots next, and what the boots prove.
#include "harness/search/confirm.h"

#include <math.h>

#include "harness/stats/ranktest.h"
#include "harness/stats/summary.h"
#include "harness/stats/twosample.h"

#define TRIAL_ALPHA 0.01
#define PLAIN_STEP  8.0
#define PLAIN_BOOTS 3
#define PLAIN_ALPHA 0.001
#define BOOTS_MIN   5
#define BOOTS_MAX   60

int trial_boots(double d)
{
	double n = ceil(2 * (3.97 / d) * (3.97 / d) + 1);

	if (d > PLAIN_STEP)
		return PLAIN_BOOTS;
	return d > 0 ? (int)fmin(fmax(n, BOOTS_MIN), BOOTS_MAX) : BOOTS_MAX;
}

void trial_init(struct trial *t, enum search_purpose purpose, int target, double worse, int boots,
		const int *nodes, size_t n)
{
	*t = (struct trial){
		.purpose = purpose, .target = target, .worse = worse, .boots = boots, .p = NAN};
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

/* Few boots of a step that is many times the noise: on logarithms where they exist. */
static bool plain_step(const struct trial_side *a, const struct trial_side *b, double worse)
{
	autofree double *log_a = values_logs(a->values.at, a->values.n);
	autofree double *log_b = values_logs(b->values.at, b->values.n);
	bool logs = log_a && log_b;
	struct mean_test test =
		welch_test(logs ? log_a : a->values.at, a->values.n, logs ? log_b : b->values.at,
			   b->values.n, 1 - PLAIN_ALPHA);

	return test.difference * worse > 0 && test.p / 2 < PLAIN_ALPHA;
}

static void judge(struct trial *t)
{
	const struct trial_side *last = &t->sides.at[t->sides.n - 1];

	t->closed = true;
	t->passed = true;
	t->p = 0;
	for (size_t i = 0; i + 1 < t->sides.n; i++) {
		const struct trial_side *side = &t->sides.at[i];
		struct rank_test rank =
			rank_test(side->values.at, side->values.n, last->values.at, last->values.n);
		double p = t->worse > 0 ? rank.p_greater : rank.p_less;
		bool plain = t->boots < BOOTS_MIN && plain_step(side, last, t->worse);

		t->p = fmax(t->p, p);
		t->passed &= plain || p < TRIAL_ALPHA;
	}
}

void trial_add(struct trial *t, int node, double value)
{
	bool full = true;

	for (size_t i = 0; i < t->sides.n; i++) {
		struct trial_side *side = &t->sides.at[i];

		if (side->node == node && side->values.n < (size_t)t->boots && !t->closed)
			VEC_PUSH(&side->values, value);
		full &= side->values.n == (size_t)t->boots;
	}
	if (full && !t->closed)
		judge(t);
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
	int side;

	if (t->closed)
		return false;
	for (size_t i = 0; i < t->sides.n; i++)
		have[i] = t->sides.at[i].values.n;
	side = turn(have, t->sides.n, (size_t)t->boots, ret_boots);
	if (side >= 0)
		*ret_node = t->sides.at[side].node;
	return side >= 0;
}
