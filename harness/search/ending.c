// SPDX-License-Identifier: GPL-2.0-or-later
// The bisection's row: what it was asked, and how it ended.

#include "harness/base/log.h"
#include "harness/measure/costs.h"
#include "harness/measure/plan.h"
#include "harness/search/bisection.h"

#include <math.h>

static char *print(struct json *document)
{
	autobuf text = {};

	json_print(document, false, &text);
	json_free(document);
	return buf_take(&text);
}

const struct cell *known_cell(const struct bisection *b)
{
	return b->spec->cell ? b->spec->cell : &b->lab->job->cells[0];
}

static char *options_json(const struct bisection *b)
{
	struct json *o = json_object_new();

	json_set_num(o, "sigma", b->sigma);
	json_set_num(o, "build_s", b->build_s);
	json_set_num(o, "boot_s", b->boot_s);
	json_set_num(o, "error", b->lab->job->error);
	json_set_num(o, "min_effect_pct",
		     learned_min_effect_pct(b->lab, known_cell(b), b->spec->metric));
	json_set_num(o, "budget_s", (double)b->spec->budget_ns / 1e9);
	json_set_bool(o, "aligned", b->lab->job->kernel.aligned);
	if (b->spec->fix)
		json_set_bool(o, "fix", true);
	if (b->spec->failures)
		json_set_bool(o, "failures", true);
	return print(o);
}

static struct bisection_row new_row(const struct bisection *b)
{
	const struct repo_range *range = b->spec->range;

	return (struct bisection_row){
		.session = b->lab->session,
		.good = xstrdup(range->good),
		.bad = xstrdup(range->commits[range->n - 1].sha),
		.metric = xstrdup(b->spec->metric->name),
		.unit = xstrdup(b->spec->metric->unit),
		.cell = xstrdup(b->cell && !(b->spec->failures && !b->spec->cell) ? b->cell->name
										  : ""),
		.better_higher = b->spec->metric->better == BETTER_HIGHER,
		.seed = b->spec->seed,
		.options = options_json(b),
		.outcome = xstrdup(""),
		.culprits = xstrdup("[]"),
		.candidates = xstrdup("[]"),
		.checks = xstrdup("{}"),
		.notes = xstrdup("[]"),
		.probability = NAN,
		.effect_pct = NAN,
		.effect_low = NAN,
		.effect_high = NAN,
		.effect_good = NAN,
		.effect_bad = NAN,
		.smallest_effect_pct = NAN,
		.regained_pct = NAN,
		.n_candidates = (int64_t)range->n,
	};
}

/* noise that was known when the session began stays what it was: the engine is a function of its
 * journal */
static void read_options(struct bisection *b, const char *text)
{
	ERR_CLEANUP struct err err = {};
	autojson struct json *o = NULL;

	if (json_parse(text, strlen(text), &o, &err) < 0)
		return;
	json_num(json_get(o, "sigma"), &b->sigma);
	json_num(json_get(o, "build_s"), &b->build_s);
	json_num(json_get(o, "boot_s"), &b->boot_s);
}

/* noise and costs as earlier sessions on this machine know them; 0 where they do not */
static int learn(struct bisection *b, const struct cell *cell, struct err *err)
{
	const struct job *job = b->lab->job;
	struct job_costs costs = {};
	struct noise noise = {};

	if (b->spec->fresh)
		return 0;
	if (plan_noise(b->lab, cell, b->spec->metric, &noise, err) < 0 ||
	    job_costs_read(b->lab->store, job, &costs, err) < 0)
		return -err->code;
	if (noise.known)
		b->sigma = noise.sigma;
	if (costs.build.measured)
		b->build_s = costs.build.seconds;
	if (costs.boot.measured && costs.run.measured)
		b->boot_s = job_costs_boot(&costs, 1, job->iterate_min);
	return 0;
}

int open_row(struct bisection *b, struct err *err)
{
	const struct cell *cell = known_cell(b);
	struct bisection_row row = {};
	int r = b->lab->resumed ? store_bisection_get(b->lab->store, b->lab->session, &row, err)
				: 0;

	if (r < 0 && err->code != ERR_NOT_FOUND)
		return r;
	if (r >= 0 && b->lab->resumed) {
		read_options(b, row.options);
		bisection_row_release(&row);
		return 0;
	}
	err_release(err);
	if (learn(b, cell, err) < 0)
		return -err->code;
	row = new_row(b);
	r = store_bisection_put(b->lab->store, &row, err);
	bisection_row_release(&row);
	return r;
}

/* --- the end --- */

static char *culprits_json(const struct bisection *b, const struct search_result *r)
{
	struct json *list = json_array_new();

	for (size_t i = 0; i < r->n_culprits; i++)
		json_push(list, json_string_new(node_sha(b, r->culprits[i].commit)));
	return print(list);
}

static char *candidates_json(const struct bisection *b, const struct search_result *r)
{
	struct json *list = json_array_new();

	for (size_t i = 0; i < r->n_candidates; i++) {
		struct json *c = json_push(list, json_object_new());

		json_set_str(c, "commit", node_sha(b, r->candidates[i].commit));
		json_set_num(c, "probability", r->candidates[i].probability);
	}
	return print(list);
}

static char *checks_json(const struct search_culprit *culprit)
{
	struct json *o = json_object_new();

	for (enum search_check c = 0; c < CHECKS; c++)
		json_set_str(o, search_check_name(c),
			     search_verdict_name(culprit ? culprit->checks[c] : CHECK_NOT_RUN));
	return print(o);
}

/* both sides are good and what they make together is not: one of them on top of the other tells
 * which of its commits it takes */
static char *replay_note(const struct bisection *b, const struct search_culprit *c)
{
	const char *merge = node_sha(b, c->commit);

	return xasprintf("to search the side branch, replayed on the other parent: "
			 "git worktree add --detach DIR %.12s^2 && "
			 "git -C DIR rebase --onto %.12s^1 %.12s^1 && "
			 "culprit --repo DIR bisect %s %.12s^1..HEAD",
			 merge, merge, merge, b->lab->job->path, merge);
}

/* a first look's own number is the noise model's, which nobody checked so far out: its limit is
 * said */
static char *proof_note(const struct bisection *b, const struct search_culprit *c)
{
	const char *sha = node_sha(b, c->commit);

	if (c->proved_early)
		return xasprintf(
			"fresh boots of %.12s and its parent are alike with p under %g, by "
			"the noise of all boots of the search; ranks of so few boots alone "
			"cannot say as much",
			sha, TRIAL_EARLY_ALPHA);
	return xasprintf("fresh boots of %.12s and its parent are alike with p = %.2g", sha,
			 c->p_value);
}

static char *notes_json(const struct bisection *b, const struct search_result *r)
{
	struct json *list = json_array_new();

	json_push(list, json_string_new(r->reason));
	if (!b->spec->range->good_is_ancestor) {
		autofree char *note =
			xasprintf("good %.12s is no ancestor of bad; their merge base %.12s is the "
				  "good end",
				  b->spec->good, b->spec->range->good);

		json_push(list, json_string_new(note));
	}
	for (size_t i = 0; i < r->n_culprits; i++) {
		const struct search_culprit *c = &r->culprits[i];
		autofree char *note = NULL;

		if (c->effect.boots && isfinite(c->p_value)) {
			autofree char *proof = proof_note(b, c);

			json_push(list, json_string_new(proof));
		}
		if (c->merge) {
			autofree char *replay = replay_note(b, c);

			json_push(list, json_string_new(replay));
		}
		if (!isfinite(c->regained))
			continue;
		note = xasprintf(b->spec->fix
					 ? "bad with %.12s reverted gives up %.0f%% of the gain"
					 : "bad with %.12s reverted regains %.0f%% of the loss",
				 node_sha(b, c->commit), 100 * c->regained);
		json_push(list, json_string_new(note));
	}
	if (b->lab->job->kernel.aligned && r->n_culprits)
		json_push(list,
			  json_string_new(
				  "all kernels were built with 64-byte function alignment, so the "
				  "measured step is not one of code layout"));
	if (b->sigma > 0)
		json_push(list,
			  json_string_new(
				  "the noise of this machine was known from earlier sessions"));
	if (b->reused) {
		autofree char *note = xasprintf(
			"%zu boot values of earlier sessions, which agree with the ends as "
			"measured "
			"now, helped to narrow down; effect and checks are of this session alone",
			b->reused);

		json_push(list, json_string_new(note));
	}
	return print(list);
}

static void fill_effect(struct bisection_row *row, const struct search_result *r)
{
	const struct search_effect *e =
		r->n_culprits && r->culprits[0].effect.boots ? &r->culprits[0].effect : NULL;

	if (!e && r->outcome != OUTCOME_RANGE && r->outcome != OUTCOME_BUDGET &&
	    r->outcome != OUTCOME_NOT_MONOTONE)
		return;
	if (!e) /* never confirmed: what the ends showed */
		e = &r->ends;
	row->effect_pct = e->percent;
	row->effect_low = e->low;
	row->effect_high = e->high;
	row->effect_good = e->good;
	row->effect_bad = e->bad;
}

static void replace(char **field, char *text)
{
	free(*field);
	*field = text;
}

static void fill_row(const struct bisection *b, const struct search_result *r,
		     struct bisection_row *row)
{
	const struct search_culprit *first = r->n_culprits ? &r->culprits[0] : NULL;

	if (!b->spec->failures) /* all cells are run where none was chosen */
		replace(&row->cell, xstrdup(b->cell->name));
	replace(&row->outcome, xstrdup(search_outcome_name(r->outcome)));
	replace(&row->culprit, first ? xstrdup(node_sha(b, first->commit)) : NULL);
	replace(&row->culprits, culprits_json(b, r));
	replace(&row->candidates, candidates_json(b, r));
	replace(&row->checks, checks_json(first));
	replace(&row->notes, notes_json(b, r));
	row->probability = r->probability;
	row->smallest_effect_pct = r->visible_pct;
	row->regained_pct = first ? 100 * first->regained : NAN;
	fill_effect(row, r);
}

/* subjects and authors of what the report names */
static int store_named_commits(struct bisection *b, const struct search_result *r, struct err *err)
{
	for (size_t i = 0; i < r->n_candidates + r->n_culprits; i++) {
		int node = i < r->n_candidates ? r->candidates[i].commit
					       : r->culprits[i - r->n_candidates].commit;

		if (subject_record_commit(b->lab, node_sha(b, node), err) < 0)
			return -err->code;
	}
	return 0;
}

/* bad touches none of the paths that were asked for: a step there is one of the commits left out */
static void refuse_end(const struct bisection *b, struct search_result *r)
{
	bool at_end = false;

	for (size_t i = 0; i < r->n_culprits; i++)
		at_end |= r->culprits[i].commit == (int)b->spec->range->n - 1;
	if (!at_end || !b->spec->range->bad_is_only_end)
		return;
	r->outcome = OUTCOME_RANGE;
	r->reason =
		"the step came after the last commit that touches the paths: search without them";
	r->n_culprits = 0;
}

int write_ending(struct bisection *b, enum search_outcome *ret, struct err *err)
{
	struct search_result result = {};
	struct bisection_row row = {};
	int r = store_bisection_get(b->lab->store, b->lab->session, &row, err);

	if (r < 0)
		return r;
	search_result(b->search, &result);
	refuse_end(b, &result);
	fill_row(b, &result, &row);
	r = store_named_commits(b, &result, err);
	if (r == 0)
		r = store_bisection_put(b->lab->store, &row, err);
	if (r == 0)
		r = lab_note(b->lab, "end", row.culprit, 0, NULL, err, "%s: %s", row.outcome,
			     result.reason);
	*ret = result.outcome;
	bisection_row_release(&row);
	search_result_release(&result);
	return r;
}
