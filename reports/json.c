// SPDX-License-Identifier: GPL-2.0-or-later
// The report as JSON. Keys are never absent: what has no answer is null.
#include "reports/json.h"

#include "harness/base/util.h"
#include "reports/cells.h"
#include "reports/rows.h"

#include <math.h>

struct json *json_cell(const char *name)
{
	struct json *cell = json_object_new();
	struct cell_words words = cell_words(name);

	for (size_t i = 0; i < words.n; i++)
		json_set_str(cell, words.keys[i], words.values[i]);
	cell_words_release(&words);
	return cell;
}

static const char *better(const struct metric_row *m)
{
	return m->higher_is_better ? "higher" : "lower";
}

static struct json *row_head(const struct report *r, size_t cell, size_t metric)
{
	const struct metric_row *m = &r->metrics[metric];
	struct json *row = json_object_new();

	json_set(row, "cell", json_cell(r->values.cells[cell]));
	json_set_str(row, "metric", m->name);
	json_set_str(row, "unit", m->unit);
	json_set_str(row, "better", better(m));
	json_set_bool(row, "kpi", m->kpi);
	return row;
}

static void add_cost(struct json *document, const struct report_cost *cost)
{
	struct json *o = json_set(document, "cost", json_object_new());

	json_set_int(o, "builds", (int64_t)cost->builds);
	json_set_int(o, "boots", (int64_t)cost->boots);
	json_set_int(o, "runs", (int64_t)cost->runs);
	json_set_num(o, "seconds", cost->seconds);
}

/* --- run --- */

static void add_interval(struct json *intervals, const char *name, const struct interval *i)
{
	struct json *o = json_set(intervals, name, json_object_new());

	json_set_num(o, "low", i->low);
	json_set_num(o, "high", i->high);
	json_set_num(o, "level", i->level);
}

static struct json *run_row(const struct report *r, const struct report_run_row *row)
{
	struct json *o = row_head(r, row->cell, row->metric);
	struct json *intervals;

	json_set_int(o, "boots", (int64_t)row->boots);
	json_set_int(o, "runs", (int64_t)row->runs);
	json_set_num(o, "centre", row->of.median);
	json_set_num(o, "mean", row->of.mean);
	json_set_num(o, "spread", row->of.sd);
	json_set_bool(o, "converged", row->converged);
	json_set_num(o, "half_width_percent", interval_width_pct(&row->t, row->of.mean) / 2);
	intervals = json_set(o, "intervals", json_object_new());
	add_interval(intervals, "t", &row->t);
	json_set_bool(json_get(intervals, "t"), "optional_stopping", true);
	add_interval(intervals, "always_valid", &row->always);
	add_interval(intervals, "median", &row->median);
	return o;
}

static void print_run(const struct report *r, struct json *document)
{
	const struct report_side *side = &r->sides[0];
	struct json *rows;

	json_set_int(document, "run", r->session.id);
	json_set_str(document, "commit", side->commit.sha);
	json_set_str(document, "subject", side->commit.sha ? side->commit.subject : NULL);
	json_set_str(document, "build_id", side->build_id);
	json_set_str(document, "unit", r->by_run ? "run" : "boot");
	json_set_num(document, "wanted_half_width_percent", r->interval_pct / 2);
	json_set_int(document, "boots", (int64_t)side->boots);
	json_set_int(document, "lost_boots", (int64_t)side->lost);
	json_set_int(document, "runs", (int64_t)side->runs);
	json_set_int(document, "failed_runs", (int64_t)side->failed_runs);
	rows = json_set(document, "rows", json_array_new());
	for (size_t i = 0; i < r->n_run_rows; i++)
		json_push(rows, run_row(r, &r->run_rows[i]));
}

/* --- compare --- */

static void add_duration(struct json *o, const struct report_side *side)
{
	struct json *d = json_set(o, "seconds_a_boot", json_object_new());

	json_set_num(d, "user", side->user_s);
	json_set_num(d, "system", side->sys_s);
	json_set_num(d, "elapsed", side->elapsed_s);
}

static void add_sides(struct json *document, const struct report *r)
{
	struct json *sides = json_set(document, "sides", json_array_new());

	for (size_t i = 0; i < r->n_sides; i++) {
		const struct report_side *side = &r->sides[i];
		struct json *o = json_push(sides, json_object_new());

		json_set_str(o, "name", side->name);
		json_set_str(o, "rev", side->rev);
		json_set_str(o, "commit", side->commit.sha);
		json_set_str(o, "subject", side->commit.sha ? side->commit.subject : NULL);
		json_set_str(o, "build_id", side->build_id);
		json_set_str(o, "message", *side->message ? side->message : NULL);
		json_set_int(o, "boots", (int64_t)side->boots);
		json_set_int(o, "lost_boots", (int64_t)side->lost);
		json_set_int(o, "runs", (int64_t)side->runs);
		json_set_int(o, "failed_runs", (int64_t)side->failed_runs);
		add_duration(o, side);
	}
}

/* The mean ratio over the cells, of every metric that has several. */
static void add_gmeans(struct json *document, const struct report *r)
{
	struct json *list = json_set(document, "geometric_means", json_array_new());

	for (size_t m = 0; m < r->n_metrics; m++) {
		for (size_t side = 1; side < r->n_sides; side++) {
			double ratio = metric_gmean_ratio(r, m, side);
			struct json *o;

			if (isnan(ratio))
				continue;
			o = json_push(list, json_object_new());
			json_set_str(o, "metric", r->metrics[m].name);
			json_set_int(o, "against", 0);
			json_set_int(o, "side", (int64_t)side);
			json_set_num(o, "ratio", ratio);
		}
	}
}

static void add_environment(struct json *document, const struct report *r)
{
	struct json *list = json_set(document, "differing_environment", json_array_new());

	for (size_t i = 0; i < r->n_differences; i++) {
		struct json *o = json_push(list, json_object_new());
		struct json *values;

		json_set_str(o, "name", r->differences[i].name);
		values = json_set(o, "sides", json_array_new());
		for (size_t side = 0; side < r->n_sides; side++)
			json_push(values, json_string_new(r->differences[i].values[side]));
	}
}

/* One entry for each side of the document, so that "against" and "side" are places in both lists.
 */
static void add_row_sides(struct json *row, const struct report *r, size_t cell, size_t metric)
{
	struct json *sides = json_set(row, "sides", json_array_new());

	for (size_t i = 0; i < r->n_sides; i++) {
		const struct value_series *v = value_table_at(&r->values, cell, metric, i);
		struct json *o = json_push(sides, json_object_new());

		json_set_int(o, "boots", (int64_t)v->boots);
		json_set_int(o, "runs", (int64_t)v->runs);
		json_set_num(o, "centre", values_median(v->at, v->n));
		json_set_num(o, "mean", metric_mean(&r->metrics[metric], v));
		json_set_num(o, "spread", values_sd(v->at, v->n));
	}
}

static void add_modes(struct json *row, const char *name, const struct modes *m)
{
	const struct mode *modes[] = {&m->low, &m->high};
	struct json *list = json_set(row, name, m->two ? json_array_new() : json_null_new());

	for (size_t i = 0; m->two && i < ARRAY_SIZE(modes); i++) {
		struct json *o = json_push(list, json_object_new());

		json_set_num(o, "centre", modes[i]->centre);
		json_set_num(o, "share", modes[i]->share);
	}
}

static struct json *compare_row(const struct report *r, const struct report_row *row)
{
	const struct comparison *c = &row->c;
	struct json *o = row_head(r, row->cell, row->metric);
	struct json *difference, *spread;

	json_set_int(o, "against", 0);
	json_set_int(o, "side", (int64_t)row->side);
	add_row_sides(o, r, row->cell, row->metric);
	json_set_num(o, "percent", c->percent.estimate);
	json_set_num(o, "low", c->percent.interval.low);
	json_set_num(o, "high", c->percent.interval.high);
	json_set_num(o, "level", c->level);
	json_set_num(o, "p", c->p);
	json_set_num(o, "p_adjusted", c->p_adjusted);
	json_set_str(o, "verdict", verdict_name(c->verdict));
	json_set(o, "needs_boots",
		 c->needs_boots ? json_integer_new((int64_t)c->needs_boots) : json_null_new());
	json_set_num(o, "centre_ratio_percent", row_ratio_pct(c));
	json_set_str(o, "mean_kind",
		     metric_is_rate(&r->metrics[row->metric]) ? "harmonic" : "arithmetic");
	json_set_bool(o, "noise", row_is_noise(c));
	json_set_bool(o, "suspect", row->suspect);
	difference = json_set(o, "difference", json_object_new());
	json_set_num(difference, "estimate", c->difference.estimate);
	json_set_num(difference, "low", c->difference.interval.low);
	json_set_num(difference, "high", c->difference.interval.high);
	spread = json_set(o, "spread", json_object_new());
	json_set_num(spread, "ratio", c->spread.ratio);
	json_set_num(spread, "low", c->spread.interval.low);
	json_set_num(spread, "high", c->spread.interval.high);
	json_set_str(spread, "verdict", spread_verdict(&c->spread));
	add_modes(o, "modes_against", &c->modes_a);
	add_modes(o, "modes", &c->modes_b);
	return o;
}

static void add_comparison(struct json *document, const struct report *r)
{
	struct json *rows;

	add_sides(document, r);
	rows = json_set(document, "rows", json_array_new());
	for (size_t i = 0; i < r->n_rows; i++)
		json_push(rows, compare_row(r, &r->rows[i]));
	add_gmeans(document, r);
	add_environment(document, r);
}

static void print_compare(const struct report *r, struct json *document)
{
	json_set_int(document, "compare", r->session.id);
	add_comparison(document, r);
}

/* --- bisect --- */

static void add_effect(struct json *document, const struct bisection_row *row)
{
	struct json *o = json_set(document, "effect", json_object_new());

	json_set_num(o, "percent", row->effect_pct);
	json_set_num(o, "low", row->effect_low);
	json_set_num(o, "high", row->effect_high);
	json_set_num(o, "good", row->effect_good);
	json_set_num(o, "bad", row->effect_bad);
	json_set_str(o, "unit", row->unit);
}

static void add_candidates(struct json *document, const struct report_bisect *b)
{
	struct json *list = json_set(document, "candidates", json_array_new());

	for (size_t i = 0; i < b->n_candidates; i++) {
		struct json *o = json_push(list, json_object_new());

		json_set_str(o, "commit", b->candidates[i].commit.sha);
		json_set_num(o, "probability", b->candidates[i].probability);
	}
}

static void add_notes(struct json *document, const struct report_bisect *b)
{
	struct json *list = json_set(document, "notes", json_array_new());

	for (size_t i = 0; b->notes && b->notes[i]; i++)
		json_push(list, json_string_new(b->notes[i]));
}

static void print_bisect(const struct report *r, struct json *document)
{
	const struct report_bisect *b = &r->bisect;
	const struct bisection_row *row = &b->row;
	struct json *o;

	json_set_int(document, "bisect", r->session.id);
	json_set_str(document, "looks_for", b->fix ? "fix" : "regression");
	json_set_str(document, "outcome", *row->outcome ? row->outcome : NULL);
	json_set_str(document, "culprit", row->culprit);
	o = json_set(document, "culprits", json_array_new());
	for (size_t i = 0; i < b->n_culprits; i++)
		json_push(o, json_string_new(b->culprits[i].commit.sha));
	json_set_str(document, "subject",
		     row->culprit && b->n_culprits ? b->culprits[0].commit.subject : NULL);
	json_set_num(document, "probability", row->probability);
	json_set_str(document, "good", row->good);
	json_set_str(document, "bad", row->bad);
	json_set_str(document, "metric", row->metric);
	json_set(document, "cell", json_cell(row->cell));
	add_candidates(document, b);
	add_effect(document, row);
	o = json_set(document, "checks", json_object_new());
	for (size_t i = 0; i < REPORT_CHECKS; i++)
		json_set_str(o, report_check_names[i], b->checks[i]);
	add_cost(document, &r->cost);
	json_set_int(document, "range", row->n_candidates);
	json_set_num(document, "smallest_effect_percent", row->smallest_effect_pct);
	add_notes(document, b);
	add_comparison(document, r);
}

void json_report_print(const struct report *r, struct buf *out)
{
	static void (*const print[])(const struct report *r, struct json *document) = {
		[REPORT_RUN] = print_run,
		[REPORT_COMPARE] = print_compare,
		[REPORT_BISECT] = print_bisect,
	};
	autojson struct json *document = json_object_new();

	json_set_int(document, "schema_version", 1);
	print[r->kind](r, document);
	if (r->kind != REPORT_BISECT)
		add_cost(document, &r->cost);
	json_set_str(document, "job", r->session.job_name);
	json_set_str(document, "machine", r->session.machine);
	json_set_str(document, "state", r->session.state);
	json_print(document, true, out);
	buf_addch(out, '\n');
}
