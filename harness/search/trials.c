// SPDX-License-Identifier: GPL-2.0-or-later
// The proofs that a culprit needs: which are open, what they wait for, what they showed.
#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/shift.h"
#include "harness/stats/summary.h"

#define REGAINED_MIN	0.5 /* of the effect: less, and something else did it too */
#define CHECK_TRIES_MAX 4

/* The first question that asks about this commit and has no answer yet, else the last that asked.
 */
static struct stage *stage_of(const struct search *s, int commit)
{
	struct stage *found = NULL;

	for (size_t i = 0; i < s->stages.n; i++) {
		struct stage *st = &s->stages.at[i];

		if (!bits_test(st->posterior->mask, (size_t)commit))
			continue;
		found = st;
		if (st->culprit == SEARCH_NONE)
			break;
	}
	return found;
}

struct trial *trial_find(const struct search *s, enum search_purpose purpose, int target)
{
	for (size_t i = s->trials.n; i-- > 0;)
		if (s->trials.at[i].purpose == purpose && s->trials.at[i].target == target)
			return &s->trials.at[i];
	return NULL;
}

static void make_trial(const struct search *s, enum search_purpose purpose, int target,
		       struct trial *ret)
{
	struct posterior *p = stage_of(s, target)->posterior;
	size_t n_parents = s->dag.first[target + 1] - s->dag.first[target], n = 0;
	autofree int *sides = xcalloc(n_parents + 2, sizeof(*sides));
	bool known = posterior_update(p);
	double d = known ? posterior_step(p) : 0;
	double sigma = known ? p->scale * p->grid.unit * T_SCALE_TO_SIGMA : INFINITY;

	if (purpose == SEARCH_REVERTED) {
		sides[n++] = SEARCH_REVERT;
		sides[n++] = bad_end(s);
	} else {
		n = culprit_parents(s, target, sides);
		sides[n++] = target;
	}
	trial_init(ret, purpose, target,
		   s->config.worse_only ? s->worse : copysign(s->worse, s->worse * d),
		   trial_boots(fabs(d)), sigma, sides, n);
}

static bool is_proof(const struct search_obs *obs)
{
	return obs->purpose == SEARCH_CONFIRM || obs->purpose == SEARCH_REVERTED ||
	       obs->purpose == SEARCH_ALIGNED;
}

void trials_open(struct search *s, const struct search_obs *obs)
{
	const struct trial *last = trial_find(s, obs->purpose, obs->target);
	struct trial fresh;

	if (!is_proof(obs) || !is_candidate(s, obs->target) || (last && !last->closed))
		return;
	make_trial(s, obs->purpose, obs->target, &fresh);
	if (trial_has(&fresh, obs->node))
		VEC_PUSH(&s->trials, fresh);
	else
		trial_release(&fresh);
}

void trials_add(struct search *s, const struct search_obs *obs, bool ok)
{
	struct trial *t = is_proof(obs) ? trial_find(s, obs->purpose, obs->target) : NULL;

	if (!t || t->closed || !trial_has(t, obs->node))
		return;
	if (ok)
		trial_add(t, obs->node, obs->value);
	else if (obs->status == SEARCH_UNTESTABLE || node_untestable(s, obs->node) ||
		 ++t->failed > 3 * t->boots)
		trial_break(t);
	if (t->closed && !t->passed && t->purpose == SEARCH_CONFIRM)
		stage_of(s, t->target)->tries++;
}

/* All values of one side over all trials of a purpose. */
static size_t side_values(const struct search *s, enum search_purpose purpose, int target,
			  size_t side, double **ret)
{
	VEC(double) all = {};

	for (size_t i = 0; i < s->trials.n; i++) {
		const struct trial *t = &s->trials.at[i];

		if (t->purpose != purpose || t->target != target || side >= t->sides.n)
			continue;
		for (size_t k = 0; k < t->sides.at[side].values.n; k++)
			VEC_PUSH(&all, t->sides.at[side].values.at[k]);
	}
	*ret = all.at;
	return all.n;
}

/* The shift between the last side and the first over all trials of a purpose, in units. */
static double trials_shift(const struct search *s, enum search_purpose purpose, int target)
{
	const struct trial *t = trial_find(s, purpose, target);
	autofree double *good = NULL, *bad = NULL;
	size_t n_good, n_bad;

	if (!t)
		return NAN;
	n_good = side_values(s, purpose, target, 0, &good);
	n_bad = side_values(s, purpose, target, t->sides.n - 1, &bad);
	if (s->config.binary)
		return values_mean(bad, n_bad) - values_mean(good, n_good);
	return shift_of(good, n_good, bad, n_bad, 0.9).estimate;
}

/* How much of the proved effect a later check shows. */
static double share_shown(const struct search *s, enum search_purpose purpose, int culprit)
{
	return trials_shift(s, purpose, culprit) / trials_shift(s, SEARCH_CONFIRM, culprit);
}

double culprit_regained(const struct search *s, int culprit)
{
	return share_shown(s, SEARCH_REVERTED, culprit);
}

static int count_trials(const struct search *s, enum search_purpose purpose, int target)
{
	int n = 0;

	for (size_t i = 0; i < s->trials.n; i++)
		n += s->trials.at[i].purpose == purpose && s->trials.at[i].target == target;
	return n;
}

/*
 * Is a closed trial followed by another? A proof that failed is tried again as long as the question
 * allows; a check that failed, only where most of the effect seems to be there and was too few
 * boots to be sure.
 */
static bool try_again(const struct search *s, const struct trial *t)
{
	if (t->purpose == SEARCH_CONFIRM)
		return true;
	return !t->passed && !t->broken &&
	       count_trials(s, t->purpose, t->target) < CHECK_TRIES_MAX &&
	       share_shown(s, t->purpose, t->target) >= REGAINED_MIN;
}

bool trial_wants(const struct search *s, enum search_purpose purpose, int target,
		 struct search_action *ret)
{
	const struct trial *t = trial_find(s, purpose, target);
	struct trial fresh = {};
	bool wants;

	if (!t || (t->closed && try_again(s, t))) {
		make_trial(s, purpose, target, &fresh);
		t = &fresh;
	}
	ret->kind = SEARCH_MEASURE;
	ret->purpose = purpose;
	ret->target = target;
	wants = trial_next(t, &ret->node, &ret->boots);
	if (wants)
		ret->partner =
			t->sides.at[ret->node == t->sides.at[0].node ? t->sides.n - 1 : 0].node;
	ret->cost_s = ret->boots * s->boot_s;
	ret->p_buildable = 1;
	trial_release(&fresh);
	return wants;
}

bool culprit_wants(const struct search *s, int culprit, struct search_action *ret)
{
	bool merge = s->dag.first[culprit + 1] - s->dag.first[culprit] > 1;

	if (s->config.revert && !merge &&
	    find_answer(s, culprit, SEARCH_NONE, CHECK_REVERT) == CHECK_NOT_RUN &&
	    trial_wants(s, SEARCH_REVERTED, culprit, ret))
		return true;
	return s->config.align &&
	       find_answer(s, culprit, SEARCH_NONE, CHECK_ALIGNMENT) == CHECK_NOT_RUN &&
	       trial_wants(s, SEARCH_ALIGNED, culprit, ret);
}

static struct search_effect effect_of(const double *good, size_t n_good, const double *bad,
				      size_t n_bad, double level)
{
	struct search_effect e = {NAN, NAN, NAN, NAN, NAN, 0};
	struct shift percent, units;
	double scale;

	if (!n_good || !n_bad)
		return e;
	e.good = values_median(good, n_good);
	e.bad = values_median(bad, n_bad);
	e.boots = (int)MIN(n_good, n_bad);
	percent = shift_percent(good, n_good, bad, n_bad, level);
	if (isnan(percent.estimate) && e.good != 0) {
		/* values that can be zero or negative: the plain difference against good's size */
		units = shift_of(good, n_good, bad, n_bad, level);
		scale = 100 / fabs(e.good);
		percent = units;
		percent.estimate *= scale;
		percent.interval.low *= scale;
		percent.interval.high *= scale;
	}
	e.percent = percent.estimate;
	e.low = percent.interval.low;
	e.high = percent.interval.high;
	return e;
}

struct search_effect effect_between(const struct search *s, const double *good, size_t n_good,
				    const double *bad, size_t n_bad)
{
	struct search_effect e = {NAN, NAN, NAN, NAN, NAN, 0};

	if (!s->config.binary)
		return effect_of(good, n_good, bad, n_bad, 1 - s->config.error);
	if (n_good && n_bad) {
		e.good = values_mean(good, n_good);
		e.bad = values_mean(bad, n_bad);
		e.boots = (int)MIN(n_good, n_bad);
	}
	return e;
}

struct search_effect trials_effect(const struct search *s, enum search_purpose purpose, int target)
{
	const struct trial *t = trial_find(s, purpose, target);
	struct search_effect smallest = effect_between(s, NULL, 0, NULL, 0);
	autofree double *bad = NULL;
	size_t n_bad;

	if (!t)
		return smallest;
	n_bad = side_values(s, purpose, target, t->sides.n - 1, &bad);
	for (size_t side = 0; side + 1 < t->sides.n; side++) {
		autofree double *good = NULL;
		size_t n_good = side_values(s, purpose, target, side, &good);
		struct search_effect e = effect_between(s, good, n_good, bad, n_bad);

		if (!smallest.boots || fabs(e.bad - e.good) < fabs(smallest.bad - smallest.good))
			smallest = e;
	}
	return smallest;
}

/* What the engine measured itself. */
static enum search_verdict measured(const struct search *s, enum search_purpose purpose,
				    int culprit)
{
	const struct trial *t = trial_find(s, purpose, culprit);

	if (!t || !t->closed || (purpose != SEARCH_CONFIRM && try_again(s, t)))
		return CHECK_NOT_RUN;
	if (t->broken)
		return CHECK_NA;
	if (purpose == SEARCH_REVERTED && !(culprit_regained(s, culprit) >= REGAINED_MIN))
		return CHECK_FAIL;
	return t->passed ? CHECK_PASS : CHECK_FAIL;
}

/* Pairs with several parents: the worst answer. */
static enum search_verdict worst_answer(const struct search *s, int culprit,
					enum search_check check)
{
	enum search_verdict worst = CHECK_NOT_RUN;

	for (size_t i = 0; i < s->answers.n; i++) {
		const struct answer *a = &s->answers.at[i];
		enum search_verdict v = find_answer(s, culprit, a->partner, check);

		if (a->target != culprit || a->check != check)
			continue;
		if (worst == CHECK_NOT_RUN || v == CHECK_FAIL ||
		    (v == CHECK_NA && worst == CHECK_PASS))
			worst = v;
	}
	return worst;
}

enum search_verdict culprit_check(const struct search *s, int culprit, enum search_check check)
{
	enum search_verdict told = worst_answer(s, culprit, check);
	bool merge = s->dag.first[culprit + 1] - s->dag.first[culprit] > 1;

	switch (check) {
	case CHECK_ENDS:
		return CHECK_PASS; /* a culprit is only looked for where they differ */
	case CHECK_PARENT:
		return measured(s, SEARCH_CONFIRM, culprit);
	case CHECK_REVERT:
		if (told != CHECK_NOT_RUN)
			return told;
		return merge || !s->config.revert ? CHECK_NA
						  : measured(s, SEARCH_REVERTED, culprit);
	case CHECK_ALIGNMENT:
		return told != CHECK_NOT_RUN ? told : measured(s, SEARCH_ALIGNED, culprit);
	default:
		return told;
	}
}
