// SPDX-License-Identifier: GPL-2.0-or-later
// What may be said at the end: outcome, culprits, candidates, effects, checks.
#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/power.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/summary.h"

const char *search_outcome_name(enum search_outcome o)
{
	static const char *const names[] = {
		[OUTCOME_NONE] = "none",
		[OUTCOME_CULPRIT] = "culprit",
		[OUTCOME_RANGE] = "range",
		[OUTCOME_MERGE] = "merge",
		[OUTCOME_SEVERAL] = "several",
		[OUTCOME_NOT_MONOTONE] = "not-monotone",
		[OUTCOME_NOT_REPRODUCED] = "not-reproduced",
		[OUTCOME_UNTESTABLE] = "untestable",
		[OUTCOME_BUDGET] = "budget",
	};

	return names[o];
}

const char *search_check_name(enum search_check c)
{
	static const char *const names[] = {
		[CHECK_ENDS] = "ends",	     [CHECK_PARENT] = "parent",
		[CHECK_REVERT] = "revert",   [CHECK_SAME_CODE] = "same_code",
		[CHECK_CONFIG] = "config",   [CHECK_ALIGNMENT] = "alignment",
		[CHECK_REACHED] = "reached",
	};

	return names[c];
}

const char *search_verdict_name(enum search_verdict v)
{
	static const char *const names[] = {
		[CHECK_NOT_RUN] = "not-run",
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "fail",
		[CHECK_NA] = "na",
	};

	return names[v];
}

const char *search_purpose_name(enum search_purpose p)
{
	static const char *const names[] = {
		[SEARCH_END] = "end",	      [SEARCH_STEP] = "step",
		[SEARCH_CONFIRM] = "confirm", [SEARCH_REVERTED] = "revert",
		[SEARCH_ALIGNED] = "aligned",
	};

	return names[p];
}

/* --- candidates --- */

struct set {
	VEC(struct search_candidate) at;
};

static int larger_first(const void *a, const void *b)
{
	const struct search_candidate *x = a, *y = b;

	if (x->probability != y->probability)
		return x->probability < y->probability ? 1 : -1;
	return x->commit - y->commit;
}

static bool in_set(const struct set *set, int commit)
{
	for (size_t i = 0; i < set->at.n; i++)
		if (set->at.at[i].commit == commit)
			return true;
	return false;
}

/*
 * What cannot be told apart from a candidate by testing belongs to the set, however small its
 * share: untestable commits of the most probable class, and the parents of a single one that do not
 * build.
 */
static void add_untestable(const struct search *s, const struct stage *st, struct set *set)
{
	const struct posterior *p = st->posterior;
	size_t best = posterior_best(p), listed = set->at.n;

	for (size_t i = 0; i < s->dag.n; i++)
		if (p->class_of[i] == (int)best && s->weight[i] > 0 && node_untestable(s, (int)i) &&
		    !in_set(set, (int)i))
			VEC_PUSH(&set->at,
				 (struct search_candidate){(int)i, posterior_commit(p, i)});
	for (size_t k = 0; k < listed; k++) {
		const int32_t *parents;
		size_t n = dag_parents(&s->dag, (size_t)set->at.at[k].commit, &parents);

		for (size_t j = 0; k == 0 && j < n; j++)
			if (is_candidate(s, parents[j]) && node_untestable(s, parents[j]) &&
			    !in_set(set, parents[j]))
				VEC_PUSH(&set->at,
					 (struct search_candidate){
						 parents[j],
						 posterior_commit(p, (size_t)parents[j])});
	}
}

/* The smallest set of commits that holds 1 - error of the probability that there is a step. */
static struct set smallest_set(const struct search *s, const struct stage *st)
{
	const struct posterior *p = st->posterior;
	struct set all = {}, set = {};
	double sum = 0;

	for (size_t i = 0; i < s->dag.n; i++)
		if (posterior_commit(p, i) > 0)
			VEC_PUSH(&all.at,
				 (struct search_candidate){(int)i, posterior_commit(p, i)});
	if (all.at.n)
		qsort(all.at.at, all.at.n, sizeof(*all.at.at), larger_first);
	for (size_t i = 0; i < all.at.n && sum < (1 - s->config.error) * (1 - p->no_change); i++) {
		VEC_PUSH(&set.at, all.at.at[i]);
		sum += all.at.at[i].probability;
	}
	VEC_FREE(&all.at);
	add_untestable(s, st, &set);
	return set;
}

/* --- culprits --- */

static void add_culprit(const struct search *s, int commit, double probability,
			struct search_result *r)
{
	struct search_culprit c = {
		.commit = commit,
		.probability = probability,
		.merge = s->dag.first[commit + 1] - s->dag.first[commit] > 1,
		.effect = trials_effect(s, SEARCH_CONFIRM, commit),
		.p_value = NAN,
		.regained = culprit_regained(s, commit),
	};
	const struct trial *t = trial_find(s, SEARCH_CONFIRM, commit);

	if (t) {
		c.p_value = t->p;
		c.proved_early = t->passed && t->sides.at[0].values.n < (size_t)t->boots;
	}
	for (enum search_check check = 0; check < CHECKS; check++)
		c.checks[check] = culprit_check(s, commit, check);
	r->culprits = xrealloc(r->culprits, r->n_culprits + 1, sizeof(*r->culprits));
	r->culprits[r->n_culprits++] = c;
}

static void add_culprits(const struct search *s, struct search_result *r)
{
	for (size_t i = 0; i < s->stages.n; i++)
		if (s->stages.at[i].culprit != SEARCH_NONE)
			add_culprit(s, s->stages.at[i].culprit, s->stages.at[i].culprit_p, r);
}

/* --- ends --- */

static void fill_ends(const struct search *s, struct search_result *r)
{
	autofree double *good = xcalloc(2 * s->values.n + 1, sizeof(*good));
	size_t n_good = node_values(s, SEARCH_GOOD, -1, good);
	double *bad = good + n_good;
	size_t n_bad = node_values(s, bad_end(s), -1, bad);
	double sigma = s->config.binary ? fmax(values_sd(good, n_good), values_sd(bad, n_bad))
					: values_pooled_sigma(good, n_good, bad, n_bad);

	r->ends = effect_between(s, good, n_good, bad, n_bad);
	r->visible = r->visible_pct = NAN;
	if (n_good < 2 || n_bad < 2)
		return;
	r->visible = sigma > 0 ? power_detectable(sigma, MIN(n_good, n_bad), s->config.error,
						  POWER_DEFAULT)
			       : 0;
	if (values_median(good, n_good) != 0)
		r->visible_pct = 100 * r->visible / fabs(values_median(good, n_good));
}

/* Is the good that the user named really better than bad, where the merge base is not? */
static bool ahead_differs(const struct search *s)
{
	autofree double *ahead = xcalloc(2 * s->values.n + 1, sizeof(*ahead));
	size_t n_ahead = node_values(s, SEARCH_AHEAD, -1, ahead);
	double *bad = ahead + n_ahead;
	size_t n_bad = node_values(s, bad_end(s), -1, bad);
	struct rank_test test;

	if (!n_ahead || !n_bad)
		return false;
	test = rank_test(ahead, n_ahead, bad, n_bad);
	return (s->worse > 0 ? test.p_greater : test.p_less) < 0.01;
}

/* --- the ending --- */

static void end(struct search_result *r, enum search_outcome outcome, const char *reason)
{
	r->outcome = outcome;
	r->reason = reason;
}

static void end_no_change(const struct search *s, struct search_result *r)
{
	double step = s->worse * (r->ends.bad - r->ends.good);

	if (s->config.has_base && ahead_differs(s))
		end(r, OUTCOME_NOT_MONOTONE,
		    s->config.fix ? "the merge base is as fast as bad: good was made slower on its "
				    "own branch"
				  : "the merge base is as slow as bad: good was made faster on its "
				    "own branch");
	else if (s->config.worse_only && r->ends.percent != 0 && step < 0 &&
		 (s->worse > 0 ? r->ends.high < 0 : r->ends.low > 0))
		end(r, OUTCOME_NOT_REPRODUCED,
		    s->config.fix ? "bad is worse than good, so nothing was fixed: are they swapped"
				  : "bad is better than good: are they swapped");
	else if (r->visible == 0)
		end(r, OUTCOME_NOT_REPRODUCED,
		    "both ends give one and the same value in every boot");
	else if (r->ends.low > 0 || r->ends.high < 0)
		end(r, OUTCOME_NOT_REPRODUCED,
		    "the ends differ, but by less than the smallest effect that counts");
	else
		end(r, OUTCOME_NOT_REPRODUCED,
		    "the ends do not differ by what these boots can see");
}

static void end_found(const struct search *s, struct search_result *r)
{
	bool open_side = false;

	for (size_t i = 1; i < s->stages.n; i++) {
		const struct stage *st = &s->stages.at[i];
		struct search_action wanted;
		enum stage_state state = stage_look(s, st, &wanted);
		bool cut_short = state == STAGE_WANTS && st->posterior->grid_values &&
				 st->posterior->no_change <= NO_CHANGE_MAX;

		open_side |= state == STAGE_RANGE || state == STAGE_NOT_PROVED || cut_short;
	}
	if (r->n_culprits > 1)
		end(r, OUTCOME_SEVERAL, "each was proved on fresh boots");
	else if (open_side)
		end(r, OUTCOME_SEVERAL,
		    "a second step is there, but was not narrowed down to a commit");
	else if (r->culprits[0].merge)
		end(r, OUTCOME_MERGE, "a merge whose parents are all good");
	else
		end(r, OUTCOME_CULPRIT,
		    s->config.confirm ? "proved on fresh boots against its parent"
				      : "named by the search alone");
}

static void end_of_first(const struct search *s, enum stage_state state, struct search_result *r)
{
	const struct stage *st = &s->stages.at[0];
	int zigzag[3];

	switch (state) {
	case STAGE_WANTS:
		end(r, OUTCOME_NONE, "not finished");
		break;
	case STAGE_NO_CHANGE:
		end_no_change(s, r);
		return;
	case STAGE_SAME_CODE:
		end(r, OUTCOME_NOT_REPRODUCED, "good and bad are the same program");
		return;
	case STAGE_UNTESTABLE:
		end(r, OUTCOME_UNTESTABLE, "an end of the range cannot be tested");
		return;
	case STAGE_FOUND:
		if (!r->n_culprits)
			add_culprit(s, stage_single(s, st),
				    posterior_commit(st->posterior, (size_t)stage_single(s, st)),
				    r);
		end_found(s, r);
		break;
	case STAGE_RANGE:
		end(r, OUTCOME_RANGE, "no commit that can be tested tells these apart");
		break;
	case STAGE_NOT_PROVED:
		end(r, OUTCOME_RANGE,
		    "fresh boots did not show the step between a commit and its parent");
		break;
	}
	if (state != STAGE_WANTS && find_zigzag(s, zigzag))
		end(r, OUTCOME_NOT_MONOTONE, "it goes bad, good and bad again along one line");
}

void search_result(const struct search *s, struct search_result *ret)
{
	const struct stage *first = &s->stages.at[0];
	struct search_action next;
	struct set set = {};
	enum stage_state state = stage_look(s, first, &next);

	*ret = (struct search_result){.probability = 0, .boots = s->boots};
	for (size_t i = 0; i < s->slots; i++)
		ret->builds += s->built[i];
	fill_ends(s, ret);
	add_culprits(s, ret);
	ret->no_change = first->posterior->no_change;
	end_of_first(s, state, ret);
	search_next(s, &next);
	if (s->config.budget_s > 0 && s->elapsed_s >= s->config.budget_s && (state == STAGE_WANTS))
		end(ret, OUTCOME_BUDGET, "the budget is spent");
	else if (next.kind != SEARCH_DONE)
		end(ret, OUTCOME_NONE, "not finished");
	if (ret->n_culprits) {
		VEC_PUSH(&set.at, (struct search_candidate){ret->culprits[0].commit,
							    ret->culprits[0].probability});
	} else if (posterior_update(first->posterior) && ret->outcome != OUTCOME_NOT_REPRODUCED &&
		   ret->outcome != OUTCOME_UNTESTABLE) {
		set = smallest_set(s, first);
	}
	ret->candidates = set.at.at;
	ret->n_candidates = set.at.n;
	ret->probability = set.at.n ? set.at.at[0].probability : 0;
}

void search_result_release(struct search_result *r)
{
	free(r->culprits);
	free(r->candidates);
	*r = (struct search_result){};
}
