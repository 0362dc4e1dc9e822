// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit test JOB --good REV`: one verdict on the checked-out commit, for `git bisect run`.

#include "harness/base/log.h"
#include "harness/measure/column.h"
#include "harness/measure/rounds.h"
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
	struct rounds rounds;
};

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
	static const char *const names[] = {"good", "tested"};
	struct rounds *r = &t->rounds;

	*r = (struct rounds){
		.lab = &t->w->lab,
		.sides = xcalloc(2, sizeof(*r->sides)),
		.n_sides = 2,
		.cells = (const struct cell *const *)&t->cell,
		.n_cells = 1,
		.purpose = "test",
		.seed = t->o->seed,
		.together = true,
	};
	for (int i = 0; i < 2; i++) {
		r->sides[i].spec = column_subject(&t->columns[i]);
		r->sides[i].spec.name = names[i];
		r->sides[i].subject = (struct subject)SUBJECT_NONE;
		if (side_prepare(r->lab, &r->sides[i], err) < 0)
			return -err->code;
		if (!r->sides[i].subject.untestable)
			continue;
		if (i == 0)
			return err_set(err, ERR_INFRA, "the good commit cannot be tested: %s",
				       r->sides[i].subject.why);
		*ret_status = UNTESTABLE;
		return 0;
	}
	return 0;
}

static int judge(const struct testing *t)
{
	struct comparison row;
	struct comparison *rows[] = {&row};

	rounds_compare(&t->rounds, 0, 1, t->cell, t->metric, &row);
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

/* boots are fixed beforehand; "no regression" is a claim of its own, with a need of its own */
static int measure(struct testing *t, int *ret_status, struct err *err)
{
	struct noise noise;
	size_t tests;

	if (rounds_plan(&t->rounds, plan_boots_to_clear, &noise, &tests, err) < 0 ||
	    rounds_take(&t->rounds, err) < 0)
		return -err->code;
	if (side_is_out(&t->rounds.sides[0]))
		return err_set(err, ERR_INFRA, "the good commit gives no value any more");
	*ret_status = side_is_out(&t->rounds.sides[1]) ? UNTESTABLE : judge(t);
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
	struct testing t = {.w = &w, .o = &o};
	int status = 0, verdict = -1;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!o.good) {
		err_set(&err, ERR_USAGE, "no good revision given");
		err_hint(&err, "culprit test JOB --good REV");
	} else if (work_open(&w, ctx, argv[1], &err) == 0) {
		test(&t, &verdict, &err);
	}
	rounds_release(&t.rounds);
	for (int i = 0; i < 2; i++)
		column_release(&t.columns[i]);
	work_close(&w, &err);
	/* git bisect run takes 125 as "skip" and below 128 as "bad": any trouble must be above */
	if (err.code)
		return MAX(verb_fail(ctx, &err), 128);
	return verdict;
}
