// SPDX-License-Identifier: GPL-2.0-or-later
// From the store to one struct: session, options, sides, values, judged rows.
#include "reports/fill.h"

#include "harness/base/util.h"
#include "harness/stats/interval.h"
#include "reports/rows.h"

#include <math.h>

static enum report_kind kind_of(const char *session_kind)
{
	static const struct {
		const char *name;
		enum report_kind kind;
	} kinds[] = {{"bisect", REPORT_BISECT},
		     {"compare", REPORT_COMPARE},
		     {"test", REPORT_COMPARE},
		     {"verify", REPORT_COMPARE}};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (streq(kinds[i].name, session_kind))
			return kinds[i].kind;
	return REPORT_RUN;
}

static double option(const struct json *options, const char *key, double otherwise)
{
	double value;

	return json_num(json_get(options, key), &value) && isfinite(value) ? value : otherwise;
}

static int fill_options(struct report *r, struct err *err)
{
	const struct json *o;
	const char *job;

	if (json_parse(r->session.options, strlen(r->session.options), &r->options, err) < 0)
		return err_wrap(err, "options of session %lld", (long long)r->session.id);
	o = r->options;
	r->confidence = option(o, "confidence", 0.99);
	r->interval_pct = option(o, "interval_pct", 5);
	r->interval_floor = option(o, "interval_floor", 0);
	r->error = option(o, "error", 0.01);
	r->build_spread_pct = NAN;
	r->min_effect_pct = option(o, "min_effect_pct", 0);
	r->by_run = streq(json_str(json_get(o, "unit")), "run");
	job = json_str(json_get(o, "job"));
	r->job = xstrdup(job ? job : r->session.job_name);
	return 0;
}

int fill_commit(struct filling *f, const char *sha, struct commit_row *ret, struct err *err)
{
	int rc = sha ? store_commit_get(f->store, sha, ret, err) : 0;

	if (rc == 0)
		*ret = (struct commit_row){
			.sha = xstrdup(sha), .subject = xstrdup(""), .author = xstrdup("")};
	return MIN(rc, 0);
}

bool fill_is_auxiliary(const struct boot_row *boot)
{
	return streq(boot->purpose, "pilot") || streq(boot->purpose, "reference");
}

struct report_side *fill_add_side(struct report *r)
{
	struct report_side *side;

	r->sides = xrealloc(r->sides, r->n_sides + 1, sizeof(*r->sides));
	side = &r->sides[r->n_sides++];
	*side = (struct report_side){
		.message = xstrdup(""), .user_s = NAN, .sys_s = NAN, .elapsed_s = NAN};
	return side;
}

int fill_values(struct filling *f, const char *cell, const char *metric, size_t n_sides,
		struct value_table *ret, struct err *err)
{
	struct value_request request = {
		.session = f->report->session.id,
		.boots = f->boots,
		.side = f->side,
		.n_boots = f->n_boots,
		.n_sides = n_sides,
		.metrics = f->report->metrics,
		.n_metrics = f->report->n_metrics,
		.cell = cell,
		.metric = metric,
		.by_run = f->report->by_run && f->report->kind == REPORT_RUN,
	};

	return value_table_fill(f->store, &request, ret, err);
}

/* Of the boots that gave values, since others end early. */
static void fill_durations(struct filling *f, int side)
{
	struct report_side *s = &f->report->sides[side];
	double user = 0, sys = 0, elapsed = 0, n = (double)s->boots;

	for (size_t i = 0; i < f->n_boots; i++) {
		if (f->side[i] != side || f->boots[i].void_why || !streq(f->boots[i].status, "ok"))
			continue;
		user += f->counts[i].user_s;
		sys += f->counts[i].sys_s;
		elapsed += f->counts[i].seconds;
	}
	s->user_s = user / n;
	s->sys_s = sys / n;
	s->elapsed_s = elapsed / n;
}

void fill_count_sides(struct filling *f)
{
	for (size_t i = 0; i < f->n_boots; i++) {
		const struct boot_row *boot = &f->boots[i];
		struct report_side *side;

		if (f->side[i] < 0)
			continue;
		side = &f->report->sides[f->side[i]];
		if (boot->void_why) {
			side->voided++;
			continue;
		}
		if (streq(boot->status, "ok"))
			side->boots++;
		else
			side->lost++;
		side->runs += f->counts[i].runs;
		side->failed_runs += f->counts[i].failed;
	}
	for (size_t i = 0; i < f->report->n_sides; i++)
		fill_durations(f, (int)i);
}

/* "vmlinux HEX\n..." */
static char *vmlinux_id(const char *identity)
{
	const char *hex = identity + strlen("vmlinux ");

	return str_starts(identity, "vmlinux ") ? xstrndup(hex, strcspn(hex, "\n")) : NULL;
}

/* What has no commit is told by its build-id. */
static int fill_build_ids(struct filling *f, struct err *err)
{
	for (size_t i = 0; i < f->n_boots; i++) {
		struct report_side *side = f->side[i] < 0 ? NULL : &f->report->sides[f->side[i]];
		struct kernel_row kernel = {};

		if (!side || side->commit.sha || side->build_id || !f->boots[i].kernel)
			continue;
		if (store_kernel_get(f->store, f->boots[i].kernel, &kernel, err) < 0)
			return -err->code;
		side->build_id = vmlinux_id(kernel.identity);
		kernel_row_release(&kernel);
	}
	return 0;
}

/* --- rows --- */

/* Calls back for each metric and cell that has a value on any side: KPIs first, then metric by
 * metric. */
static void each_row(struct report *r, void (*add)(struct report *r, size_t cell, size_t metric))
{
	for (int kpi = 1; kpi >= 0; kpi--) {
		for (size_t m = 0; m < r->n_metrics; m++) {
			for (size_t c = 0; !!r->metrics[m].kpi == kpi && c < r->values.n_cells;
			     c++) {
				bool any = false;

				for (size_t s = 0; s < r->n_sides; s++)
					any = any || value_table_at(&r->values, c, m, s)->n;
				if (any)
					add(r, c, m);
			}
		}
	}
}

static void add_run_row(struct report *r, size_t cell, size_t metric)
{
	const struct value_series *v = value_table_at(&r->values, cell, metric, 0);
	struct stats_goal goal = {r->confidence, r->interval_pct, r->interval_floor};
	struct report_run_row row = {.cell = cell,
				     .metric = metric,
				     .boots = v->boots,
				     .runs = v->runs,
				     .of = summary_of(v->at, v->n)};

	row.t = interval_t(v->n, row.of.mean, row.of.sd, r->confidence);
	row.always = interval_always_valid(v->n, row.of.mean, row.of.sd, r->confidence);
	row.median = interval_median(v->at, v->n, r->confidence);
	row.converged = stats_converged(v->n, row.of.mean, row.of.sd, &goal);
	r->run_rows = xrealloc(r->run_rows, r->n_run_rows + 1, sizeof(*r->run_rows));
	r->run_rows[r->n_run_rows++] = row;
}

/* By the noise that was known when the session began. */
static double min_effect_pct(const struct report *r, size_t cell, size_t metric)
{
	const struct json *aa = json_get(r->options, "aa");
	const struct json *known =
		json_get(json_get(aa, r->values.cells[cell]), r->metrics[metric].name);

	return compare_min_effect_pct(r->min_effect_pct, option(known, "spread_pct", NAN));
}

static void add_compare_rows(struct report *r, size_t cell, size_t metric)
{
	const struct value_series *a = value_table_at(&r->values, cell, metric, 0);
	struct compare_options options = {
		.higher_is_better = r->metrics[metric].higher_is_better,
		.kpi = r->metrics[metric].kpi,
		.min_effect_pct = min_effect_pct(r, cell, metric),
		.error = r->error,
	};

	for (size_t side = 1; side < r->n_sides; side++) {
		const struct value_series *b = value_table_at(&r->values, cell, metric, side);
		struct report_row row = {.cell = cell, .metric = metric, .side = side};

		compare_values(a->at, a->n, b->at, b->n, &options, &row.c);
		r->rows = xrealloc(r->rows, r->n_rows + 1, sizeof(*r->rows));
		r->rows[r->n_rows++] = row;
	}
}

void fill_compare_rows(struct report *r)
{
	autofree struct comparison **rows = NULL;

	each_row(r, add_compare_rows);
	rows = xcalloc(r->n_rows + 1, sizeof(*rows));
	for (size_t i = 0; i < r->n_rows; i++)
		rows[i] = &r->rows[i].c;
	compare_family(rows, r->n_rows);
	rows_mark_suspect(r);
}

/* --- run and compare --- */

/* The commit of a run, and which boots are its. */
static int fill_run(struct filling *f, struct err *err)
{
	struct report_side *side = fill_add_side(f->report);
	const char *sha = NULL;
	int rc;

	side->name = xstrdup("");
	side->rev = xstrdup("");
	for (size_t i = 0; i < f->n_boots; i++) {
		f->side[i] = fill_is_auxiliary(&f->boots[i]) ? -1 : 0;
		sha = sha ? sha : f->boots[i].commit_sha;
	}
	rc = fill_commit(f, sha, &side->commit, err);
	if (rc == 0)
		rc = fill_build_ids(f, err);
	if (rc == 0)
		rc = fill_values(f, NULL, NULL, 1, &f->report->values, err);
	if (rc == 0) {
		fill_count_sides(f);
		each_row(f->report, add_run_row);
	}
	return rc;
}

static int side_index(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_sides; i++)
		if (streq(r->sides[i].name, name))
			return (int)i;
	return -1;
}

static int add_side(struct filling *f, const struct side_row *row, struct err *err)
{
	struct report_side *side = fill_add_side(f->report);

	side->name = xstrdup(row->name);
	side->rev = xstrdup(row->rev ? row->rev : row->name);
	free(side->message);
	side->message = xstrdup(row->message ? row->message : "");
	return fill_commit(f, row->commit_sha, &side->commit, err);
}

/* The columns as they were asked for; sides that only boots name come behind them. */
static int fill_sides(struct filling *f, struct err *err)
{
	struct side_row *rows;
	size_t n;
	int rc = store_side_list(f->store, f->report->session.id, &rows, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = add_side(f, &rows[i], err);
		side_row_release(&rows[i]);
	}
	free(rows);
	for (size_t i = 0; rc == 0 && i < f->n_boots; i++) {
		struct side_row row = {.name = f->boots[i].side,
				       .commit_sha = f->boots[i].commit_sha};

		if (!fill_is_auxiliary(&f->boots[i]) && side_index(f->report, row.name) < 0)
			rc = add_side(f, &row, err);
	}
	return rc;
}

static int fill_compare(struct filling *f, struct err *err)
{
	struct report *r = f->report;
	int rc = fill_sides(f, err);

	for (size_t i = 0; rc == 0 && i < f->n_boots; i++)
		f->side[i] = fill_is_auxiliary(&f->boots[i]) ? -1 : side_index(r, f->boots[i].side);
	if (rc == 0)
		rc = fill_build_ids(f, err);
	if (rc == 0)
		rc = fill_values(f, NULL, NULL, r->n_sides, &r->values, err);
	if (rc == 0)
		rc = fill_environment(f, err);
	if (rc == 0) {
		fill_count_sides(f);
		fill_compare_rows(r);
	}
	return rc;
}

/* --- the whole --- */

/* A build that came out of the cache cost nothing. */
static void add_build(struct report_cost *cost, const struct step_row *step)
{
	ERR_CLEANUP struct err err = {};
	autojson struct json *data = NULL;
	double seconds, cached;

	if (step->data && json_parse(step->data, strlen(step->data), &data, &err) == 0 &&
	    json_num(json_get(data, "from_cache"), &cached) && cached)
		return;
	cost->builds++;
	if (json_num(json_get(data, "seconds"), &seconds))
		cost->seconds += seconds;
}

static void fill_cost(struct filling *f)
{
	struct report_cost *cost = &f->report->cost;

	for (size_t i = 0; i < f->n_steps; i++)
		if (streq(f->steps[i].what, "build"))
			add_build(cost, &f->steps[i]);
	for (size_t i = 0; i < f->n_boots; i++) {
		cost->boots++;
		cost->runs += f->counts[i].runs;
		if (isfinite(f->boots[i].seconds))
			cost->seconds += f->boots[i].seconds;
	}
}

static int read_session(struct filling *f, int64_t session, struct err *err)
{
	struct report *r = f->report;
	size_t n_counts;
	int rc = store_session_get(f->store, session, &r->session, err);

	if (rc == 0)
		rc = fill_options(r, err);
	if (rc == 0)
		rc = store_metrics_get(f->store, session, &r->metrics, &r->n_metrics, err);
	if (rc == 0)
		rc = store_boot_list(f->store, session, &f->boots, &f->n_boots, err);
	if (rc == 0)
		rc = store_boot_runs(f->store, session, &f->counts, &n_counts, err);
	if (rc == 0)
		rc = store_step_list(f->store, session, &f->steps, &f->n_steps, err);
	if (rc < 0)
		return rc;
	while (f->n_boots > n_counts) /* can only be less where the store is damaged */
		boot_row_release(&f->boots[--f->n_boots]);
	f->side = xcalloc(f->n_boots + 1, sizeof(*f->side));
	r->kind = kind_of(r->session.kind);
	fill_cost(f);
	return 0;
}

static void filling_release(struct filling *f)
{
	for (size_t i = 0; i < f->n_boots; i++)
		boot_row_release(&f->boots[i]);
	for (size_t i = 0; i < f->n_steps; i++)
		step_row_release(&f->steps[i]);
	free(f->boots);
	free(f->counts);
	free(f->steps);
	free(f->side);
}

int report_fill(struct store *store, int64_t session, struct report **ret, struct err *err)
{
	static int (*const fill[])(struct filling * f, struct err * err) = {
		[REPORT_RUN] = fill_run,
		[REPORT_COMPARE] = fill_compare,
		[REPORT_BISECT] = fill_bisect,
	};
	autoreport struct report *r = xcalloc(1, sizeof(*r));
	struct filling f = {.store = store, .report = r};
	int rc = read_session(&f, session, err);

	if (rc == 0)
		rc = fill[r->kind](&f, err);
	filling_release(&f);
	if (rc < 0)
		return rc;
	*ret = take_ptr(&r);
	return 0;
}

static void side_release(struct report_side *side)
{
	free(side->name);
	free(side->rev);
	free(side->message);
	free(side->build_id);
	commit_row_release(&side->commit);
}

static void bisect_release(struct report_bisect *b)
{
	bisection_row_release(&b->row);
	commit_row_release(&b->good);
	commit_row_release(&b->bad);
	for (size_t i = 0; i < b->n_candidates; i++)
		commit_row_release(&b->candidates[i].commit);
	for (size_t i = 0; i < b->n_culprits; i++)
		commit_row_release(&b->culprits[i].commit);
	for (size_t i = 0; i < b->n_tested; i++) {
		commit_row_release(&b->tested[i].commit);
		free(b->tested[i].trouble);
	}
	free(b->candidates);
	free(b->culprits);
	free(b->tested);
	strv_free(b->notes);
}

void report_free(struct report *r)
{
	if (!r)
		return;
	session_row_release(&r->session);
	free(r->job);
	json_free(r->options);
	metric_rows_free(r->metrics, r->n_metrics);
	for (size_t i = 0; i < r->n_sides; i++)
		side_release(&r->sides[i]);
	free(r->sides);
	for (size_t i = 0; i < r->n_differences; i++) {
		free(r->differences[i].name);
		for (size_t side = 0; side < r->n_sides; side++)
			free(r->differences[i].values[side]);
		free(r->differences[i].values);
	}
	free(r->differences);
	value_table_release(&r->values);
	free(r->run_rows);
	free(r->rows);
	bisect_release(&r->bisect);
	free(r);
}
