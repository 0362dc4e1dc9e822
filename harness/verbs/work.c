// SPDX-License-Identifier: GPL-2.0-or-later
// Opening and closing what the measuring verbs work with.

#include "harness/verbs/work.h"

#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "reports/report.h"

int work_open(struct work *w, struct ctx *ctx, const char *name, struct err *err)
{
	struct job *job = NULL;

	*w = (struct work){.ctx = ctx};
	return job_load(name, &job, err) < 0 ? -(int)err->code : work_open_job(w, ctx, job, err);
}

int work_open_job(struct work *w, struct ctx *ctx, struct job *job, struct err *err)
{
	autofree char *log = NULL;

	*w = (struct work){.ctx = ctx, .job = job};
	if (ctx_store(ctx, true, &w->store, err) < 0)
		return -err->code;
	if (fs_mkdirs(ctx->cache_dir, err) < 0)
		return err_wrap(err, "cache directory '%s'", ctx->cache_dir);
	log = xasprintf("%s/culprit.log", ctx->state_dir);
	if (log_open_file(log) < 0)
		log_warn("cannot write '%s'; going on without", log);
	return 0;
}

int work_repo(struct work *w, struct err *err)
{
	const char *where = w->ctx->repo ? w->ctx->repo : w->job->repo;

	if (repo_open(where, &w->repo, err) < 0) {
		if (!where)
			err_hint(err,
				 "go to the repository under test, or name it with --repo DIR");
		return -err->code;
	}
	return 0;
}

int work_lab(struct work *w, const char *kind, const char *const *key, bool fresh, struct err *err)
{
	struct lab_spec spec = {
		.kind = kind,
		.job = w->job,
		.repo = w->repo,
		.store = w->store,
		.state_dir = w->ctx->state_dir,
		.cache_dir = w->ctx->cache_dir,
		.key = key,
		.argv = w->ctx->argv,
		.fresh = fresh,
		.unlearned = w->unlearned,
	};
	int r = lab_open(&w->lab, &spec, err);

	w->lab_open = r == 0;
	return r;
}

int work_prepare(struct work *w, struct rounds *r, struct err *err)
{
	for (size_t i = 0; i < r->n_sides; i++) {
		struct side *s = &r->sides[i];

		if (side_prepare(r->lab, s, err) < 0)
			return -err->code;
		struct side_row row = {
			.session = r->lab->session,
			.name = s->subject.name,
			.rev = (char *)s->spec.name,
			.commit_sha = s->subject.sha,
			.message = s->subject.why,
		};

		if (store_side_put(w->store, &row, err) < 0)
			return -err->code;
	}
	return 0;
}

int work_compare(struct work *w, struct rounds *r, struct err *err)
{
	autofree char *sight = NULL;
	struct noise noise;
	size_t tests;

	if (work_prepare(w, r, err) < 0)
		return -err->code;
	if (!rounds_first(r))
		return err_set(err, ERR_UNTESTABLE, "none of the columns can be tested");
	if (rounds_plan(r, plan_boots, &noise, &tests, err) < 0)
		return -err->code;
	sight = plan_sight(w->job, &noise, r->boots, tests);
	log_info("%zu columns, %u boots each with %u run%s of %zu cell%s on %s; %s", r->n_sides,
		 r->boots, r->runs, r->runs == 1 ? "" : "s", r->n_cells, r->n_cells == 1 ? "" : "s",
		 r->lab->machine_name, sight);
	return rounds_take(r, err);
}

int work_report(struct work *w, const char *format, struct err *err)
{
	autoreport struct report *report = NULL;
	autobuf out = {};

	progress_clear();
	if (!format)
		format = w->ctx->json ? "json" : "text";
	if (report_fill(w->store, w->lab.session, &report, err) < 0 ||
	    report_format(report, format, &out, err) < 0)
		return -err->code;
	fputs(buf_str(&out), stdout);
	return report_exit_status(report);
}

void work_close(struct work *w, const struct err *err)
{
	if (w->lab_open)
		lab_close(&w->lab, err);
	store_close(w->store);
	repo_close(w->repo);
	job_free(w->job);
	*w = (struct work){};
}

const struct metric *work_metric(const struct job *job, const char *chosen, struct err *err)
{
	const struct metric *found = NULL;
	autobuf names = {};
	size_t kpis = 0;

	if (chosen) {
		found = job_metric(job, chosen);
		if (!found)
			err_set(err, ERR_USAGE, "job '%s' has no metric '%s'", job->name, chosen);
		return found;
	}
	for (size_t i = 0; i < job->n_metrics; i++) {
		if (!job->metrics[i].kpi)
			continue;
		found = &job->metrics[i];
		buf_printf(&names, "%s%s", kpis++ ? ", " : "", found->name);
	}
	if (kpis == 1)
		return found;
	err_set(err, ERR_USAGE, kpis ? "job '%s' has several KPIs: %s" : "job '%s' has no KPI%s",
		job->name, buf_str(&names));
	err_hint(err, "choose one with --metric NAME");
	return NULL;
}

const struct cell *work_cell(const struct job *job, const char *chosen, struct err *err)
{
	const struct cell *cell = job_cell(job, chosen);

	if (cell)
		return cell;
	err_set(err, ERR_USAGE, "job '%s' has no cell '%s'", job->name, chosen);
	err_hint(err, "'culprit check %s' lists them", job->name);
	return NULL;
}

const struct cell **work_cells(const struct job *job, const char *chosen, size_t *ret_n,
			       struct err *err)
{
	const struct cell **cells = xcalloc(job->n_cells, sizeof(*cells));

	*ret_n = job->n_cells;
	for (size_t i = 0; i < job->n_cells; i++)
		cells[i] = &job->cells[i];
	if (!chosen)
		return cells;
	cells[0] = work_cell(job, chosen, err);
	*ret_n = 1;
	if (cells[0])
		return cells;
	free(cells);
	return NULL;
}
