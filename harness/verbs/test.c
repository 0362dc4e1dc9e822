// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit test JOB --good REV`: one verdict on the checked-out commit, for `git bisect run`.

#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/measure/column.h"
#include "harness/measure/plan.h"
#include "harness/measure/series.h"
#include "harness/stats/compare.h"
#include "harness/verbs/work.h"

enum { GOOD = 0, BAD = 1, UNTESTABLE = 125 };

struct test_options {
	const char *good, *metric, *cell;
	uint64_t seed;
};

struct testing {
	struct work *w;
	const struct test_options *o;
	const struct metric *metric;
	const struct cell *cell;
	struct column columns[2]; /* good, the commit under test */
	struct subject subjects[2];
	struct series series;
};

static const char *const sides[] = {"good", "tested"};

static int choose(struct testing *t, struct err *err)
{
	const struct job *job = t->w->job;

	t->metric = work_metric(job, t->o->metric, err);
	if (!t->metric)
		return -err->code;
	if (t->o->cell || job->n_cells == 1) {
		t->cell = t->o->cell ? work_cell(job, t->o->cell, err) : &job->cells[0];
		return t->cell ? 0 : -err->code;
	}
	err_set(err, ERR_USAGE, "job '%s' has %zu cells, and one verdict needs one", job->name,
		job->n_cells);
	err_hint(err, "choose one with --cell k=v,...; 'culprit check %s' lists them", job->name);
	return -ERR_USAGE;
}

/* 0, or the exit status that a commit which cannot be tested has */
static int prepare(struct testing *t, int *ret_status, struct err *err)
{
	for (int i = 0; i < 2; i++) {
		struct subject_spec spec = column_subject(&t->columns[i]);

		spec.name = sides[i];
		if (subject_prepare(&t->w->lab, &spec, &t->subjects[i], err) < 0)
			return -err->code;
		if (!t->subjects[i].untestable)
			continue;
		if (i == 0)
			return err_set(err, ERR_INFRA, "the good commit cannot be tested: %s",
				       t->subjects[i].why);
		log_info("cannot be tested: %s", t->subjects[i].why);
		*ret_status = UNTESTABLE;
		return 0;
	}
	return 0;
}

static int boot_side(struct testing *t, int side, uint32_t runs, uint32_t round, int *ret_status,
		     struct err *err)
{
	struct boot_plan plan = {
		.subject = &t->subjects[side],
		.side = sides[side],
		.purpose = "test",
		.cells = (const struct cell *const *)&t->cell,
		.n_cells = 1,
		.runs = runs,
		.seed = t->o->seed + round,
	};
	struct boot_result result = {};

	if (measure_boot(&t->w->lab, &plan, &result, err) < 0)
		return -err->code;
	if (result.end == BOOT_UNTESTABLE ||
	    (round + 1 >= VALUELESS_BOOTS_MAX &&
	     series_boots(&t->series, sides[side], "test") == 0 && result.end == BOOT_FAILED)) {
		log_info("%s cannot be tested: %s", sides[side],
			 result.message ? result.message : "no value");
		*ret_status = side ? UNTESTABLE : 128;
	}
	series_add(&t->series, sides[side], "test", &result);
	boot_result_release(&result);
	return 0;
}

static int judge(const struct testing *t)
{
	struct compare_options options = {
		.higher_is_better = t->metric->better == BETTER_HIGHER,
		.kpi = true,
		.min_effect_pct = job_min_effect_pct(t->w->job),
		.error = t->w->job->error,
	};
	struct comparison row;
	struct comparison *rows[] = {&row};
	size_t n[2];
	autofree double *good =
		series_values(&t->series, sides[0], "test", t->cell, t->metric, &n[0]);
	autofree double *tested =
		series_values(&t->series, sides[1], "test", t->cell, t->metric, &n[1]);

	compare_values(good, n[0], tested, n[1], &options, &row);
	compare_family(rows, 1);
	log_info("%s: %.3g%% [%.3g, %.3g], p %.3g: %s", t->metric->name, row.percent.estimate,
		 row.percent.interval.low, row.percent.interval.high, row.p_adjusted,
		 verdict_name(row.verdict));
	switch (row.verdict) {
	case VERDICT_REGRESSION:
		return BAD;
	case VERDICT_NO_REGRESSION:
	case VERDICT_IMPROVEMENT:
		return GOOD;
	default:
		return UNTESTABLE; /* undecided: git bisect skips it, which is never wrong */
	}
}

/* boots are fixed beforehand; good and tested alternate A B B A */
static int measure(struct testing *t, int *ret_status, struct err *err)
{
	struct noise noise;
	uint32_t runs, boots = 0;
	int r;

	if (plan_runs(&t->w->lab, &t->subjects[0], (const struct cell *const *)&t->cell, 1, &runs,
		      err) < 0 ||
	    plan_noise(&t->w->lab, t->cell, t->metric, &noise, err) < 0)
		return -err->code;
	r = lab_decided(&t->w->lab, "boots", &boots, err);
	if (r == 0) {
		/* "no regression" is a claim of its own, with a need of its own */
		boots = (uint32_t)plan_boots_to_clear(t->w->job, &noise);
		r = lab_decide(&t->w->lab, "boots", boots, err);
	}
	if (r < 0 || series_load(&t->w->lab, &t->series, err) < 0)
		return -err->code;
	for (uint32_t round = 0; round < boots && *ret_status < 0; round++) {
		for (int i = 0; i < 2 && *ret_status < 0; i++) {
			int side = round % 2 ? 1 - i : i;

			progress_total(2 * round + (uint32_t)i, 2 * boots, 0);
			if (series_boots(&t->series, sides[side], "test") <= round &&
			    boot_side(t, side, runs, round, ret_status, err) < 0)
				return -err->code;
		}
	}
	if (*ret_status < 0)
		*ret_status = judge(t);
	return 0;
}

static int test(struct testing *t, int *ret_status, struct err *err)
{
	if (choose(t, err) < 0 || work_repo(t->w, err) < 0 ||
	    column_parse(t->w->repo, t->o->good, &t->columns[0], err) < 0 ||
	    column_parse(t->w->repo, "HEAD", &t->columns[1], err) < 0)
		return -err->code;
	if (streq(t->columns[0].sha, t->columns[1].sha)) {
		*ret_status = GOOD;
		return 0;
	}
	const char *key[] = {t->columns[0].sha, t->columns[1].sha, t->metric->name, t->cell->name,
			     NULL};

	if (work_lab(t->w, "test", key, true, err) < 0 || prepare(t, ret_status, err) < 0)
		return -err->code;
	return *ret_status < 0 ? measure(t, ret_status, err) : 0;
}

int verb_test(struct ctx *ctx, int argc, char **argv)
{
	struct test_options o = {.seed = 1};
	const struct opt options[] = {
		{"good", 0, OPT_STRING, &o.good, "REV", "where it was fast"},
		{"metric", 0, OPT_STRING, &o.metric, "NAME",
		 "what to judge by, where the job has several KPIs"},
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...",
		 "what to judge by, where the job has several cells"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of the order of cells"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	struct testing t = {.w = &w, .o = &o, .subjects = {SUBJECT_NONE, SUBJECT_NONE}};
	int status = 0, verdict = -1;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!o.good) {
		err_set(&err, ERR_USAGE, "no good revision given");
		err_hint(&err, "culprit test JOB --good REV");
	} else if (work_open(&w, ctx, argv[1], &err) == 0) {
		test(&t, &verdict, &err);
	}
	series_release(&t.series);
	for (int i = 0; i < 2; i++) {
		column_release(&t.columns[i]);
		subject_release(&t.subjects[i]);
	}
	work_close(&w, &err);
	/* git bisect run takes 125 as "skip" and below 128 as "bad": any trouble must be above */
	if (err.code)
		return MAX(verb_fail(ctx, &err), 128);
	return verdict;
}
