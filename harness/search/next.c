// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's answers: what to do next, and why.
#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/power.h"

#define LIVE_P	1e-4
#define LEADING 5

/* Bits that are still missing about which commit it was. */
static double missing_bits(const struct search *s, const struct posterior *p, int *ret_live)
{
	double bits = 0;

	*ret_live = 0;
	for (size_t i = 0; i < s->dag.n; i++) {
		double c = posterior_commit(p, i);

		*ret_live += c > LIVE_P;
		if (c > 0)
			bits -= c * log2(c);
	}
	return bits;
}

/* A guess for the progress line: what is missing at the rate of this step, and the proof. */
static void guess_rest(const struct search *s, const struct stage *st, struct search_action *a)
{
	struct posterior *p = st->posterior;
	struct search_forecast f;
	double bits, rate;

	if (!posterior_update(p) || p->no_change > NO_CHANGE_MAX) {
		search_forecast(&s->config, s->dag.n, 0, &f);
		a->no_change = p->no_change;
		a->live = (int)s->dag.n;
		a->boots_left = (int)fmax(f.boots - s->boots, a->boots);
		a->builds_left = (int)fmax(f.builds - 2, 0);
		return;
	}
	a->no_change = p->no_change;
	bits = missing_bits(s, p, &a->live);
	rate = a->information > 0 ? fmin(a->information / fmax(a->boots, 1), 1) : 1;
	a->boots_left = (int)fmin(bits / rate, 1e6);
	a->builds_left = (int)bits;
	if (s->config.confirm && st->culprit == SEARCH_NONE)
		a->boots_left += 2 * trial_boots(fabs(posterior_step(p)));
}

/* The good that the user named, where it is no ancestor of bad: only if the range shows no step. */
static bool ahead_wants(const struct search *s, enum stage_state first, struct search_action *ret)
{
	size_t wanted = node_count(s, bad_end(s), -1);

	if (!s->config.has_base || (first != STAGE_NO_CHANGE && first != STAGE_SAME_CODE) ||
	    node_untestable(s, SEARCH_AHEAD))
		return false;
	wanted = MAX(MIN(wanted, (size_t)20), (size_t)s->config.ends_min);
	if (node_count(s, SEARCH_AHEAD, -1) >= wanted)
		return false;
	ret->kind = SEARCH_MEASURE;
	ret->node = SEARCH_AHEAD;
	ret->purpose = SEARCH_END;
	ret->boots = (int)(wanted - node_count(s, SEARCH_AHEAD, -1));
	ret->cost_s = ret->boots * s->boot_s;
	ret->p_buildable = 1;
	return true;
}

void search_next(const struct search *s, struct search_action *ret)
{
	enum stage_state first = STAGE_WANTS;

	for (size_t i = 0; i < s->stages.n; i++) {
		const struct stage *st = &s->stages.at[i];
		enum stage_state state;

		*ret = (struct search_action){.kind = SEARCH_DONE,
					      .node = SEARCH_NONE,
					      .target = SEARCH_NONE,
					      .partner = SEARCH_NONE};
		if (s->config.budget_s > 0 && s->elapsed_s >= s->config.budget_s)
			return;
		state = stage_look(s, st, ret);
		if (i == 0)
			first = state;
		if (state == STAGE_WANTS || (state == STAGE_FOUND && st->culprit != SEARCH_NONE &&
					     culprit_wants(s, st->culprit, ret))) {
			guess_rest(s, st, ret);
			return;
		}
	}
	*ret = (struct search_action){.kind = SEARCH_DONE,
				      .node = SEARCH_NONE,
				      .target = SEARCH_NONE,
				      .partner = SEARCH_NONE};
	ahead_wants(s, first, ret);
}

/* The question that an action belongs to: the first without an answer. */
static const struct stage *asking(const struct search *s)
{
	struct search_action a;

	for (size_t i = 0; i < s->stages.n; i++)
		if (stage_look(s, &s->stages.at[i], &a) == STAGE_WANTS)
			return &s->stages.at[i];
	return &s->stages.at[0];
}

static void explain_leading(const struct search *s, const struct posterior *p, search_name_fn *name,
			    void *arg, struct buf *out)
{
	int best[LEADING];
	size_t n = 0;

	for (size_t i = 0; i < s->dag.n; i++) {
		size_t at = n;

		if (!(posterior_commit(p, i) > LIVE_P))
			continue;
		if (n == LEADING &&
		    posterior_commit(p, i) <= posterior_commit(p, (size_t)best[n - 1]))
			continue;
		if (n < LEADING)
			n++;
		else
			at--;
		for (; at > 0 && posterior_commit(p, (size_t)best[at - 1]) < posterior_commit(p, i);
		     at--)
			best[at] = best[at - 1];
		best[at] = (int)i;
	}
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "  %5.1f%%  ", 100 * posterior_commit(p, (size_t)best[i]));
		name(best[i], out, arg);
		buf_addch(out, '\n');
	}
}

static void explain_ruled_out(const struct search *s, const struct search_action *action,
			      struct buf *out)
{
	size_t joined = 0, pruned = 0;

	for (size_t i = 0; i < s->dag.n; i++) {
		joined += !(s->weight[i] > 0);
		pruned += s->weight[i] > 0 && s->prior[i] < 0.5;
	}
	buf_printf(out, "  %d of %zu candidates left", action->live, s->dag.n);
	if (joined)
		buf_printf(out, ", %zu are the same code as a neighbour", joined);
	if (pruned)
		buf_printf(out, ", %zu touch nothing that is built", pruned);
	buf_printf(out, "; P(no change) %.2g\n", action->no_change);
}

static void explain_action(const struct search_action *a, search_name_fn *name, void *arg,
			   struct buf *out)
{
	static const char *const why[] = {
		[SEARCH_END] = "the ends first: is there a step, does the machine stay where it is",
		[SEARCH_CONFIRM] = "proof on fresh boots, in turn with the parent",
		[SEARCH_REVERTED] = "does the loss go away without it",
		[SEARCH_ALIGNED] = "is the step still there with aligned functions",
	};

	if (a->kind == SEARCH_BUILD)
		buf_adds(out, "build ");
	else if (a->kind == SEARCH_COMPARE)
		buf_adds(out, "compare code and config of ");
	else
		buf_printf(out, "%d boot%s of ", a->boots, a->boots == 1 ? "" : "s");
	name(a->node, out, arg);
	if (a->kind == SEARCH_COMPARE) {
		buf_adds(out, " and its parent ");
		name(a->partner, out, arg);
	} else if (a->kind == SEARCH_BUILD) {
		buf_adds(out, ": nothing is named before it and its parent are built");
	} else if (a->purpose == SEARCH_STEP) {
		buf_printf(out, ": %.3f bits for %.3g s, the most per second", a->information,
			   a->cost_s);
		if (a->p_buildable < 1)
			buf_printf(out, " (builds with chance %.2f)", a->p_buildable);
	} else {
		buf_printf(out, ": %s", why[a->purpose]);
	}
	buf_addch(out, '\n');
}

void search_explain(const struct search *s, const struct search_action *action,
		    search_name_fn *name, void *arg, struct buf *out)
{
	const struct stage *st = asking(s);

	if (action->kind == SEARCH_DONE)
		return;
	explain_action(action, name, arg, out);
	if (!posterior_update(st->posterior))
		return;
	explain_leading(s, st->posterior, name, arg, out);
	explain_ruled_out(s, action, out);
}

void search_forecast(const struct search_config *config, size_t candidates, double step,
		     struct search_forecast *ret)
{
	double bits = log2((double)candidates + 1), d = step > 0 ? step : 2;

	/* least squares through simulated searches of 64 and 1024 commits at d = 1, 2, 4 */
	ret->boots = 7.4 + 1.65 * bits + (64 + 8.5 * bits) / (d * d);
	ret->builds = 2 + 1.05 * bits;
	if (config->confirm) {
		ret->boots += 2 * trial_boots(d);
		ret->builds += 1;
	}
	ret->seconds = ret->builds * config->build_s + ret->boots * config->boot_s;
	ret->visible = power_detectable(1, (size_t)config->ends_max, config->error, POWER_DEFAULT);
}
