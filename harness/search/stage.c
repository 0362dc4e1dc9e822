// SPDX-License-Identifier: GPL-2.0-or-later
// One question to the range: ends, then narrowing down, then proof. Pure reading of what is known.
#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/summary.h"
#include "harness/stats/twosample.h"

#define QUICK_STEP                                                                                 \
	5.0 /* a gap of so many spreads of the ends needs no more than POST_FIRST boots */
#define SIDE_NO_CHANGE 0.8 /* ends the looking for a further step beside a culprit at once */
#define SIDE_DOUBT     0.7 /* ends it after as many boots of each end as the proof took */
#define SIDE_ENDS_MAX  4   /* times that: ends it in any case */
#define DRIFT_BOOTS    20  /* an end is measured again after so many */
#define NAME_P	       0.8 /* enough to try a proof, whose boots then tell the rest */
#define TRIES_MAX      4
#define UNPRUNED       0.5

static bool is_side(const struct stage *st)
{
	return st->proof_boots > 0;
}

static enum stage_state want(const struct search *s, struct search_action *ret, int node, int boots,
			     enum search_purpose purpose)
{
	ret->kind = SEARCH_MEASURE;
	ret->node = node;
	ret->boots = boots;
	ret->purpose = purpose;
	ret->target = ret->partner = SEARCH_NONE;
	ret->p_buildable = 1;
	ret->cost_s = boots * s->boot_s + (search_is_built(s, node) ? 0 : s->build_s);
	return STAGE_WANTS;
}

/* The ends in turn, until each has this many boots in the current epoch. False: both have. */
static bool ends_in_turn(const struct search *s, const struct stage *st, size_t boots,
			 struct search_action *ret)
{
	const int ends[] = {st->posterior->good, st->posterior->bad};
	int epoch = current_epoch(s), row, side;
	size_t have[2];

	for (size_t i = 0; i < 2; i++)
		have[i] = node_count(s, ends[i], epoch);
	side = turn(have, 2, boots, &row);
	if (side < 0)
		return false;
	want(s, ret, ends[side], row, SEARCH_END);
	ret->partner = ends[1 - side];
	return true;
}

struct ends {
	double *good, *bad;
	size_t n_good, n_bad;
};

static void ends_release(struct ends *e)
{
	free(e->good);
	free(e->bad);
}

static struct ends get_ends(const struct search *s, const struct stage *st)
{
	struct ends e = {
		.good = xcalloc(s->values.n + 1, sizeof(double)),
		.bad = xcalloc(s->values.n + 1, sizeof(double)),
	};

	e.n_good = node_values(s, st->posterior->good, current_epoch(s), e.good);
	e.n_bad = node_values(s, st->posterior->bad, current_epoch(s), e.bad);
	return e;
}

/* Three boots an end are enough where the noise is known, or where they show a gap of ten spreads.
 */
static bool few_are_enough(const struct search *s, const struct stage *st)
{
	__attribute__((cleanup(ends_release))) struct ends e = get_ends(s, st);
	double spread = values_pooled_sigma(e.good, e.n_good, e.bad, e.n_bad);
	double gap = values_median(e.bad, e.n_bad) - values_median(e.good, e.n_good);

	if (s->config.sigma > 0 || is_side(st) || s->n_epochs > 1)
		return true;
	return spread > 0 && fabs(gap) > QUICK_STEP * spread;
}

/* Is the change known to be too small to matter (or not for the worse)? */
static bool within_min_effect(const struct search *s, const struct stage *st)
{
	__attribute__((cleanup(ends_release))) struct ends e = get_ends(s, st);
	struct mean_test test =
		welch_test(e.good, e.n_good, e.bad, e.n_bad, 1 - s->config.error / 4);
	double limit = s->config.min_effect * fabs(values_median(e.good, e.n_good));
	double low = test.interval.low, high = test.interval.high;

	if (isnan(low) || (!is_side(st) && e.n_good != e.n_bad))
		return false;
	if (s->config.worse_only)
		return (s->worse > 0 ? high : -low) < limit;
	return limit > 0 && low > -limit && high < limit;
}

/* A change that is real, but looks too small to matter, is measured until it is known to be. */
static bool looks_large_enough(const struct search *s, const struct stage *st)
{
	__attribute__((cleanup(ends_release))) struct ends e = get_ends(s, st);
	double good = values_median(e.good, e.n_good), bad = values_median(e.bad, e.n_bad);

	if (s->config.binary) /* any share that is sure to differ counts */
		return true;
	return fabs(bad - good) >= s->config.min_effect * fabs(good);
}

/* No further step beside a culprit, as far as it is worth looking. */
static bool side_is_done(const struct search *s, const struct stage *st)
{
	const struct posterior *p = st->posterior;
	size_t n = MIN(node_count(s, p->good, -1), node_count(s, p->bad, -1));

	return p->no_change >= SIDE_NO_CHANGE ||
	       (n >= (size_t)st->proof_boots && p->no_change >= SIDE_DOUBT);
}

/* The null gate: STAGE_WANTS an end, STAGE_NO_CHANGE, or STAGE_FOUND: there is a step. */
static enum stage_state look_at_ends(const struct search *s, const struct stage *st,
				     struct search_action *ret)
{
	struct posterior *p = st->posterior;
	size_t max =
		is_side(st) ? SIDE_ENDS_MAX * (size_t)st->proof_boots : (size_t)s->config.ends_max;

	if (ends_in_turn(s, st, POST_FIRST, ret))
		return STAGE_WANTS;
	if (!few_are_enough(s, st) && ends_in_turn(s, st, (size_t)s->config.ends_min, ret))
		return STAGE_WANTS;
	if (!posterior_update(p)) /* one constant at both ends */
		return ends_in_turn(s, st, (size_t)s->config.ends_min, ret) ? STAGE_WANTS
									    : STAGE_NO_CHANGE;
	if (p->no_change <= NO_CHANGE_MAX && looks_large_enough(s, st))
		return STAGE_FOUND;
	if (within_min_effect(s, st) || (is_side(st) && side_is_done(s, st)))
		return STAGE_NO_CHANGE;
	return ends_in_turn(s, st, max, ret) ? STAGE_WANTS : STAGE_NO_CHANGE;
}

int stage_single(const struct search *s, const struct stage *st)
{
	const struct posterior *p = st->posterior;
	size_t best = posterior_best(p);
	int single = SEARCH_NONE;

	for (size_t i = 0; i < s->dag.n; i++) {
		if (p->class_of[i] != (int)best || !(s->weight[i] > 0))
			continue;
		if (single != SEARCH_NONE)
			return SEARCH_NONE;
		single = (int)i;
	}
	return single;
}

/* A parent, in the class of the only commit there that is thought to matter: to be built, so that
 * equal code can show that those between do not matter indeed. */
static int pruned_parent(const struct search *s, const struct stage *st)
{
	const struct posterior *p = st->posterior;
	int best = (int)posterior_best(p), unpruned = SEARCH_NONE;
	const int32_t *parents;
	size_t n;

	for (size_t i = 0; i < s->dag.n; i++) {
		if (p->class_of[i] != best || s->weight[i] < UNPRUNED)
			continue;
		if (unpruned != SEARCH_NONE)
			return SEARCH_NONE;
		unpruned = (int)i;
	}
	n = unpruned == SEARCH_NONE ? 0 : dag_parents(&s->dag, (size_t)unpruned, &parents);
	for (size_t i = 0; i < n; i++)
		if (is_candidate(s, parents[i]) && p->class_of[parents[i]] == best &&
		    s->weight[parents[i]] > 0 && !node_untestable(s, parents[i]) &&
		    !search_is_built(s, parents[i]))
			return parents[i];
	return SEARCH_NONE;
}

static enum stage_state want_build(const struct search *s, struct search_action *ret, int node,
				   int target)
{
	want(s, ret, node, 0, SEARCH_STEP);
	ret->kind = SEARCH_BUILD;
	ret->target = target;
	ret->cost_s = s->build_s;
	return STAGE_WANTS;
}

static enum stage_state measure_next(const struct search *s, const struct stage *st,
				     struct search_action *ret)
{
	struct choice_view view = stage_view(s, st);
	struct choice choice;

	if (!choice_next(&view, &choice))
		return STAGE_RANGE;
	want(s, ret, choice.node, choice.boots, SEARCH_STEP);
	ret->information = choice.information;
	ret->cost_s = choice.cost_s;
	ret->p_buildable = choice.p_buildable;
	return STAGE_WANTS;
}

/* A search that goes on for ever is fed with values that no single step explains. */
static bool is_stuck(const struct search *s, const struct stage *st)
{
	double d = fabs(posterior_step(st->posterior)), bits = log2((double)s->dag.n + 1);

	return st->steps > 60 + 20 * bits * fmax(1, 4 / fmax(d * d, 0.04));
}

/* Everything that must be there before a name is tried on fresh boots. */
static enum stage_state prepare_proof(const struct search *s, int culprit,
				      struct search_action *ret)
{
	autofree int *nodes =
		xcalloc(s->dag.first[culprit + 1] - s->dag.first[culprit] + 2, sizeof(*nodes));
	size_t n = culprit_parents(s, culprit, nodes);

	nodes[n] = culprit;
	for (size_t i = 0; i <= n; i++) {
		if (node_untestable(s, nodes[i]))
			return STAGE_RANGE;
		if (!search_is_built(s, nodes[i]))
			return want_build(s, ret, nodes[i], culprit);
	}
	for (size_t i = 0; i < n; i++)
		if (find_answer(s, culprit, nodes[i], CHECK_SAME_CODE) == CHECK_NOT_RUN) {
			want_build(s, ret, culprit, culprit);
			ret->kind = SEARCH_COMPARE;
			ret->partner = nodes[i];
			ret->cost_s = 0;
			return STAGE_WANTS;
		}
	return STAGE_FOUND;
}

static enum stage_state prove(const struct search *s, const struct stage *st, int culprit,
			      struct search_action *ret)
{
	const struct trial *last = trial_find(s, SEARCH_CONFIRM, culprit);
	enum stage_state state;
	int doubtful;

	if (last && last->passed) /* but the posterior does not stand yet */
		return measure_next(s, st, ret);
	if (st->tries >= TRIES_MAX)
		return STAGE_NOT_PROVED;
	doubtful = find_contradiction(s, st);
	if (doubtful != SEARCH_NONE)
		return want(s, ret, doubtful, 1, SEARCH_STEP);
	state = prepare_proof(s, culprit, ret);
	if (state != STAGE_FOUND)
		return state;
	trial_wants(s, SEARCH_CONFIRM, culprit, ret);
	return STAGE_WANTS;
}

/* One class is left, and nothing splits it. STAGE_NO_CHANGE: it is not sure enough yet. */
static enum stage_state settle(const struct search *s, const struct stage *st,
			       struct search_action *ret)
{
	const struct posterior *p = st->posterior;
	double sure = 1 - s->config.error, mass = p->classes.at[posterior_best(p)].p;
	int single = stage_single(s, st);

	if (single != SEARCH_NONE && s->config.confirm && mass >= (st->tries ? sure : NAME_P))
		return prove(s, st, single, ret);
	if (mass >= sure)
		return single == SEARCH_NONE ? STAGE_RANGE : STAGE_FOUND;
	/* sure of the place, if there is a step: what is left to doubt is the step */
	if (mass >= sure * (1 - p->no_change) &&
	    ends_in_turn(s, st, (size_t)s->config.ends_max, ret))
		return STAGE_WANTS;
	return STAGE_NO_CHANGE;
}

static enum stage_state narrow_down(const struct search *s, const struct stage *st,
				    struct search_action *ret)
{
	const struct posterior *p = st->posterior;
	struct choice_view view = stage_view(s, st);
	size_t best = posterior_best(p);

	if (p->classes.at[best].p >= NAME_P && choice_is_terminal(&view, best)) {
		enum stage_state state = settle(s, st, ret);

		if (state != STAGE_NO_CHANGE)
			return state;
	} else if (p->classes.at[best].p >= NAME_P && s->config.confirm) {
		int parent = pruned_parent(s, st);

		if (parent != SEARCH_NONE)
			return want_build(s, ret, parent, SEARCH_NONE);
	}
	return is_stuck(s, st) ? STAGE_RANGE : measure_next(s, st, ret);
}

static bool same_program_ends(const struct search *s, const struct stage *st)
{
	return node_program(s, st->posterior->good) == node_program(s, st->posterior->bad);
}

enum stage_state stage_look(const struct search *s, const struct stage *st,
			    struct search_action *ret)
{
	const struct posterior *p = st->posterior;
	enum stage_state state;

	if (st->culprit != SEARCH_NONE)
		return STAGE_FOUND;
	if (same_program_ends(s, st))
		return STAGE_SAME_CODE;
	if (node_untestable(s, p->good) || node_untestable(s, p->bad))
		return STAGE_UNTESTABLE;
	if (s->recheck.node != SEARCH_NONE)
		return want(s, ret, s->recheck.node, RECHECK_BOOTS - (int)s->recheck.n, SEARCH_END);
	state = look_at_ends(s, st, ret);
	if (state != STAGE_FOUND)
		return state;
	if (s->since_end >= DRIFT_BOOTS) {
		bool good = node_count(s, SEARCH_GOOD, -1) <= node_count(s, bad_end(s), -1);

		return want(s, ret, good ? SEARCH_GOOD : bad_end(s), 1, SEARCH_END);
	}
	return narrow_down(s, st, ret);
}
