// SPDX-License-Identifier: GPL-2.0-or-later
// The bisection's loop: ask the engine, do it, tell it, until it is done.

#include "harness/search/bisect.h"

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/signals.h"
#include "harness/measure/plan.h"
#include "harness/search/bisection.h"

const struct metric bisect_failures = {
	.name = (char *)"failures",
	.unit = (char *)"of boots",
	.better = BETTER_LOWER,
	.kpi = true,
	.scale = 1,
	.centre = CENTRE_MEAN,
};

static int build_dag(struct bisection *b, struct err *err)
{
	const struct repo_range *range = b->spec->range;

	for (size_t i = 0; i < range->n; i++) {
		const struct range_commit *c = &range->commits[i];
		autofree int *parents = xcalloc(c->n_parents + 1, sizeof(*parents));

		for (size_t k = 0; k < c->n_parents; k++) {
			size_t outside = c->parents[k] - RANGE_OUTSIDE;

			if (c->parents[k] < RANGE_OUTSIDE)
				parents[k] = (int)c->parents[k];
			else if (streq(range->outside[outside], range->good))
				parents[k] = SEARCH_GOOD;
			else
				parents[k] = DAG_OUTSIDE(outside);
		}
		dag_add(&b->dag, parents, c->n_parents);
	}
	return dag_seal(&b->dag, range->n_outside, err);
}

static struct search_config configure(const struct bisection *b)
{
	const struct job *job = b->lab->job;
	const struct metric *metric = b->spec->metric;
	struct search_config c = search_config_default();

	c.error = job->error;
	c.min_effect = learned_min_effect_pct(b->lab, known_cell(b), metric) / 100;
	c.better = metric->better == BETTER_HIGHER ? SEARCH_HIGHER : SEARCH_LOWER;
	c.fix = b->spec->fix;
	c.binary = b->spec->failures;
	c.worse_only = true;
	c.ends_min = b->sigma > 0 ? 3 : MIN((int)job->boots_min, c.ends_min);
	c.ends_max = (int)MAX(job->boots_max, job->boots_min);
	c.revert = true;
	c.align = job->is_kernel && !job->kernel.aligned;
	c.has_base = !b->spec->range->good_is_ancestor;
	c.budget_s = (double)b->spec->budget_ns / NS_PER_S;
	c.sigma = b->sigma;
	c.seed = b->spec->seed;
	if (!job->is_kernel) {
		c.build_s = 2;
		c.boot_s = 1;
	}
	if (b->build_s > 0)
		c.build_s = b->build_s;
	if (b->boot_s > 0)
		c.boot_s = b->boot_s;
	return c;
}

/* what it will cost, before it starts */
static void say_cost(const struct bisection *b, const struct search_config *config)
{
	const struct repo_range *range = b->spec->range;
	struct search_forecast f;
	struct learned learned = learned_noise(b->lab, known_cell(b), b->spec->metric);
	autofree char *noise = learned_sentence(&learned);
	char time[32];

	search_forecast(config, range->n, 0, &f);
	log_info("%zu candidates, %s on %s: about %.0f builds and %.0f boots, %s", range->n,
		 b->spec->metric->name, b->lab->machine_name, f.builds, f.boots,
		 clock_format_duration(f.seconds, time));
	if (b->sigma > 0)
		log_info("noise between boots is %.3g %s here; a step of %.3g %s and more can be "
			 "seen",
			 b->sigma, b->spec->metric->unit, f.visible * b->sigma,
			 b->spec->metric->unit);
	else
		log_info("the smallest step it can see is %.2g times the noise between boots, "
			 "which is not known yet",
			 f.visible);
	if (noise)
		log_info("%s", noise);
}

/* from what a boot took so far, builds included */
static double seconds_left(const struct bisection *b, size_t boots_left)
{
	if (!b->boots)
		return 0;
	return (double)(clock_now_ns() - b->start_ns) / NS_PER_S / (double)b->boots *
	       (double)boots_left;
}

/* what comes next and why: on the progress line, in the journal, and with --explain on stderr */
static int announce(struct bisection *b, const struct search_action *a, struct err *err)
{
	static const char *const words[] = {[SEARCH_MEASURE] = "measure",
					    [SEARCH_BUILD] = "build",
					    [SEARCH_COMPARE] = "compare"};
	size_t left = (size_t)MAX(a->boots_left, 0);
	autojson struct json *data = NULL;
	autobuf why = {}, name = {}, text = {};

	progress_total(b->boots, b->boots + left, seconds_left(b, left));
	search_explain(b->search, a, node_name, b, &why);
	if (b->spec->explain) {
		progress_clear();
		fputs(buf_str(&why), stderr);
	}
	if (a->kind == SEARCH_DONE)
		return 0;
	node_name(a->node, &name, b);
	data = json_string_new(buf_str(&why));
	json_print(data, false, &text);
	return lab_note(b->lab, "choose", node_sha(b, a->node), 0, buf_str(&text), err, "%s %s",
			words[a->kind], buf_str(&name));
}

static int loop(struct bisection *b, struct err *err)
{
	struct search_action action;

	for (;;) {
		if (signals_check(err) < 0 || reuse_earlier(b, err) < 0)
			return -err->code;
		search_next(b->search, &action);
		if (announce(b, &action, err) < 0)
			return -err->code;
		if (action.kind == SEARCH_DONE)
			return 0;
		if (act(b, &action, err) < 0)
			return -err->code;
	}
}

/* runs per boot: fixed by the job, or from a pilot at the good end */
static int fix_runs(struct bisection *b, struct err *err)
{
	const struct cell *const *cells =
		b->cell ? (const struct cell *const *)&b->cell : b->all_cells;
	size_t n = b->cell ? 1 : b->lab->job->n_cells;
	struct slot *good;

	b->runs = b->lab->job->iterate_min;
	if (b->lab->job->iterate_min == b->lab->job->iterate_max || b->spec->failures)
		return 0;
	good = node_slot(b, SEARCH_GOOD, SEARCH_NONE, false);
	if (node_prepare(b, good, err) < 0)
		return -err->code;
	if (good->subject.untestable)
		return err_set(err, ERR_UNTESTABLE, "the good end cannot be tested: %s",
			       good->subject.why);
	return plan_runs(b->lab, &good->subject, cells, n, &b->runs, err);
}

static int start(struct bisection *b, struct err *err)
{
	const struct job *job = b->lab->job;
	struct search_config config;

	b->all_cells = xcalloc(job->n_cells, sizeof(*b->all_cells));
	for (size_t i = 0; i < job->n_cells; i++)
		b->all_cells[i] = &job->cells[i];
	b->cell = b->spec->cell				   ? b->spec->cell
		  : job->n_cells == 1 || b->spec->failures ? &job->cells[0]
							   : NULL;
	b->pruned = xcalloc(b->spec->range->n + 1, sizeof(*b->pruned));
	if (job->is_kernel && prune_new(b->lab->repo, b->spec->range, &b->prune, err) < 0)
		return -err->code;
	if (open_row(b, err) < 0 || build_dag(b, err) < 0)
		return -err->code;
	config = configure(b);
	if (search_new(&config, &b->dag, &b->search, err) < 0)
		return -err->code;
	if (!b->lab->resumed)
		say_cost(b, &config);
	return journal_replay(b, err);
}

static void bisection_release(struct bisection *b)
{
	search_free(b->search);
	dag_release(&b->dag);
	prune_free(b->prune);
	nodes_release(b);
	free(b->pruned);
	free(b->all_cells);
}

int bisect_run(struct lab *lab, const struct bisect_spec *spec, enum search_outcome *ret,
	       struct err *err)
{
	struct bisection b = {.lab = lab, .spec = spec, .start_ns = clock_now_ns()};
	int r = start(&b, err);

	if (r == 0)
		r = fix_runs(&b, err);
	if (r == 0)
		r = choose_cell(&b, err);
	if (r == 0)
		r = loop(&b, err);
	if (r == 0)
		r = write_ending(&b, ret, err);
	lab->reference = NULL; /* it pointed into the slots */
	bisection_release(&b);
	return r;
}

int bisect_exit_code(const char *outcome)
{
	if (streq(outcome, "culprit") || streq(outcome, "merge") || streq(outcome, "several"))
		return 0;
	return streq(outcome, "untestable") ? 125 : 1;
}
