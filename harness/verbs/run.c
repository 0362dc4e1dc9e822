// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit run JOB [REV]`: one commit, measured until the numbers are sure.

#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/measure/column.h"
#include "harness/measure/plan.h"
#include "harness/measure/series.h"
#include "harness/stats/interval.h"
#include "harness/stats/summary.h"
#include "harness/verbs/work.h"

struct run_options {
	const char *cell, *image, *modules;
	uint64_t seed;
	bool here;
};

/* every KPI of every cell as sure as the job asks */
static bool all_converged(const struct work *w, const struct series *s, const struct cell **cells,
			  size_t n)
{
	const struct job *job = w->job;
	struct stats_goal goal = {job->confidence, job->interval_pct, job->interval_floor};

	for (size_t c = 0; c < n; c++) {
		for (size_t m = 0; m < job->n_metrics; m++) {
			size_t boots = 0;
			autofree double *v =
				series_values(s, "", "run", cells[c], &job->metrics[m], &boots);

			if (job->metrics[m].kpi && !stats_converged(boots, values_mean(v, boots),
								    values_sd(v, boots), &goal))
				return false;
		}
	}
	return true;
}

static int give_up(const struct boot_result *result, struct err *err)
{
	err_set(err, ERR_FAILED, "%d boots in a row gave no value: %s", VALUELESS_BOOTS_MAX,
		result->message ? result->message : "no metric");
	err_phase(err, "run");
	return -ERR_FAILED;
}

static int iterate_boots(struct work *w, struct subject *subject, const struct cell **cells,
			 size_t n, const struct run_options *o, struct series *series,
			 struct err *err)
{
	const struct job *job = w->job;
	bool runs_iterate = job->boots_max == 1;
	struct boot_plan plan = {
		.subject = subject,
		.purpose = "run",
		.cells = cells,
		.n_cells = n,
		.runs = job->iterate_min,
		.runs_max = runs_iterate ? job->iterate_max : 0,
	};
	size_t boots = series_boots(series, "", "run"), barren = 0;

	while (boots < job->boots_max &&
	       (boots < job->boots_min || !all_converged(w, series, cells, n))) {
		struct boot_result result = {};

		progress_total(boots, job->boots_max, 0);
		plan.seed = o->seed + boots;
		if (measure_boot(&w->lab, &plan, &result, err) < 0)
			return -err->code;
		if (result.end == BOOT_UNTESTABLE) {
			err_set(err, ERR_UNTESTABLE, "%s cannot be tested: %s", subject->name,
				result.message);
			boot_result_release(&result);
			return -ERR_UNTESTABLE;
		}
		barren = result.values.n ? 0 : barren + 1;
		if (barren >= VALUELESS_BOOTS_MAX)
			give_up(&result, err);
		series_add(series, "", "run", &result);
		boot_result_release(&result);
		if (err->code)
			return -err->code;
		boots = series_boots(series, "", "run");
	}
	return 0;
}

/* the commit, the image, or neither: then this machine's running kernel is measured from here */
static int choose_subject(struct work *w, const char *rev, const struct run_options *o,
			  struct column *column, struct subject_spec *ret, struct err *err)
{
	*ret = (struct subject_spec){.name = "the running kernel"};
	if (o->image)
		*ret = (struct subject_spec){
			.name = o->image, .image = o->image, .modules = o->modules};
	if (o->image || !w->repo)
		return 0;
	if (column_parse(w->repo, rev, column, err) < 0)
		return -err->code;
	*ret = column_subject(column);
	return 0;
}

static int measure(struct work *w, const struct subject_spec *spec, const struct run_options *o,
		   struct err *err)
{
	autosubject subject = SUBJECT_NONE;
	struct series series = {};
	size_t n = 0;
	autofree const struct cell **cells = work_cells(w->job, o->cell, &n, err);
	const char *key[] = {spec->name, spec->sha ? spec->sha : "", o->cell ? o->cell : "", NULL};
	int r;

	if (!cells || work_lab(w, "run", key, true, err) < 0)
		return -err->code;
	log_info("%s: %zu cell%s, %u to %u boots on %s", w->job->name, n, n == 1 ? "" : "s",
		 w->job->boots_min, w->job->boots_max, w->lab.machine_name);
	r = subject_prepare(&w->lab, spec, &subject, err);
	if (r == 0 && subject.untestable)
		r = err_set(err, ERR_UNTESTABLE, "%s cannot be tested: %s", subject.name,
			    subject.why);
	if (r == 0)
		r = series_load(&w->lab, &series, err);
	if (r == 0)
		r = iterate_boots(w, &subject, cells, n, o, &series, err);
	series_release(&series);
	return r;
}

static int open_job(struct work *w, struct ctx *ctx, const char *name, const struct run_options *o,
		    int operands, struct err *err)
{
	struct job *job = NULL;

	if (!o->here)
		return work_open(w, ctx, name, err);
	if (operands == 2 || o->image)
		return err_set(err, ERR_USAGE,
			       "--here measures the kernel that runs, no revision and no image");
	return job_load_here(name, &job, err) < 0 ? -(int)err->code
						  : work_open_job(w, ctx, job, err);
}

static void run(struct work *w, const char *rev, const struct run_options *o, struct err *err)
{
	/* a local job without a build measures the machine as it runs */
	bool need_repo = !o->image && (w->job->is_kernel || w->job->build.argv || rev);
	struct column column = {};
	struct subject_spec spec;

	if ((!need_repo || work_repo(w, err) == 0) &&
	    choose_subject(w, rev ? rev : "HEAD", o, &column, &spec, err) == 0 &&
	    measure(w, &spec, o, err) == 0)
		work_report(w, NULL, err);
	column_release(&column);
}

int verb_run(struct ctx *ctx, int argc, char **argv)
{
	struct run_options o = {.seed = 1};
	const struct opt options[] = {
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...", "this cell only"},
		{"image", 0, OPT_STRING, &o.image, "FILE", "a kernel that was not built here"},
		{"modules", 0, OPT_STRING, &o.modules, "DIR", "its /lib/modules/VERSION"},
		{"here", 0, OPT_FLAG, &o.here, NULL,
		 "this host's running kernel, whatever the job boots otherwise"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of the order of cells"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 1, 2, &status);

	if (n < 0)
		return status;
	if (open_job(&w, ctx, argv[1], &o, n, &err) == 0)
		run(&w, n == 2 ? argv[2] : NULL, &o, &err);
	work_close(&w, &err);
	return err.code ? verb_fail(ctx, &err) : 0;
}
