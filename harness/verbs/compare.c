// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit compare JOB COLUMN...`: kernels side by side, boots alternating, judged at the end.

#include "harness/measure/column.h"
#include "harness/measure/rounds.h"
#include "harness/verbs/work.h"
#include "reports/report.h"

#define COLUMNS_MAX 64

struct compare_request {
	const char *cell, *format;
	char **images, **modules; /* a directory for each image, or none */
	uint64_t seed;
};

/* a column that the command line named; images have none */
struct comparing {
	struct work *w;
	struct column *columns;
	size_t n_columns;
	const struct cell **cells;
	struct rounds rounds;
};

static int read_columns(struct comparing *c, const struct compare_request *o, size_t n,
			char **words, struct err *err)
{
	struct rounds *r = &c->rounds;

	for (size_t i = 0; i < n; i++) {
		struct column *column = &c->columns[c->n_columns++];

		if (column_parse(c->w->repo, words[i], column, err) < 0)
			return -err->code;
		r->sides[r->n_sides++] = (struct side){
			.spec = column_subject(column),
			.subject = SUBJECT_NONE,
		};
	}
	if (o->modules && strv_len(o->modules) != strv_len(o->images))
		return err_set(err, ERR_USAGE, "%zu images need as many --modules, or none",
			       strv_len(o->images));
	for (size_t i = 0; o->images && o->images[i]; i++)
		r->sides[r->n_sides++] = (struct side){
			.spec = {.name = o->images[i],
				 .image = o->images[i],
				 .modules = o->modules ? o->modules[i] : NULL},
			.subject = SUBJECT_NONE,
		};
	return 0;
}

/* boots are filed under the column's name */
static int check_names(const struct rounds *r, struct err *err)
{
	for (size_t i = 0; i < r->n_sides; i++)
		for (size_t j = 0; j < i; j++)
			if (streq(r->sides[i].spec.name, r->sides[j].spec.name)) {
				err_set(err, ERR_USAGE, "two columns are called '%s'",
					r->sides[i].spec.name);
				err_hint(err, "name one of them: NAME=%s", r->sides[i].spec.name);
				return -ERR_USAGE;
			}
	return 0;
}

static int begin_session(struct comparing *c, struct err *err)
{
	VEC(const char *) key = {};
	autofree char *seed = xasprintf("%llu", (unsigned long long)c->rounds.seed);
	int r;

	VEC_PUSH(&key, seed);
	for (size_t i = 0; i < c->rounds.n_sides; i++) {
		const struct subject_spec *spec = &c->rounds.sides[i].spec;

		VEC_PUSH(&key, spec->name);
		VEC_PUSH(&key, spec->sha ? spec->sha : "");
	}
	VEC_PUSH(&key, NULL);
	r = work_lab(c->w, "compare", key.at, true, err);
	VEC_FREE(&key);
	return r;
}

static int compare(struct work *w, const struct compare_request *o, size_t n, char **words,
		   struct err *err)
{
	size_t n_sides = n + strv_len(o->images);
	struct comparing c = {
		.w = w,
		.columns = xcalloc(n + 1, sizeof(*c.columns)),
		.rounds =
			{
				.lab = &w->lab,
				.sides = xcalloc(n_sides + 1, sizeof(*c.rounds.sides)),
				.purpose = "compare",
				.seed = o->seed,
			},
	};
	int r = -1;

	c.cells = work_cells(w->job, o->cell, &c.rounds.n_cells, err);
	c.rounds.cells = c.cells;
	if (c.cells && (n == 0 || work_repo(w, err) == 0) &&
	    read_columns(&c, o, n, words, err) == 0 && check_names(&c.rounds, err) == 0) {
		if (n_sides < 2)
			err_set(err, ERR_USAGE, "a comparison needs two columns or more");
		else if (begin_session(&c, err) == 0)
			r = work_compare(w, &c.rounds, err);
	}
	for (size_t i = 0; i < c.n_columns; i++)
		column_release(&c.columns[i]);
	free(c.columns);
	free(c.cells);
	rounds_release(&c.rounds);
	return r;
}

int verb_compare(struct ctx *ctx, int argc, char **argv)
{
	struct compare_request o = {.seed = 1};
	const struct opt options[] = {
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...", "this cell only"},
		{"image", 0, OPT_LIST, &o.images, "FILE",
		 "a column for a kernel not built here; several allowed"},
		{"modules", 0, OPT_LIST, &o.modules, "DIR",
		 "/lib/modules/VERSION of an image, for all of them in their order"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of the order of cells"},
		{"format", 0, OPT_STRING, &o.format, "FORMAT",
		 "text (default), json, lkp or mmtests"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 1, COLUMNS_MAX, &status);

	if (n >= 0) {
		if ((!o.format || report_has_format(o.format, &err)) &&
		    work_open(&w, ctx, argv[1], &err) == 0 &&
		    compare(&w, &o, (size_t)n - 1, argv + 2, &err) == 0)
			status = work_report(&w, o.format, &err);
		work_close(&w, &err);
		if (err.code)
			status = verb_fail(ctx, &err);
	}
	strv_free(o.images);
	strv_free(o.modules);
	return status;
}
