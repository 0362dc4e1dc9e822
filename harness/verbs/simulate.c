// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit simulate MODEL`: the search on made-up histories, how often it is right and what it
// costs.

#include "harness/base/progress.h"
#include "harness/search/sim_model.h"
#include "harness/verbs/verbs.h"

#define JOBS_MAX 1024

struct sim_options {
	uint64_t trials, seed, jobs;
};

static uint64_t count_cpus(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? MIN((uint64_t)online, (uint64_t)JOBS_MAX) : 1;
}

static int check_options(const struct sim_options *o, struct err *err)
{
	if (o->trials < 1 || o->trials > SIM_TRIALS_MAX)
		return err_set(err, ERR_USAGE, "--trials: 1 to %d", SIM_TRIALS_MAX);
	if (o->jobs < 1 || o->jobs > JOBS_MAX)
		return err_set(err, ERR_USAGE, "--jobs: 1 to %d", JOBS_MAX);
	return 0;
}

/* --- json --- */

static void set_spread(struct json *document, const char *key, const struct sim_spread *s)
{
	struct json *o = json_set(document, key, json_object_new());

	json_set_num(o, "mean", s->mean);
	json_set_num(o, "p95", s->p95);
}

static void print_json(const struct sim_report *r)
{
	struct json *document = verb_document();
	struct json *outcomes, *rate;

	json_set_int(document, "trials", r->trials);
	json_set_int(document, "right", r->right);
	json_set_int(document, "wrong", r->wrong);
	json_set_int(document, "in_set", r->in_set);
	json_set_int(document, "all", r->all);
	outcomes = json_set(document, "outcomes", json_object_new());
	for (int i = OUTCOME_CULPRIT; i <= OUTCOME_BUDGET; i++)
		json_set_int(outcomes, search_outcome_name(i), r->outcomes[i]);
	set_spread(document, "boots", &r->boots);
	set_spread(document, "builds", &r->builds);
	set_spread(document, "cost", &r->cost);
	rate = json_set(document, "wrong_rate", json_object_new());
	json_set_num(rate, "low", r->wrong_low);
	json_set_num(rate, "high", r->wrong_high);
	json_set_num(document, "set_size", r->set_size);
	verb_print_json(document);
}

/* --- text --- */

static void add_history(const struct sim_model *m, uint64_t seed, int trials, struct buf *out)
{
	buf_printf(out, "%d searches of %d commit%s", trials, m->commits,
		   m->commits == 1 ? "" : "s");
	if (m->merges)
		buf_printf(out, " with %d merge%s", m->merges, m->merges == 1 ? "" : "s");
	buf_adds(out, m->n_steps ? ", planted" : ", no step planted");
	for (int i = 0; i < m->n_steps; i++)
		buf_printf(out, "%s %g sigma", i ? " and" : "", m->steps[i].delta);
	buf_printf(out, ", seed %llu\n\n", (unsigned long long)seed);
}

static void add_count(struct buf *out, const char *label, int n, int trials, const char *what)
{
	buf_printf(out, "  %s", label);
	buf_pad(out, 18, ' ');
	buf_printf(out, "%8d  %5.1f%%%s%s\n", n, 100.0 * n / trials, *what ? "  " : "", what);
}

static void add_spread(struct buf *out, const char *label, const struct sim_spread *s)
{
	buf_printf(out, "  %s", label);
	buf_pad(out, 18, ' ');
	buf_printf(out, "%8.1f  %6.1f\n", s->mean, s->p95);
}

static void print_text(const struct sim_model *m, const struct sim_report *r, uint64_t seed)
{
	bool planted = false;
	autobuf out = {};

	for (int i = 0; i < m->n_steps; i++)
		planted |= m->steps[i].delta != 0;
	add_history(m, seed, r->trials, &out);
	add_count(&out, "right", r->right, r->trials,
		  planted ? "a planted step was named" : "nothing was named");
	add_count(&out, "wrong", r->wrong, r->trials, "another commit was named");
	buf_printf(&out, "                     95%% limits of that rate: %.2f%% to %.2f%%\n",
		   100 * r->wrong_low, 100 * r->wrong_high);
	add_count(&out, "in the set", r->in_set, r->trials,
		  planted ? "a planted step was named or reported as a candidate"
			  : "nothing was named");
	if (planted && m->n_steps > 1)
		add_count(&out, "all", r->all, r->trials, "every planted step was named");
	buf_adds(&out, "\nOutcomes\n");
	for (int i = OUTCOME_CULPRIT; i <= OUTCOME_BUDGET; i++)
		if (r->outcomes[i])
			add_count(&out, search_outcome_name(i), r->outcomes[i], r->trials, "");
	buf_adds(&out, "\nA search took         mean     95%\n");
	add_spread(&out, "boots", &r->boots);
	add_spread(&out, "builds", &r->builds);
	add_spread(&out, "cost", &r->cost);
	fputs(buf_str(&out), stdout);
}

int verb_simulate(struct ctx *ctx, int argc, char **argv)
{
	struct sim_options o = {.trials = 400, .seed = 1, .jobs = count_cpus()};
	const struct opt options[] = {
		{"trials", 0, OPT_U64, &o.trials, "N", "searches, 400 by default"},
		{"seed", 0, OPT_U64, &o.seed, "N",
		 "of the histories and their noise, 1 by default"},
		{"jobs", 0, OPT_U64, &o.jobs, "N",
		 "processes, by default one a CPU; the result is the same"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct sim_model model;
	struct sim_report report;
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (check_options(&o, &err) < 0 || sim_model_load(argv[1], &model, &err) < 0 ||
	    simulate(&model, (int)o.trials, o.seed, (int)o.jobs, &report, &err) < 0)
		return verb_fail(ctx, &err);
	progress_clear();
	if (ctx->json)
		print_json(&report);
	else
		print_text(&model, &report, o.seed);
	return 0;
}
