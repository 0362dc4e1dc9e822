// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit check JOB`: what a job will do, cell by cell, and what it will cost.

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/job/netperf.h"
#include "harness/measure/costs.h"
#include "harness/search/search.h"
#include "harness/verbs/verbs.h"

static const size_t ranges[] = {64, 1024}; /* commits of the bisections that are told the cost of */

struct check {
	const struct job *job;
	struct job_costs costs;
	char **warnings;
};

static const char *const better_words[] = {"higher", "lower"};

static const char *source_of(const struct metric *m)
{
	return m->pattern ? "pattern" : m->json ? "json" : m->key ? "key" : "derive";
}

/* Where the job runs, without starting anything to find out. */
static const char *machine_of(const struct job *job)
{
	static const char *const accels[] = {"qemu, kvm where it works", "qemu-kvm", "qemu-tcg"};

	if (job->runner == RUNNER_MACHINE)
		return job->machine;
	if (job->runner == RUNNER_LOCAL)
		return "local";
	return job->qemu.clock == CLOCK_ICOUNT ? "qemu-tcg-icount" : accels[job->qemu.accel];
}

static void find_warnings(struct check *c)
{
	const struct job *job = c->job;
	ERR_CLEANUP struct err err = {};

	c->warnings = strv_dup(NULL);
	if (!job_kpi_count(job))
		strv_push(&c->warnings, "no metric is a KPI: 'culprit bisect' will want --metric");
	if (job_programs_here(job, &err) < 0)
		strv_pushf(&c->warnings, "%s: %s", err.message, err.hint);
	netperf_warnings(job, &c->warnings);
	if (job->repo && !fs_is_dir(job->repo))
		strv_pushf(&c->warnings, "there is no repository '%s'", job->repo);
	if (job->runner == RUNNER_QEMU && !job->is_kernel)
		strv_push(&c->warnings, "without 'kernel:' the job needs --image FILE");
}

static bool all_measured(const struct job_costs *c)
{
	return c->boot.measured && c->run.measured && (c->build.measured || c->build.seconds == 0);
}

/* A search measures one cell; the ends and the confirmation, which measure all, are a few boots
 * more. */
static struct search_forecast forecast(const struct check *c, size_t commits)
{
	struct search_config config = search_config_default();
	struct search_forecast f = {};

	config.error = c->job->error;
	config.build_s = c->costs.build.seconds;
	config.boot_s = job_costs_boot(&c->costs, 1, c->job->iterate_min);
	search_forecast(&config, commits, 0, &f);
	return f;
}

/* `run` repeats runs in its one boot where boots.max is 1, else boots of iterate.min runs. */
static double run_seconds(const struct check *c, uint32_t boots, uint32_t runs)
{
	return c->costs.build.seconds + boots * job_costs_boot(&c->costs, c->job->n_cells, runs);
}

static double run_seconds_min(const struct check *c)
{
	return run_seconds(c, c->job->boots_min, c->job->iterate_min);
}

static double run_seconds_max(const struct check *c)
{
	const struct job *job = c->job;

	return run_seconds(c, job->boots_max,
			   job->boots_max == 1 ? job->iterate_max : job->iterate_min);
}

/* --- text --- */

static void add_duration(struct buf *out, const char *label, const struct job_cost *cost)
{
	char text[32];

	buf_printf(out, "  %s", label);
	buf_pad(out, 12, ' ');
	if (!cost->measured && cost->seconds == 0)
		buf_adds(out, "nothing\n");
	else
		buf_printf(out, "%s%s\n", cost->measured ? "" : "at most ",
			   clock_format_duration(cost->seconds, text));
}

static void add_cells(const struct job *job, struct buf *out)
{
	buf_printf(out, "%zu cell%s\n", job->n_cells, job->n_cells == 1 ? "" : "s");
	for (size_t i = 0; i < job->n_cells; i++)
		if (*job->cells[i].name)
			buf_printf(out, "  %s\n", job->cells[i].name);
}

static void add_metrics(const struct job *job, struct buf *out)
{
	char centre[16];

	buf_adds(out, "metrics\n");
	for (size_t i = 0; i < job->n_metrics; i++) {
		const struct metric *m = &job->metrics[i];

		buf_printf(out, "  %s", m->name);
		buf_pad(out, 26, ' ');
		buf_printf(out, " %s", *m->unit ? m->unit : "-");
		buf_pad(out, 38, ' ');
		buf_printf(out, " %s is better, %s of runs, by %s%s%s\n", better_words[m->better],
			   centre_name(m->centre, m->quantile, centre), source_of(m),
			   m->kpi ? ", KPI" : "", m->optional ? ", optional" : "");
	}
}

static void add_cost(const struct check *c, struct buf *out)
{
	const struct job *job = c->job;
	const char *most = all_measured(&c->costs) ? "about" : "at most";
	char low[32], high[32];

	buf_printf(out, "cost, %s\n",
		   all_measured(&c->costs)
			   ? "as measured before"
			   : "as the job's time limits bound what was not measured yet");
	add_duration(out, "build", &c->costs.build);
	add_duration(out, "boot", &c->costs.boot);
	add_duration(out, "run", &c->costs.run);
	buf_printf(out, "  'culprit run': %u to %u boots, %s %s to %s\n", job->boots_min,
		   job->boots_max, most, clock_format_duration(run_seconds_min(c), low),
		   clock_format_duration(run_seconds_max(c), high));
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct search_forecast f = forecast(c, ranges[i]);

		buf_printf(out,
			   "  'culprit bisect' of %zu commits, a step of twice the noise: "
			   "%.0f builds, %.0f boots, %s %s\n",
			   ranges[i], f.builds, f.boots, most,
			   clock_format_duration(f.seconds, high));
	}
}

static void print_text(const struct check *c)
{
	const struct job *job = c->job;
	autobuf out = {};

	buf_printf(&out, "%s: %s\n%s%s", job->name, job->path, job->description,
		   *job->description ? "\n" : "");
	buf_printf(&out, "machine: %s\n", machine_of(job));
	if (job->repo)
		buf_printf(&out, "repository: %s\n", job->repo);
	add_cells(job, &out);
	add_metrics(job, &out);
	buf_printf(&out,
		   "boots: %u to %u a kernel, %u to %u runs in each, until the %.4g%% interval is "
		   "within +-%.4g%%\n",
		   job->boots_min, job->boots_max, job->iterate_min, job->iterate_max,
		   100 * job->confidence, job->interval_pct / 2);
	add_cost(c, &out);
	for (size_t i = 0; c->warnings[i]; i++)
		buf_printf(&out, "warning: %s\n", c->warnings[i]);
	fputs(buf_str(&out), stdout);
}

/* --- JSON --- */

static void set_cells(const struct job *job, struct json *document)
{
	struct json *cells = json_set(document, "cells", json_array_new());

	for (size_t i = 0; i < job->n_cells; i++) {
		struct json *cell = json_push(cells, json_object_new());

		for (size_t k = 0; k < job->cells[i].n_values; k++)
			json_set_str(cell, job->cells[i].values[k].name,
				     job->cells[i].values[k].value);
	}
}

static void set_metrics(const struct job *job, struct json *document)
{
	struct json *metrics = json_set(document, "metrics", json_array_new());
	char centre[16];

	for (size_t i = 0; i < job->n_metrics; i++) {
		const struct metric *m = &job->metrics[i];
		struct json *o = json_push(metrics, json_object_new());

		json_set_str(o, "name", m->name);
		json_set_str(o, "unit", m->unit);
		json_set_str(o, "better", better_words[m->better]);
		json_set_bool(o, "kpi", m->kpi);
		json_set_bool(o, "optional", m->optional);
		json_set_str(o, "source", source_of(m));
		json_set_str(o, "centre", centre_name(m->centre, m->quantile, centre));
	}
}

static void set_range(struct json *document, const char *key, uint32_t min, uint32_t max)
{
	struct json *range = json_set(document, key, json_object_new());

	json_set_int(range, "min", min);
	json_set_int(range, "max", max);
}

static void set_cost(struct json *costs, const char *key, const struct job_cost *cost)
{
	struct json *o = json_set(costs, key, json_object_new());

	json_set_num(o, "seconds", cost->seconds);
	json_set_bool(o, "measured", cost->measured);
}

static void set_costs(const struct check *c, struct json *document)
{
	struct json *costs = json_set(document, "cost", json_object_new());
	struct json *run, *bisect;

	set_cost(costs, "build", &c->costs.build);
	set_cost(costs, "boot", &c->costs.boot);
	set_cost(costs, "run", &c->costs.run);
	run = json_set(document, "run", json_object_new());
	json_set_num(run, "seconds_min", run_seconds_min(c));
	json_set_num(run, "seconds_max", run_seconds_max(c));
	bisect = json_set(document, "bisect", json_array_new());
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct search_forecast f = forecast(c, ranges[i]);
		struct json *o = json_push(bisect, json_object_new());

		json_set_int(o, "commits", (int64_t)ranges[i]);
		json_set_num(o, "builds", f.builds);
		json_set_num(o, "boots", f.boots);
		json_set_num(o, "seconds", f.seconds);
	}
}

static void print_json(const struct check *c)
{
	static const char *const runners[] = {"local", "qemu", "machine"};
	struct json *document = verb_document(), *warnings;
	const struct job *job = c->job;

	json_set_str(document, "job", job->name);
	json_set_str(document, "path", job->path);
	json_set_str(document, "description", job->description);
	json_set_str(document, "runner", runners[job->runner]);
	json_set_str(document, "machine", machine_of(job));
	json_set_str(document, "repo", job->repo);
	set_cells(job, document);
	set_metrics(job, document);
	set_range(document, "boots", job->boots_min, job->boots_max);
	set_range(document, "iterate", job->iterate_min, job->iterate_max);
	set_costs(c, document);
	warnings = json_set(document, "warnings", json_array_new());
	for (size_t i = 0; c->warnings[i]; i++)
		json_push(warnings, json_string_new(c->warnings[i]));
	verb_print_json(document);
}

/* A state that was never written knows of no costs. */
static int read_costs(struct ctx *ctx, struct check *c, struct err *err)
{
	autostore struct store *store = NULL;
	int rc = ctx_store(ctx, false, &store, err);

	if (rc == -ERR_NOT_FOUND) {
		err_release(err);
		rc = 0;
	}
	return rc < 0 ? rc : job_costs_read(store, c->job, &c->costs, err);
}

int verb_check(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;
	struct check c = {};
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 1, 1, &status) < 0)
		return status;
	if (job_load(argv[1], &job, &err) < 0)
		return verb_fail(ctx, &err);
	c.job = job;
	if (read_costs(ctx, &c, &err) < 0)
		return verb_fail(ctx, &err);
	find_warnings(&c);
	if (ctx->json)
		print_json(&c);
	else
		print_text(&c);
	strv_free(c.warnings);
	return 0;
}
