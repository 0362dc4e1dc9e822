// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers for people, and the comparison as text.
#include "reports/text.h"

#include "harness/base/clock.h"
#include "harness/stats/fisher.h"
#include "reports/rows.h"

#include <math.h>

#define LABEL_MAX 20

void text_safe(struct buf *out, const char *text, size_t max)
{
	buf_add_safe(out, text, strlen(text), max, false);
}

const char *text_value(double v, char buf[32])
{
	double size = fabs(v);
	int decimals;

	if (isnan(v)) {
		snprintf(buf, 32, "-");
	} else if (size != 0 && (size >= 1e9 || size < 1e-3)) {
		snprintf(buf, 32, "%.4g", v);
	} else {
		decimals = size < 1 ? 5 : 4 - (int)floor(log10(size));
		snprintf(buf, 32, "%.*f", MAX(decimals, 0), v);
	}
	return buf;
}

const char *text_percent(double pct, char buf[32])
{
	if (isnan(pct))
		snprintf(buf, 32, "-");
	else
		snprintf(buf, 32, "%+.*f%%",
			 fabs(pct) < 0.095 && pct != 0 ? 2
			 : fabs(pct) < 999.5	       ? 1
						       : 0,
			 pct);
	return buf;
}

const char *text_spread(const struct summary *s, char buf[32])
{
	double pct = row_spread_pct(s);

	if (isfinite(pct))
		snprintf(buf, 32, "+-%.*f%%", pct < 99.5 ? 1 : 0, pct);
	else if (s->sd > 0) /* of a centre that is zero or negative there is no percentage */
		snprintf(buf, 32, "+-%.3g", s->sd);
	else
		buf[0] = '\0';
	return buf;
}

void text_commit(struct buf *out, const struct commit_row *c, size_t max)
{
	buf_printf(out, "%.12s", c->sha ? c->sha : "no commit");
	if (c->subject && *c->subject) {
		buf_adds(out, " (\"");
		text_safe(out, c->subject, max);
		buf_adds(out, "\")");
	}
}

void text_metric(struct buf *out, const struct metric_row *m)
{
	text_safe(out, m->name, 60);
	if (*m->unit) {
		buf_adds(out, ", ");
		text_safe(out, m->unit, 20);
	}
	buf_printf(out, " (%s is better%s)", m->higher_is_better ? "higher" : "lower",
		   m->kpi ? ", KPI" : "");
}

void text_cost(const struct report *r, struct buf *out)
{
	char time[32];
	const struct report_cost *c = &r->cost;

	buf_printf(out, "\nCost: %zu build%s, %zu boot%s, %zu run%s", c->builds,
		   c->builds == 1 ? "" : "s", c->boots, c->boots == 1 ? "" : "s", c->runs,
		   c->runs == 1 ? "" : "s");
	if (c->seconds > 0)
		buf_printf(out, ", %s", clock_format_duration(c->seconds, time));
	buf_addch(out, '\n');
}

bool text_one_cell(const struct report *r)
{
	return r->values.n_cells == 1;
}

/* --- the sides --- */

const char *text_letter(size_t side, char buf[8])
{
	if (side < 26)
		snprintf(buf, 8, "%c", (char)('A' + side));
	else
		snprintf(buf, 8, "%c%c", (char)('A' + (side / 26 - 1) % 26),
			 (char)('A' + side % 26));
	return buf;
}

static void side_trouble(const struct report_side *s, struct buf *out)
{
	if (*s->message) {
		buf_adds(out, "     not measured: ");
		text_safe(out, s->message, 80);
		buf_addch(out, '\n');
		return;
	}
	if (s->boots == 0)
		buf_adds(out, "     no boot gave a value\n");
	if (s->lost)
		buf_printf(out, "     %zu boot%s gave no value\n", s->lost,
			   s->lost == 1 ? "" : "s");
	if (s->voided)
		buf_printf(out, "     %zu boot%s taken out by a person\n", s->voided,
			   s->voided == 1 ? "" : "s");
}

/* Failures are counts with a test of their own. */
static void side_failures(const struct report *r, size_t i, struct buf *out)
{
	const struct report_side *a = &r->sides[0], *b = &r->sides[i];
	struct fisher_test f;

	if (i == 0 || (!a->failed_runs && !b->failed_runs))
		return;
	f = fisher_test(a->failed_runs, a->runs, b->failed_runs, b->runs);
	buf_printf(out, "     failed runs: %zu:%zu against %zu:%zu of A, Fisher's exact p %.2g\n",
		   b->failed_runs, b->runs, a->failed_runs, a->runs, f.p);
}

void text_sides(const struct report *r, struct buf *out)
{
	char name[8];

	for (size_t i = 0; i < r->n_sides; i++) {
		const struct report_side *s = &r->sides[i];

		buf_printf(out, "  %s  ", text_letter(i, name));
		text_safe(out, s->build_id ? path_base(s->name) : s->name, s->build_id ? 40 : 20);
		buf_pad(out, 14, ' ');
		buf_addch(out, ' ');
		if (s->build_id)
			buf_printf(out, "build-id %s", s->build_id);
		else
			text_commit(out, &s->commit, TEXT_SUBJECT);
		buf_addch(out, '\n');
		side_trouble(s, out);
		side_failures(r, i, out);
	}
}

/* --- the table --- */

bool text_is_steering(const struct report *r, const struct report_row *row)
{
	return streq(r->metrics[row->metric].name, r->bisect.row.metric) &&
	       streq(r->values.cells[row->cell], r->bisect.row.cell);
}

/* The row that the bisection proved by its own test, which may need fewer boots than the table's.
 */
static bool is_proved(const struct report *r, const struct report_row *row)
{
	return r->bisect.confirmed && streq(r->bisect.checks[1], "pass") &&
	       text_is_steering(r, row);
}

const char *text_verdict(const struct report *r, const struct report_row *row)
{
	const struct comparison *c = &row->c;

	if (!row_is_measured(c))
		return "not measured";
	if (is_proved(r, row))
		return "proved";
	switch (c->verdict) {
	case VERDICT_REGRESSION:
		return c->options.kpi ? "REGRESSION" : "worse";
	case VERDICT_IMPROVEMENT:
		return c->options.kpi ? "IMPROVEMENT" : "better";
	case VERDICT_NO_REGRESSION:
		return "no regression";
	case VERDICT_TOO_FEW_BOOTS:
		return "too few boots";
	case VERDICT_BIMODAL:
		return "two modes";
	default:
		return c->options.kpi ? "INCONCLUSIVE" : "inconclusive";
	}
}

void text_interval(const struct comparison *c, struct buf *out)
{
	char low[32], high[32];
	bool percent = !isnan(c->percent.estimate);
	const struct interval *i = percent ? &c->percent.interval : &c->difference.interval;

	if (isnan(i->low))
		return;
	if (percent)
		buf_printf(out, "[%+.1f, %+.1f]", i->low, i->high);
	else
		buf_printf(out, "[%s, %s]", text_value(i->low, low), text_value(i->high, high));
	/* few boots reach less than was asked for */
	if (!interval_reached(i, c->options.level))
		buf_printf(out, " %.2g%%", 100 * i->level);
}

static void add_cell_value(const struct summary *s, struct buf *out)
{
	char value[32], spread[32];

	buf_printf(out, " %9s %7s", text_value(s->median, value), text_spread(s, spread));
}

static void add_label(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct metric_row *m = &r->metrics[row->metric];
	autobuf label = {};

	if (text_one_cell(r)) {
		buf_printf(&label, "%s%s%s", m->name, *m->unit ? " " : "", m->unit);
		text_safe(out, buf_str(&label), LABEL_MAX);
	} else {
		text_safe(out, r->values.cells[row->cell], LABEL_MAX);
	}
}

static void add_row(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char change[32];
	autobuf interval = {};

	buf_adds(out, "  ");
	add_label(r, row, out);
	buf_pad(out, 2 + LABEL_MAX, ' ');
	add_cell_value(&c->a, out);
	add_cell_value(&c->b, out);
	if (row_is_noise(c))
		buf_printf(out, " %8s ", "noise");
	else if (isnan(c->percent.estimate))
		buf_printf(out, " %8s ", text_value(c->difference.estimate, change));
	else
		buf_printf(out, " %8s ", text_percent(c->percent.estimate, change));
	if (!row_is_noise(c))
		text_interval(c, &interval);
	buf_printf(out, "%-18s %s%s\n", buf_str(&interval), text_verdict(r, row),
		   row->suspect ? ", SUSPECT" : "");
}

static void add_modes(const char *side, const struct modes *m, struct buf *out)
{
	char low[32], high[32];

	if (m->two)
		buf_printf(out,
			   "    %s has two modes: %s (%.0f%%) and %s (%.0f%%); no verdict from "
			   "their middle\n",
			   side, text_value(m->low.centre, low), 100 * m->low.share,
			   text_value(m->high.centre, high), 100 * m->high.share);
}

/* What is missing for a verdict, in words. */
static void add_missing(const struct comparison *c, struct buf *out)
{
	if (c->verdict == VERDICT_INCONCLUSIVE)
		buf_printf(out,
			   "    INCONCLUSIVE: neither a change nor its absence (within %.3g%%) is "
			   "shown; ",
			   c->options.min_effect_pct);
	else if (c->verdict == VERDICT_TOO_FEW_BOOTS)
		buf_adds(out, "    TOO FEW BOOTS: so few can show no change, however large; ");
	else
		return;
	buf_printf(out,
		   c->needs_boots ? "about %zu a side would\n"
				  : "no number of boots is known that would\n",
		   c->needs_boots);
}

/* The noise itself is a result where it changed. */
static void add_spread(const struct spread *s, const char *a, const char *b, struct buf *out)
{
	const char *verdict = spread_verdict(s);

	if (verdict && !streq(verdict, "same"))
		buf_printf(out,
			   "    SPREAD: boots of %s vary %.2g times as much as those of %s [%.2g, "
			   "%.2g]\n",
			   b, s->ratio, a, s->interval.low, s->interval.high);
}

void text_remarks(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char name[8], other[8];

	if (row->suspect)
		buf_adds(out, "    SUSPECT: on both sides this cell is far off the next steps, it "
			      "may not measure the same\n");
	if (!c->options.kpi || !row_is_measured(c) || is_proved(r, row))
		return;
	add_missing(c, out);
	add_spread(&c->spread, text_letter(0, name), text_letter(row->side, other), out);
	add_modes(text_letter(0, name), &c->modes_a, out);
	add_modes(text_letter(row->side, name), &c->modes_b, out);
}

/* Boots, adjusted p and the ratio of centres of a KPI. */
static void add_grounds(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char ratio[32];

	if (c->options.kpi && row_is_measured(c)) {
		buf_printf(out, "    %zu and %zu boots", c->a.n, c->b.n);
		if (!isnan(c->p_adjusted))
			buf_printf(out, ", adjusted p %.2g", c->p_adjusted);
		if (!isnan(row_ratio_pct(c)) && !row_is_noise(c))
			buf_printf(out, ", ratio of the centres %s",
				   text_percent(row_ratio_pct(c), ratio));
		if (isnan(c->percent.estimate))
			buf_adds(out, ", change in units");
		buf_addch(out, '\n');
	}
	text_remarks(r, row, out);
}

static void table_of_side(const struct report *r, size_t side, struct buf *out)
{
	char a[8], b[8];
	size_t metric = SIZE_MAX;
	double level = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].side == side)
			level = MAX(level, r->rows[i].c.options.level);
	buf_printf(out, "\n  %-20s %9s %7s %9s %7s %8s %.3g%% interval\n",
		   text_one_cell(r) ? "metric" : "cell", text_letter(0, a), "spread",
		   text_letter(side, b), "spread", "change", 100 * level);
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct report_row *row = &r->rows[i];

		if (row->side != side)
			continue;
		if (row->metric != metric && !text_one_cell(r)) {
			buf_adds(out, "  ");
			text_metric(out, &r->metrics[row->metric]);
			buf_addch(out, '\n');
		}
		metric = row->metric;
		add_row(r, row, out);
		add_grounds(r, row, out);
	}
}

/* "2", or "1 to 3.2" where rows differ in the noise that was known of them */
static void smallest_effects(const struct report *r, struct buf *out)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < r->n_rows; i++) {
		least = MIN(least, r->rows[i].c.options.min_effect_pct);
		most = MAX(most, r->rows[i].c.options.min_effect_pct);
	}
	buf_printf(out, "%.3g", least);
	if (least < most)
		buf_printf(out, " to %.3g", most);
}

void text_table(const struct report *r, struct buf *out)
{
	if (!r->n_rows) {
		buf_adds(out, "\n  no boot has given a value yet\n");
		return;
	}
	for (size_t side = 1; side < r->n_sides; side++)
		table_of_side(r, side, out);
	text_gmeans(r, out);
	buf_adds(out, "\n  Centres are medians of boot values, the change is the Hodges-Lehmann "
		      "estimate with its\n  interval; changes under ");
	smallest_effects(r, out);
	buf_adds(out, "% count as none.\n");
}

static void text_compare(const struct report *r, struct buf *out)
{
	buf_printf(out, "Comparison %lld of ", (long long)r->session.id);
	text_safe(out, r->session.job_name, 40);
	buf_adds(out, " on ");
	text_safe(out, r->session.machine, 30);
	buf_adds(out, "\n\n");
	text_sides(r, out);
	text_table(r, out);
	text_durations(r, out);
	text_environment(r, out);
	text_cost(r, out);
}

void text_print(const struct report *r, struct buf *out)
{
	static void (*const print[])(const struct report *r, struct buf *out) = {
		[REPORT_RUN] = text_run,
		[REPORT_COMPARE] = text_compare,
		[REPORT_BISECT] = text_bisect,
	};

	print[r->kind](r, out);
	if (streq(r->session.state, "paused") || streq(r->session.state, "failed")) {
		buf_printf(out, "\nSession %s", r->session.state);
		if (*r->session.message) {
			buf_adds(out, ": ");
			text_safe(out, r->session.message, 400);
		}
		buf_addch(out, '\n');
		if (streq(r->session.state, "paused"))
			buf_printf(out, "'culprit continue %lld' goes on\n",
				   (long long)r->session.id);
	}
}
