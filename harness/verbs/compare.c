// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit compare JOB COLUMN...`: kernels side by side, boots alternating, judged at the end.

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/measure/column.h"
#include "harness/measure/plan.h"
#include "harness/measure/series.h"
#include "harness/verbs/work.h"

#define COLUMNS_MAX 64

struct compare_options {
	const char *cell;
	char **images, **modules; /* a directory for each image, or none */
	uint64_t seed;
};

struct side {
	struct column column;	  /* empty for an image */
	struct subject_spec spec; /* borrows */
	struct subject subject;
	size_t barren; /* boots in a row without a value */
};

struct comparing {
	struct work *w;
	struct side *sides;
	size_t n_sides;
	const struct cell **cells;
	size_t n_cells;
	struct series series;
	uint64_t seed;
	uint32_t runs, boots;
};

static int read_columns(struct comparing *c, const struct compare_options *o, size_t n,
			char **words, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct side *s = &c->sides[c->n_sides++];

		s->subject = (struct subject)SUBJECT_NONE;
		if (column_parse(c->w->repo, words[i], &s->column, err) < 0)
			return -err->code;
		s->spec = column_subject(&s->column);
	}
	if (o->modules && strv_len(o->modules) != strv_len(o->images))
		return err_set(err, ERR_USAGE, "%zu images need as many --modules, or none",
			       strv_len(o->images));
	for (size_t i = 0; o->images && o->images[i]; i++) {
		struct side *s = &c->sides[c->n_sides++];

		s->subject = (struct subject)SUBJECT_NONE;
		s->spec = (struct subject_spec){
			.name = o->images[i],
			.image = o->images[i],
			.modules = o->modules ? o->modules[i] : NULL,
		};
	}
	return 0;
}

/* what cannot be built or does not apply stays a column that says so */
static int prepare_sides(struct comparing *c, struct err *err)
{
	size_t ready = 0;

	for (size_t i = 0; i < c->n_sides; i++) {
		struct side *s = &c->sides[i];

		if (subject_prepare(&c->w->lab, &s->spec, &s->subject, err) < 0)
			return -err->code;
		struct side_row row = {
			.session = c->w->lab.session,
			.name = s->subject.name,
			.rev = (char *)s->spec.name,
			.commit_sha = s->subject.sha,
			.message = s->subject.why,
		};

		if (store_side_put(c->w->store, &row, err) < 0)
			return -err->code;
		ready += !s->subject.untestable;
		if (s->subject.untestable)
			log_warn("%s cannot be tested: %s", s->subject.name, s->subject.why);
	}
	return ready ? 0 : err_set(err, ERR_UNTESTABLE, "none of the columns can be tested");
}

static struct subject *first_ready(struct comparing *c)
{
	for (size_t i = 0; i < c->n_sides; i++)
		if (!c->sides[i].subject.untestable)
			return &c->sides[i].subject;
	return NULL;
}

/* the noisiest KPI decides; a cell and metric nobody knows anything of is left out */
static int worst_noise(struct comparing *c, struct noise *ret, size_t *ret_tests, struct err *err)
{
	const struct job *job = c->w->job;

	*ret = (struct noise){};
	*ret_tests = 0;
	for (size_t i = 0; i < c->n_cells; i++) {
		for (size_t m = 0; m < job->n_metrics; m++) {
			struct noise noise;

			if (!job->metrics[m].kpi)
				continue;
			*ret_tests += c->n_sides - 1;
			if (plan_noise(&c->w->lab, c->cells[i], &job->metrics[m], &noise, err) < 0)
				return -err->code;
			if (noise.known && (!ret->known || noise.sigma_pct > ret->sigma_pct))
				*ret = noise;
		}
	}
	return 0;
}

/* runs a boot and boots a side: decided once, said before it starts */
static int plan(struct comparing *c, struct err *err)
{
	struct lab *lab = &c->w->lab;
	struct noise noise;
	size_t tests;
	autofree char *sight = NULL;

	if (plan_runs(lab, first_ready(c), c->cells, c->n_cells, &c->runs, err) < 0 ||
	    worst_noise(c, &noise, &tests, err) < 0)
		return -err->code;
	switch (lab_decided(lab, "boots", &c->boots, err)) {
	case 0:
		c->boots = (uint32_t)plan_boots(lab->job, &noise, tests);
		if (lab_decide(lab, "boots", c->boots, err) < 0)
			return -err->code;
		break;
	case 1:
		break;
	default:
		return -err->code;
	}
	sight = plan_sight(lab->job, &noise, c->boots, tests);
	log_info("%zu columns, %u boots each with %u run%s of %zu cell%s on %s; %s", c->n_sides,
		 c->boots, c->runs, c->runs == 1 ? "" : "s", c->n_cells, c->n_cells == 1 ? "" : "s",
		 lab->machine_name, sight);
	return 0;
}

static int boot_side(struct comparing *c, struct side *s, uint32_t round, struct err *err)
{
	struct boot_plan boot = {
		.subject = &s->subject,
		.side = s->subject.name,
		.purpose = "compare",
		.cells = c->cells,
		.n_cells = c->n_cells,
		.runs = c->runs,
		.seed = c->seed + round, /* the same order of cells on all sides of a round */
	};
	struct boot_result result = {};

	if (s->subject.untestable || s->barren >= VALUELESS_BOOTS_MAX)
		return 0;
	if (measure_boot(&c->w->lab, &boot, &result, err) < 0)
		return -err->code;
	s->barren = result.values.n ? 0 : s->barren + 1;
	if (result.end == BOOT_UNTESTABLE) {
		s->subject.untestable = true;
		log_warn("%s cannot be tested: %s", s->subject.name, result.message);
	} else if (s->barren) {
		log_warn("%s gave no value: %s", s->subject.name,
			 result.message ? result.message : "no metric");
	}
	series_add(&c->series, s->subject.name, "compare", &result);
	boot_result_release(&result);
	return 0;
}

/* A B B A ...: drift of the machine falls on all sides alike */
static int take_rounds(struct comparing *c, struct err *err)
{
	autofree size_t *done = xcalloc(c->n_sides, sizeof(*done));

	for (size_t i = 0; i < c->n_sides; i++)
		done[i] = series_boots(&c->series, c->sides[i].subject.name, "compare");
	for (uint32_t round = 0; round < c->boots; round++) {
		for (size_t i = 0; i < c->n_sides; i++) {
			size_t at = round % 2 ? c->n_sides - 1 - i : i;

			progress_total(round * c->n_sides + i, c->boots * c->n_sides, 0);
			if (done[at] <= round && boot_side(c, &c->sides[at], round, err) < 0)
				return -err->code;
		}
	}
	return 0;
}

static int measure(struct comparing *c, struct err *err)
{
	VEC(const char *) key = {};
	autofree char *seed = xasprintf("%llu", (unsigned long long)c->seed);
	int r;

	VEC_PUSH(&key, seed);
	for (size_t i = 0; i < c->n_sides; i++) {
		VEC_PUSH(&key, c->sides[i].spec.name);
		VEC_PUSH(&key, c->sides[i].spec.sha ? c->sides[i].spec.sha : "");
	}
	VEC_PUSH(&key, NULL);
	r = work_lab(c->w, "compare", key.at, true, err);
	VEC_FREE(&key);
	if (r == 0)
		r = prepare_sides(c, err);
	if (r == 0)
		r = plan(c, err);
	if (r == 0)
		r = series_load(&c->w->lab, &c->series, err);
	if (r == 0)
		r = take_rounds(c, err);
	return r;
}

static void comparing_release(struct comparing *c)
{
	for (size_t i = 0; i < c->n_sides; i++) {
		column_release(&c->sides[i].column);
		subject_release(&c->sides[i].subject);
	}
	free(c->sides);
	free(c->cells);
	series_release(&c->series);
}

static int compare(struct work *w, const struct compare_options *o, size_t n, char **words,
		   struct err *err)
{
	struct comparing c = {
		.w = w,
		.sides = xcalloc(n + strv_len(o->images), sizeof(*c.sides)),
		.seed = o->seed,
	};
	int r = -1;

	c.cells = work_cells(w->job, o->cell, &c.n_cells, err);
	if (c.cells && (n == 0 || work_repo(w, err) == 0) &&
	    read_columns(&c, o, n, words, err) == 0) {
		if (c.n_sides < 2)
			err_set(err, ERR_USAGE, "a comparison needs two columns or more");
		else
			r = measure(&c, err);
	}
	comparing_release(&c);
	return r;
}

int verb_compare(struct ctx *ctx, int argc, char **argv)
{
	struct compare_options o = {.seed = 1};
	const struct opt options[] = {
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...", "this cell only"},
		{"image", 0, OPT_LIST, &o.images, "FILE",
		 "a column for a kernel not built here; several allowed"},
		{"modules", 0, OPT_LIST, &o.modules, "DIR",
		 "/lib/modules/VERSION of an image, for all of them in their order"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of the order of cells"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 1, COLUMNS_MAX, &status);

	if (n >= 0) {
		if (work_open(&w, ctx, argv[1], &err) == 0 &&
		    compare(&w, &o, (size_t)n - 1, argv + 2, &err) == 0)
			status = work_report(&w, &err);
		work_close(&w, &err);
		if (err.code)
			status = verb_fail(ctx, &err);
	}
	strv_free(o.images);
	strv_free(o.modules);
	return status;
}
