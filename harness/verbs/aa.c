// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit aa JOB [REV]`: how much one commit differs from itself, and what can be seen beside
// that.

#include "harness/verbs/aa.h"

#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/measure/aa.h"
#include "harness/measure/column.h"
#include "harness/verbs/work.h"
#include "reports/json.h"

#include <math.h>

#define RUNS_WANTED  3U	 /* a boot: fewer say little of the noise between runs */
#define BOOTS_WANTED 10U /* a side */
#define BUILDS_MAX   2

static const size_t visible_boots[] = {5, 10, 20};

struct aa_options {
	const char *cell;
	uint64_t builds, seed;
};

struct aa {
	struct work *w;
	const struct aa_options *o;
	const struct cell **cells;
	struct column column;
	struct rounds rounds;
};

/* why there is no build but the commit's own; NULL where there is one */
static const char *no_other_build(const struct job *job)
{
	if (!job->is_kernel)
		return "the job builds no kernel";
	return job->kernel.aligned ? "the job aligns the functions of all its kernels" : NULL;
}

static int check_builds(const struct job *job, uint64_t builds, struct err *err)
{
	const char *why = no_other_build(job);

	if (builds > 1 && why)
		return err_set(err, ERR_USAGE, "--builds %llu is not applicable to job '%s': %s",
			       (unsigned long long)builds, job->name, why);
	if (builds < 1 || builds > BUILDS_MAX)
		return err_set(err, ERR_USAGE,
			       "--builds is 1 or %d: beside the commit as it is there is one other "
			       "layout, functions aligned to 64 bytes",
			       BUILDS_MAX);
	return 0;
}

/* --- the result --- */

static void set_level(struct json *o, const char *name, const struct aa_level *level)
{
	struct json *l = json_set(o, name, json_object_new());

	json_set_num(l, "sd", level->sd);
	json_set_num(l, "percent", level->pct);
	json_set_int(l, "n", (int64_t)level->n);
}

static void add_row(struct json *rows, const struct cell *cell, const struct metric *metric,
		    const struct aa_noise *noise, double error)
{
	struct json *row = json_push(rows, json_object_new()), *visible;

	json_set(row, "cell", json_cell(cell->name));
	json_set_str(row, "metric", metric->name);
	json_set_str(row, "unit", metric->unit);
	json_set_bool(row, "kpi", metric->kpi);
	json_set_num(row, "centre", noise->centre);
	set_level(row, "runs", &noise->run);
	set_level(row, "boots", &noise->boot);
	set_level(row, "builds", &noise->build);
	set_level(row, "boot_value", &noise->value);
	json_set_num(row, "spread_percent", noise->spread_pct);
	visible = json_set(row, "visible", json_array_new());
	for (size_t i = 0; i < ARRAY_SIZE(visible_boots); i++) {
		struct json *v = json_push(visible, json_object_new());
		double change = aa_visible(noise, visible_boots[i], error);

		json_set_int(v, "boots", (int64_t)visible_boots[i]);
		json_set_num(v, "change", change);
		json_set_num(v, "percent",
			     noise->centre == 0 ? NAN : 100 * change / fabs(noise->centre));
	}
}

static int add_rows(const struct aa *a, bool kpi, struct json *rows, struct err *err)
{
	const struct job *job = a->w->job;

	for (size_t m = 0; m < job->n_metrics; m++) {
		for (size_t c = 0; job->metrics[m].kpi == kpi && c < a->rounds.n_cells; c++) {
			struct aa_noise noise;

			if (aa_estimate(a->w->store, a->w->lab.session, a->cells[c],
					&job->metrics[m], &noise, err) < 0)
				return -err->code;
			add_row(rows, a->cells[c], &job->metrics[m], &noise, job->error);
		}
	}
	return 0;
}

static void add_sides(const struct aa *a, struct json *document)
{
	const struct rounds *r = &a->rounds;
	struct json *sides = json_set(document, "builds", json_array_new());

	for (size_t i = 0; i < r->n_sides; i++) {
		const char *name = r->sides[i].subject.name;
		struct json *side = json_push(sides, json_object_new());

		json_set_str(side, "name", name);
		json_set_int(side, "boots", (int64_t)series_boots(&r->series, name, r->purpose));
		json_set_str(side, "why", r->sides[i].subject.why);
	}
}

static int set_commit(const struct aa *a, struct json *document, struct err *err)
{
	const char *sha = a->rounds.sides[0].subject.sha;
	struct commit_row commit = {};

	if (sha && store_commit_get(a->w->store, sha, &commit, err) < 0)
		return -err->code;
	json_set_str(document, "commit", sha);
	json_set_str(document, "subject", commit.subject);
	commit_row_release(&commit);
	return 0;
}

static int make_document(const struct aa *a, struct json **ret, struct err *err)
{
	const struct job *job = a->w->job;
	autojson struct json *d = verb_document();

	json_set_int(d, "aa", a->w->lab.session);
	json_set_str(d, "job", job->name);
	json_set_str(d, "machine", a->w->lab.machine_name);
	if (set_commit(a, d, err) < 0)
		return -err->code;
	json_set_int(d, "runs_per_boot", a->rounds.runs);
	json_set_num(d, "error", job->error);
	add_sides(a, d);
	json_set_str(d, "no_other_build", no_other_build(job));
	if (add_rows(a, true, json_set(d, "rows", json_array_new()), err) < 0 ||
	    add_rows(a, false, json_get(d, "rows"), err) < 0)
		return -err->code;
	*ret = take_ptr(&d);
	return 0;
}

static int finish(const struct aa *a, struct err *err)
{
	autojson struct json *document = NULL;
	autobuf kept = {}, text = {};

	if (make_document(a, &document, err) < 0)
		return -err->code;
	json_print(document, false, &kept);
	if (store_session_result(a->w->store, a->w->lab.session, buf_str(&kept), err) < 0)
		return -err->code;
	progress_clear();
	if (a->w->ctx->json) {
		verb_print_json(take_ptr(&document));
	} else {
		aa_text(document, &text);
		fputs(buf_str(&text), stdout);
	}
	return 0;
}

/* --- the boots --- */

/* without a repository: the machine as it runs */
static int choose_sides(struct aa *a, const char *rev, struct err *err)
{
	static const char *const names[BUILDS_MAX] = {AA_PLAIN, AA_ALIGNED};
	struct rounds *r = &a->rounds;

	if (a->w->repo && column_parse(a->w->repo, rev, &a->column, err) < 0)
		return -err->code;
	r->sides = xcalloc(BUILDS_MAX, sizeof(*r->sides));
	for (; r->n_sides < a->o->builds; r->n_sides++) {
		struct side *side = &r->sides[r->n_sides];

		*side = (struct side){.subject = SUBJECT_NONE};
		if (a->w->repo)
			side->spec = column_subject(&a->column);
		side->spec.name = names[r->n_sides];
		side->spec.aligned = r->n_sides == 1;
	}
	return 0;
}

static void plan(struct aa *a)
{
	const struct job *job = a->w->job;
	struct rounds *r = &a->rounds;

	r->runs = MIN(MAX(job->iterate_min, RUNS_WANTED), job->iterate_max);
	r->boots = MIN(MAX(job->boots_min, BOOTS_WANTED), job->boots_max);
	log_info("%zu build%s, %u boots each with %u run%s of %zu cell%s on %s", r->n_sides,
		 r->n_sides == 1 ? "" : "s", r->boots, r->runs, r->runs == 1 ? "" : "s", r->n_cells,
		 r->n_cells == 1 ? "" : "s", a->w->lab.machine_name);
	if (r->runs == 1)
		log_info("the job allows one run a boot: the noise between runs stays unknown");
}

/* the commit as it is must be there; another build that is not leaves that level unknown */
static int check_plain(const struct aa *a, struct err *err)
{
	const struct subject *plain = &a->rounds.sides[0].subject;

	if (!side_is_out(&a->rounds.sides[0]))
		return 0;
	return err_set(err, ERR_UNTESTABLE, "the commit cannot be tested: %s",
		       plain->why ? plain->why : "its boots give no value");
}

static int measure(struct aa *a, const char *rev, struct err *err)
{
	autofree char *numbers = xasprintf("%llu %llu", (unsigned long long)a->o->builds,
					   (unsigned long long)a->o->seed);
	const char *key[] = {numbers, a->o->cell ? a->o->cell : "", rev, "", NULL};

	a->cells = work_cells(a->w->job, a->o->cell, &a->rounds.n_cells, err);
	a->rounds.cells = a->cells;
	if (!a->cells || choose_sides(a, rev, err) < 0)
		return -err->code;
	if (a->column.sha)
		key[3] = a->column.sha;
	if (work_lab(a->w, AA_KIND, key, true, err) < 0)
		return -err->code;
	plan(a);
	if (work_prepare(a->w, &a->rounds, err) < 0 || check_plain(a, err) < 0 ||
	    rounds_take(&a->rounds, err) < 0 || check_plain(a, err) < 0)
		return -err->code;
	return finish(a, err);
}

static int run(struct work *w, const struct aa_options *o, const char *rev, struct err *err)
{
	const struct job *job = w->job;
	struct aa a = {
		.w = w, .o = o, .rounds = {.lab = &w->lab, .purpose = AA_PURPOSE, .seed = o->seed}};
	bool need_repo = job->is_kernel || job->build.argv || rev;
	int r;

	if (check_builds(job, o->builds, err) < 0 || (need_repo && work_repo(w, err) < 0))
		return -err->code;
	r = measure(&a, rev ? rev : "HEAD", err);
	rounds_release(&a.rounds);
	column_release(&a.column);
	free(a.cells);
	return r;
}

int verb_aa(struct ctx *ctx, int argc, char **argv)
{
	struct aa_options o = {.builds = 1, .seed = 1};
	const struct opt options[] = {
		{"builds", 0, OPT_U64, &o.builds, "K",
		 "kernels: 2 adds a build with functions aligned to 64 bytes (1)"},
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...", "this cell only"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of the order of cells"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 1, 2, &status);

	if (n < 0)
		return status;
	if (work_open(&w, ctx, argv[1], &err) == 0)
		run(&w, &o, n == 2 ? argv[2] : NULL, &err);
	work_close(&w, &err);
	return err.code ? verb_fail(ctx, &err) : 0;
}
