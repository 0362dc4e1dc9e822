// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit verify N --patch FILE`: does a fix bring back what bisection N found lost?

#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/measure/column.h"
#include "harness/measure/rounds.h"
#include "harness/verbs/work.h"

enum { BAD, PATCHED, GOOD, SIDES };
enum { FIXED = 0, NOT_FIXED = 1, UNDECIDED = 2, UNTESTABLE = 125 };
#define REGAINED_MIN 0.5

struct verify {
	struct work *w;
	const struct session_row *session;
	const struct bisection_row *bisection;
	const char *patch;
	struct column columns[SIDES];
	const struct cell *cell;
	const struct metric *metric;
	struct rounds rounds;
};

/* the job as the bisection had it: a path counts from where that was started */
static char *job_of(const struct session_row *session, struct err *err)
{
	autojson struct json *options = NULL;
	const char *job;

	if (json_parse(session->options, strlen(session->options), &options, err) < 0)
		return NULL;
	job = json_str(json_get(options, "job"));
	if (!job) {
		err_set(err, ERR_NOT_FOUND, "session %lld does not say which job it ran",
			(long long)session->id);
		return NULL;
	}
	return job[0] == '/' || !strchr(job, '/') ? xstrdup(job)
						  : xasprintf("%s/%s", session->cwd, job);
}

static int choose(struct verify *v, struct err *err)
{
	const char *cell = v->bisection->cell;

	v->metric = work_metric(v->w->job, v->bisection->metric, err);
	if (!v->metric)
		return -err->code;
	v->cell = *cell ? work_cell(v->w->job, cell, err) : &v->w->job->cells[0];
	return v->cell ? 0 : -err->code;
}

static int read_sides(struct verify *v, struct err *err)
{
	autofree char *patched = xasprintf("patched=%s+%s", v->bisection->bad, v->patch);
	autofree char *bad = xasprintf("bad=%s", v->bisection->bad);
	autofree char *good = xasprintf("good=%s", v->bisection->good);
	const char *const texts[SIDES] = {bad, patched, good};

	v->rounds = (struct rounds){
		.lab = &v->w->lab,
		.sides = xcalloc(SIDES, sizeof(*v->rounds.sides)),
		.cells = (const struct cell *const *)&v->cell,
		.n_cells = 1,
		.purpose = "verify",
		.seed = v->bisection->seed,
	};
	for (int i = 0; i < SIDES; i++) {
		if (column_parse(v->w->repo, texts[i], &v->columns[i], err) < 0)
			return -err->code;
		v->rounds.sides[v->rounds.n_sides++] = (struct side){
			.spec = column_subject(&v->columns[i]), .subject = SUBJECT_NONE};
	}
	return 0;
}

static int judge(const struct verify *v)
{
	struct comparison patched, good;
	struct comparison *rows[] = {&patched, &good};
	double regained;

	rounds_compare(&v->rounds, BAD, PATCHED, v->cell, v->metric, &patched);
	rounds_compare(&v->rounds, BAD, GOOD, v->cell, v->metric, &good);
	compare_family(rows, ARRAY_SIZE(rows));
	if (good.verdict != VERDICT_IMPROVEMENT) {
		log_info("undecided: good against bad is %s here", verdict_name(good.verdict));
		return UNDECIDED;
	}
	regained = patched.difference.estimate / good.difference.estimate;
	log_info("%s regains %.0f%% of the loss (%s against bad)", path_base(v->patch),
		 100 * regained, verdict_name(patched.verdict));
	switch (patched.verdict) {
	case VERDICT_IMPROVEMENT:
		return regained >= REGAINED_MIN ? FIXED : NOT_FIXED;
	case VERDICT_NO_REGRESSION:
	case VERDICT_REGRESSION:
		return NOT_FIXED;
	default:
		return UNDECIDED;
	}
}

static int measure(struct verify *v, int *ret_status, struct err *err)
{
	const char *key[] = {v->bisection->bad, v->bisection->good, v->patch,
			     v->metric->name,	v->cell->name,	    NULL};

	if (read_sides(v, err) < 0 || work_lab(v->w, "verify", key, true, err) < 0 ||
	    work_compare(v->w, &v->rounds, err) < 0 || work_report(v->w, NULL, err) < 0)
		return -(int)err->code;
	*ret_status = side_is_out(&v->rounds.sides[PATCHED]) ? UNTESTABLE : judge(v);
	return 0;
}

static int verify(struct verify *v, int *ret_status, struct err *err)
{
	autofree char *job = job_of(v->session, err);
	int r;

	if (!job || work_open(v->w, v->w->ctx, job, err) < 0)
		return -(int)err->code;
	if (repo_open(v->w->ctx->repo ? v->w->ctx->repo : v->session->repo, &v->w->repo, err) < 0 ||
	    choose(v, err) < 0)
		return -(int)err->code;
	r = measure(v, ret_status, err);
	rounds_release(&v->rounds);
	for (int i = 0; i < SIDES; i++)
		column_release(&v->columns[i]);
	return r;
}

static int read_session(struct ctx *ctx, const char *word, struct session_row *session,
			struct bisection_row *bisection, struct err *err)
{
	autostore struct store *store = NULL;

	if (ctx_store(ctx, false, &store, err) < 0 || verb_session(store, word, session, err) < 0)
		return -(int)err->code;
	if (!streq(session->kind, "bisect")) {
		err_set(err, ERR_USAGE, "session %s is no bisection but a %s", word, session->kind);
		err_hint(err, "'culprit status' lists them");
		return -ERR_USAGE;
	}
	if (store_bisection_get(store, session->id, bisection, err) < 0)
		return -(int)err->code;
	if (bisection_has(bisection, "fix"))
		return err_set(
			err, ERR_USAGE,
			"bisection %s looked for a fix: there is no loss for a patch to bring "
			"back",
			word);
	return 0;
}

int verb_verify(struct ctx *ctx, int argc, char **argv)
{
	autofree char *patch = NULL;
	const char *file = NULL;
	const struct opt options[] = {
		{"patch", 0, OPT_STRING, &file, "FILE", "what is said to fix it, on top of bad"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct session_row session = {};
	struct bisection_row bisection = {};
	struct work w = {.ctx = ctx};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!file) {
		err_set(&err, ERR_USAGE, "no patch given");
		err_hint(&err, "culprit verify N --patch FILE");
	} else if (read_session(ctx, argv[1], &session, &bisection, &err) >= 0) {
		patch = fs_absolute(file);
		verify(&(struct verify){.w = &w,
					.session = &session,
					.bisection = &bisection,
					.patch = patch},
		       &status, &err);
	}
	work_close(&w, &err);
	session_row_release(&session);
	bisection_row_release(&bisection);
	return err.code ? verb_fail(ctx, &err) : status;
}
