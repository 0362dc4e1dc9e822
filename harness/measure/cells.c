// SPDX-License-Identifier: GPL-2.0-or-later
// Runs: environment, request, parsing, row; and the boot values they add up to.

#include "harness/measure/cells.h"

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/rng.h"
#include "harness/measure/identity.h"
#include "harness/measure/parse.h"
#include "harness/stats/interval.h"
#include "harness/stats/summary.h"

#include <math.h>

#define OUTPUT_MAX  ((size_t)16 << 20)
#define OUTPUT_KEPT ((size_t)256 << 10)

/* the values of one cell's runs so far: one column a metric */
struct cell_values {
	VEC(double) * metric;
	uint32_t done;
};

struct in_boot {
	struct lab *lab;
	const struct boot_plan *plan;
	struct boot *boot;
	int64_t boot_id;
	struct boot_result *result;
	struct cell_values *cells; /* as plan->cells */
};

static char **run_environment(const struct in_boot *b, const struct cell *cell, uint32_t number)
{
	char **env = cell ? cell_environment(cell) : NULL;

	strv_pushf(&env, "CULPRIT_COMMIT=%s", b->plan->subject->sha ? b->plan->subject->sha : "");
	strv_pushf(&env, "CULPRIT_BOOT=%lld", (long long)b->boot_id);
	if (cell) {
		strv_pushf(&env, "CULPRIT_CELL=%s", cell->name);
		strv_pushf(&env, "CULPRIT_RUN=%u", number);
	}
	return env;
}

static int execute(const struct in_boot *b, const struct command *command, const struct cell *cell,
		   uint32_t number, bool keep_children, struct run_reply *ret, struct err *err)
{
	autostrv char **env = run_environment(b, cell, number);
	struct run_request request = {
		.argv = (const char *const *)command->argv,
		.env = (const char *const *)env,
		.timeout_ns = command->timeout_ns,
		.output_max = OUTPUT_MAX,
		.keep_children = keep_children,
	};

	return boot_run(b->boot, &request, ret, err);
}

/* "exited with 127: sh: 1: ./bench: not found"; NULL for a run that went well */
static char *run_problem(const struct run_reply *r, int64_t timeout_ns)
{
	autobuf text = {};
	const char *end = buf_str(&r->output);
	size_t len = strlen(end), from = len > 200 ? len - 200 : 0;
	char duration[32];

	switch (r->end) {
	case RUN_EXITED:
		if (r->code == 0 && r->output_total <= OUTPUT_MAX)
			return NULL;
		if (r->code == 0)
			return xasprintf("printed %llu bytes, more than the %zu MiB that are read",
					 (unsigned long long)r->output_total, OUTPUT_MAX >> 20);
		buf_printf(&text, "exited with %d", r->code);
		break;
	case RUN_SIGNALED:
		buf_printf(&text, "was killed by signal %d", r->code);
		break;
	case RUN_DEADLINE:
		buf_printf(&text, "did not end within %s",
			   clock_format_duration((double)timeout_ns / NS_PER_S, duration));
		break;
	case RUN_NOT_STARTED:
		buf_printf(&text, "could not start: %s", strerror(r->code));
		break;
	}
	if (len) {
		buf_adds(&text, ": ");
		buf_add_safe(&text, end + from, len - from, 200, false);
	}
	return buf_take(&text);
}

/* keeps head and tail of a long output; what is between is named */
static void kept_output(const struct run_reply *r, struct buf *out)
{
	size_t half = OUTPUT_KEPT / 2;

	if (r->output.len <= OUTPUT_KEPT) {
		buf_add(out, r->output.data, r->output.len);
		return;
	}
	buf_add(out, r->output.data, half);
	buf_printf(out, "\n[... %zu bytes left out ...]\n", r->output.len - 2 * half);
	buf_add(out, r->output.data + r->output.len - half, half);
}

static char *parse_problems(const struct parsed *parsed)
{
	autobuf text = {};

	for (size_t i = 0; i < parsed->n; i++)
		if (parsed->values[i].why)
			buf_printf(&text, "%smetric '%s': %s", text.len ? "; " : "",
				   parsed->values[i].metric->name, parsed->values[i].why);
	return text.len ? buf_take(&text) : NULL;
}

static int store_run(struct in_boot *b, const struct cell *cell, uint32_t number,
		     const struct run_reply *reply, const struct parsed *parsed,
		     const char *problem, struct err *err)
{
	autofree struct sample_row *samples = xcalloc(parsed->n + 1, sizeof(*samples));
	autobuf output = {};
	size_t n = 0;
	int64_t id;

	for (size_t i = 0; i < parsed->n; i++)
		if (parsed->values[i].present)
			samples[n++] = (struct sample_row){parsed->values[i].metric->name,
							   parsed->values[i].metric->unit,
							   parsed->values[i].value};
	kept_output(reply, &output);
	struct run_row row = {
		.boot = b->boot_id,
		.cell = cell->name,
		.number = number,
		.status = (char *)(problem ? "failed" : "ok"),
		.message = (char *)(problem ? problem : ""),
		.exit_code = reply->end == RUN_EXITED ? reply->code : -1,
		.signal = reply->end == RUN_SIGNALED ? reply->code : 0,
		.seconds = reply->seconds,
		.user_s = reply->user_s,
		.sys_s = reply->sys_s,
		.voluntary_switches = reply->voluntary_switches,
		.involuntary_switches = reply->involuntary_switches,
		.max_rss_bytes = reply->max_rss_bytes,
		.output = output.data,
		.output_len = output.len,
		.output_total = (int64_t)reply->output_total,
	};
	return store_run_add(b->lab->store, &row, samples, n, &id, err);
}

/* what a problem means for people: once in the log, and as the boot's message */
static void note_problem(struct in_boot *b, const struct cell *cell, uint32_t number,
			 const char *problem)
{
	if (!b->result->message)
		b->result->message = xasprintf("%s%srun %u %s", cell->name, *cell->name ? ": " : "",
					       number, problem);
	log_debug("%s: cell '%s': run %u %s", b->plan->subject->name, cell->name, number, problem);
}

static int one_run(struct in_boot *b, size_t index, uint32_t number, struct err *err)
{
	const struct cell *cell = b->plan->cells[index];
	struct run_reply reply = {};
	struct parsed parsed = {};
	autofree char *problem = NULL;
	int64_t start_ns = clock_now_ns();
	int r;

	progress_detail("%s%srun %u of %u", cell->name, *cell->name ? ": " : "", number,
			MAX(b->plan->runs, b->plan->runs_max));
	r = execute(b, &b->lab->job->run, cell, number, false, &reply, err);
	if (r < 0)
		return r;
	b->result->run_seconds += (double)(clock_now_ns() - start_ns) / NS_PER_S;
	problem = run_problem(&reply, b->lab->job->run.timeout_ns);
	if (!problem) {
		r = parse_output(b->lab->job, cell, buf_str(&reply.output), reply.output.len,
				 &parsed, err);
		problem = r < 0 ? NULL : parse_problems(&parsed);
	}
	if (r == 0)
		r = store_run(b, cell, number, &reply, &parsed, problem, err);
	for (size_t i = 0; r == 0 && i < parsed.n; i++)
		if (parsed.values[i].present)
			VEC_PUSH(&b->cells[index].metric[i], parsed.values[i].value);
	if (problem)
		note_problem(b, cell, number, problem);
	b->result->failed_runs += problem != NULL;
	b->cells[index].done++;
	parsed_release(&parsed);
	run_reply_release(&reply);
	return r;
}

static bool cell_converged(const struct in_boot *b, size_t index)
{
	const struct job *job = b->lab->job;
	struct stats_goal goal = {job->confidence, job->interval_pct, job->interval_floor};

	for (size_t i = 0; i < job->n_metrics; i++) {
		const double *v = b->cells[index].metric[i].at;
		size_t n = b->cells[index].metric[i].n;

		if (job->metrics[i].kpi &&
		    !stats_converged(n, values_mean(v, n), values_sd(v, n), &goal))
			return false;
	}
	return true;
}

static int run_cell(struct in_boot *b, size_t index, struct err *err)
{
	uint32_t most = MAX(b->plan->runs, b->plan->runs_max);

	for (uint32_t number = 1; number <= most; number++) {
		int r;

		if (number > b->plan->runs && cell_converged(b, index))
			return 0;
		r = one_run(b, index, number, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run_setup(struct in_boot *b, struct err *err)
{
	const struct command *setup = &b->lab->job->setup;
	struct run_reply reply = {};
	autofree char *problem = NULL;

	if (!setup->argv)
		return 0;
	if (execute(b, setup, NULL, 0, true, &reply, err) < 0)
		return -err->code;
	problem = run_problem(&reply, setup->timeout_ns);
	run_reply_release(&reply);
	if (!problem)
		return boot_identify_modules(b->lab, b->plan->subject, b->boot, err);
	err_set(err, b->lab->job->runner == RUNNER_LOCAL ? ERR_UNTESTABLE : ERR_INFRA,
		"the job's setup %s", problem);
	err_phase(err, "setup");
	return -err->code;
}

static void run_teardown(struct in_boot *b)
{
	ERR_CLEANUP struct err err = {};
	struct run_reply reply = {};

	if (!b->lab->job->teardown.argv)
		return;
	if (execute(b, &b->lab->job->teardown, NULL, 0, false, &reply, &err) < 0)
		log_warn("teardown: %s", err.message);
	run_reply_release(&reply);
}

static void sum_up(struct in_boot *b)
{
	const struct job *job = b->lab->job;

	for (size_t c = 0; c < b->plan->n_cells; c++) {
		for (size_t i = 0; i < job->n_metrics; i++) {
			const struct metric *m = &job->metrics[i];
			size_t n = b->cells[c].metric[i].n;
			struct boot_value v = {
				.cell = b->plan->cells[c],
				.metric = m,
				.value = centre_value(m->centre, m->quantile,
						      b->cells[c].metric[i].at, n),
				.runs = n,
			};
			if (n)
				VEC_PUSH(&b->result->values, v);
		}
	}
}

static void free_values(struct in_boot *b)
{
	for (size_t c = 0; c < b->plan->n_cells; c++) {
		for (size_t i = 0; i < b->lab->job->n_metrics; i++)
			VEC_FREE(&b->cells[c].metric[i]);
		free(b->cells[c].metric);
	}
	free(b->cells);
}

int cells_run(struct lab *lab, const struct boot_plan *plan, struct boot *boot, int64_t boot_id,
	      struct boot_result *result, struct err *err)
{
	struct in_boot b = {lab,     plan,   boot,
			    boot_id, result, xcalloc(plan->n_cells, sizeof(*b.cells))};
	autofree size_t *order = xcalloc(plan->n_cells + 1, sizeof(*order));
	struct rng rng;
	int r;

	rng_seed(&rng, plan->seed);
	for (size_t i = 0; i < plan->n_cells; i++) {
		order[i] = i;
		b.cells[i].metric = xcalloc(lab->job->n_metrics, sizeof(*b.cells[i].metric));
	}
	rng_shuffle(&rng, order, plan->n_cells);
	r = run_setup(&b, err);
	for (size_t i = 0; r == 0 && i < plan->n_cells; i++)
		r = run_cell(&b, order[i], err);
	if (r == 0) {
		run_teardown(&b);
		sum_up(&b);
	}
	free_values(&b);
	return r;
}
