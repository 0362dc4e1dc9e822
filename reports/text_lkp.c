// SPDX-License-Identifier: GPL-2.0-or-later
// The table that readers of 0-day mails know: two commits, %stddev and %change, then fail:runs.
#include "reports/cells.h"
#include "reports/rows.h"
#include "reports/text.h"

#include <math.h>

#define RULE                                                                                       \
	"========================================================================================" \
	"="

/* "2427", "84.75", "0.0123". */
static const char *number(double v, char buf[32])
{
	double size = fabs(v);

	if (isnan(v))
		snprintf(buf, 32, "-");
	else if (size >= 1e12 || (size > 0 && size < 0.01))
		snprintf(buf, 32, "%.4g", v);
	else
		snprintf(buf, 32, "%.*f", size < 1000 ? 2 : 0, v);
	return buf;
}

/* "+-  0.3%": under ten a decimal, so that a small spread is not none; blank where there is none.
 */
static const char *spread(const struct summary *s, char buf[32])
{
	double pct = row_spread_pct(s);

	if (isfinite(pct))
		snprintf(buf, 32, "+- %*.*f%%", 4, pct < 10 ? 1 : 0, pct);
	else
		buf[0] = '\0';
	return buf;
}

/* Of the printed centres; a difference where there is no percentage, nothing of what is noise. */
static const char *change(const struct comparison *c, char buf[32])
{
	double pct = row_ratio_pct(c);
	char value[32];

	if (!row_is_measured(c))
		snprintf(buf, 32, "-");
	else if (row_is_noise(c))
		snprintf(buf, 32, "noise");
	else if (!isnan(pct))
		snprintf(buf, 32, "%+.1f%%", pct);
	else
		snprintf(buf, 32, "%s%s", c->b.median > c->a.median ? "+" : "",
			 number(c->b.median - c->a.median, value));
	return buf;
}

static void add_axes(const struct report *r, struct buf *out)
{
	struct cell_words first = cell_words(r->values.n_cells ? r->values.cells[0] : "");

	buf_adds(out, RULE "\n");
	for (size_t i = 0; i < first.n; i++) {
		text_safe(out, first.keys[i], 30);
		buf_addch(out, '/');
	}
	buf_adds(out, "machine/testcase:\n  ");
	for (size_t i = 0; i < first.n; i++) {
		text_safe(out, r->values.n_cells == 1 ? first.values[i] : "*", 30);
		buf_addch(out, '/');
	}
	text_safe(out, r->session.machine, 30);
	buf_addch(out, '/');
	text_safe(out, r->session.job_name, 40);
	buf_addch(out, '\n');
	cell_words_release(&first);
}

static void add_commit(const struct report_side *s, struct buf *out)
{
	buf_printf(out, "  %.10s", s->commit.sha ? s->commit.sha : "-");
	if (s->commit.sha && *s->commit.subject) {
		buf_adds(out, " (\"");
		text_safe(out, s->commit.subject, TEXT_SUBJECT);
		buf_adds(out, "\")");
	}
	if (*s->name) {
		buf_adds(out, "  ");
		text_safe(out, s->name, 30);
	}
	if (*s->message) {
		buf_adds(out, ": not measured: ");
		text_safe(out, s->message, 80);
	}
	buf_addch(out, '\n');
}

static void add_name(const struct report *r, const struct report_row *row, struct buf *out)
{
	text_safe(out, r->metrics[row->metric].name, 60);
	if (!text_one_cell(r)) {
		buf_addch(out, ' ');
		text_safe(out, r->values.cells[row->cell], 60);
	}
}

/* Boots, interval and p of a KPI, and which change is which. */
static void add_kpi(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char pct[32];

	buf_printf(out, "    KPI: %s; %zu and %zu boots", text_verdict(r, row), c->a.n, c->b.n);
	if (row_is_measured(c) && !row_is_noise(c)) {
		buf_printf(out, "; Hodges-Lehmann change %s ",
			   isnan(row_change_pct(c)) ? number(c->difference.estimate, pct)
						    : text_percent(row_change_pct(c), pct));
		text_interval(c, out);
		if (interval_reached(&c->difference.interval, c->options.level))
			buf_printf(out, " %.3g%%", 100 * c->options.level);
		if (isnan(row_change_pct(c)))
			buf_adds(out, " in units");
	}
	if (!isnan(c->p_adjusted))
		buf_printf(out, "; adjusted p %.2g", c->p_adjusted);
	buf_addch(out, '\n');
}

static void add_row(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char value[32], of[32];

	buf_printf(out, "%14s %8s", number(c->a.median, value), spread(&c->a, of));
	buf_printf(out, " %10s", change(c, value));
	buf_printf(out, " %14s %8s  ", number(c->b.median, value), spread(&c->b, of));
	add_name(r, row, out);
	buf_adds(out, row->suspect ? "  SUSPECT\n" : "\n");
	if (c->options.kpi)
		add_kpi(r, row, out);
	text_remarks(r, row, out);
}

static void add_failures(const char *name, size_t fail_a, size_t n_a, size_t fail_b, size_t n_b,
			 struct buf *out)
{
	double step = 100 * ((double)fail_b / (double)n_b - (double)fail_a / (double)n_a);

	if ((!fail_a && !fail_b) || !n_a || !n_b)
		return;
	buf_printf(out, "%12zu:%-10zu %+9.0f%% %15zu:%-8zu %s\n", fail_a, n_a, step, fail_b, n_b,
		   name);
}

static void add_fail_rows(const struct report_side *a, const struct report_side *b, struct buf *out)
{
	autobuf rows = {};

	add_failures("boots", a->lost, a->boots + a->lost, b->lost, b->boots + b->lost, &rows);
	add_failures("runs", a->failed_runs, a->runs, b->failed_runs, b->runs, &rows);
	if (!rows.len)
		return;
	buf_printf(out, "%23s %10s %24s\n", "fail:runs", "%repro", "fail:runs ");
	buf_add(out, rows.data, rows.len);
}

static void table_of_side(const struct report *r, size_t side, struct buf *out)
{
	const struct report_side *a = &r->sides[0], *b = &r->sides[side];

	add_axes(r, out);
	buf_adds(out, "\ncommit:\n");
	add_commit(a, out);
	add_commit(b, out);
	buf_printf(out, "\n%23.10s %10s %23.10s\n", a->commit.sha ? a->commit.sha : "-", "",
		   b->commit.sha ? b->commit.sha : "-");
	buf_adds(out, "----------------------- ---------- -----------------------\n");
	buf_printf(out, "%23s %10s %23s\n", "%stddev", "%change", "%stddev");
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].side == side)
			add_row(r, &r->rows[i], out);
	add_fail_rows(a, b, out);
	buf_addch(out, '\n');
}

void text_lkp(const struct report *r, struct buf *out)
{
	for (size_t side = 1; side < r->n_sides; side++)
		table_of_side(r, side, out);
	buf_adds(out, "%change is the ratio of the printed centres (medians of boot values), a "
		      "difference where one\nis zero or negative; the interval is that of the "
		      "Hodges-Lehmann change.\n");
	text_gmeans(r, out);
	text_durations(r, out);
	text_environment(r, out);
}
