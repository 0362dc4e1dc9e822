// SPDX-License-Identifier: GPL-2.0-or-later
// The table that MMTests made known: the baseline first, any number of kernels, plus is better.
#include "reports/rows.h"
#include "reports/text.h"

#include <math.h>

#define LABEL 26

static double gain(const struct metric_row *m, double pct)
{
	return m->higher_is_better ? pct : pct == 0 ? 0 : -pct;
}

static const char *number(double v, char buf[32])
{
	if (fabs(v) >= 100 && fabs(v) < 1e12)
		snprintf(buf, 32, "%.2f", v);
	else
		text_value(v, buf);
	return buf;
}

static const struct report_row *find_row(const struct report *r, size_t cell, size_t metric,
					 size_t side)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].cell == cell && r->rows[i].metric == metric &&
		    r->rows[i].side == side)
			return &r->rows[i];
	return NULL;
}

static bool is_sure(const struct report *r, const struct report_row *row)
{
	return streq(text_verdict(r, row), "proved") || row->c.verdict == VERDICT_REGRESSION ||
	       row->c.verdict == VERDICT_IMPROVEMENT;
}

/* "(  32.95%)", "*  32.95%*" where it is significant, a difference or "noise" where no percentage
 * says anything. */
static void add_change(const struct report *r, size_t metric, double base, double mean,
		       const struct report_row *row, struct buf *out)
{
	const struct metric_row *m = &r->metrics[metric];
	const char *mark = row && is_sure(r, row) ? "**" : "()";
	char text[32], value[32];

	if (isnan(mean) || isnan(base))
		snprintf(text, sizeof(text), "-");
	else if (row && row_is_noise(&row->c))
		snprintf(text, sizeof(text), "noise");
	else if (base > 0 && mean >= 0)
		snprintf(text, sizeof(text), "%.2f%%", gain(m, 100 * (mean - base) / base));
	else
		snprintf(text, sizeof(text), "%s", number(gain(m, mean - base), value));
	buf_printf(out, " %c%9s%c", mark[0], text, mark[1]);
}

/* Boots and, against the baseline, interval and p of one KPI. */
static void add_grounds(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char pct[32];

	buf_adds(out, "    ");
	text_safe(out, r->sides[row->side].name, 30);
	buf_printf(out, ": %s; %zu and %zu boots", text_verdict(r, row), c->a.n, c->b.n);
	if (row_is_measured(c) && !row_is_noise(c)) {
		buf_adds(out, "; raw Hodges-Lehmann change ");
		buf_adds(out, isnan(row_change_pct(c)) ? text_value(c->difference.estimate, pct)
						       : text_percent(row_change_pct(c), pct));
		buf_addch(out, ' ');
		text_interval(c, out);
		if (interval_reached(&c->difference.interval, c->options.level))
			buf_printf(out, " %.3g%%", 100 * c->options.level);
	}
	if (!isnan(c->p_adjusted))
		buf_printf(out, "; adjusted p %.2g", c->p_adjusted);
	buf_addch(out, '\n');
	text_remarks(r, row, out);
}

static void add_line(const struct report *r, size_t cell, size_t metric, struct buf *out)
{
	const struct metric_row *m = &r->metrics[metric];
	double base = metric_mean(m, value_table_at(&r->values, cell, metric, 0));
	char value[32];

	buf_printf(out, "%s ", metric_is_rate(m) ? "Hmean" : "Amean");
	text_safe(out, text_one_cell(r) ? m->name : r->values.cells[cell], LABEL - 7);
	buf_pad(out, LABEL, ' ');
	for (size_t side = 0; side < r->n_sides; side++) {
		double mean = metric_mean(m, value_table_at(&r->values, cell, metric, side));

		buf_printf(out, " %12s", number(mean, value));
		add_change(r, metric, base, mean, find_row(r, cell, metric, side), out);
	}
	buf_addch(out, '\n');
	for (size_t side = 1; side < r->n_sides; side++) {
		const struct report_row *row = find_row(r, cell, metric, side);

		if (row && m->kpi)
			add_grounds(r, row, out);
		else if (row)
			text_remarks(r, row, out);
	}
}

static void add_gmean(const struct report *r, size_t metric, struct buf *out)
{
	bool any = false;

	for (size_t side = 1; side < r->n_sides; side++)
		any = any || !isnan(metric_gmean_ratio(r, metric, side));
	if (!any)
		return;
	buf_printf(out, "%-*s", LABEL, "Gmean of the ratios");
	for (size_t side = 0; side < r->n_sides; side++) {
		double ratio = side ? metric_gmean_ratio(r, metric, side) : 1;

		if (isnan(ratio))
			buf_printf(out, " %12s", "-");
		else
			buf_printf(out, " %12.4f", ratio);
		add_change(r, metric, 1, ratio, NULL, out);
	}
	buf_addch(out, '\n');
}

static void add_metric(const struct report *r, size_t metric, struct buf *out)
{
	bool any = false;

	for (size_t c = 0; c < r->values.n_cells; c++) {
		bool measured = false;

		for (size_t s = 0; s < r->n_sides; s++)
			measured = measured || value_table_at(&r->values, c, metric, s)->n;
		if (!measured)
			continue;
		if (!any) {
			text_metric(out, &r->metrics[metric]);
			buf_addch(out, '\n');
		}
		any = true;
		add_line(r, c, metric, out);
	}
	if (any)
		add_gmean(r, metric, out);
}

void text_mmtests(const struct report *r, struct buf *out)
{
	if (r->n_differences)
		text_environment(r, out);
	buf_addch(out, '\n');
	buf_pad(out, LABEL, ' ');
	for (size_t side = 0; side < r->n_sides; side++) {
		autobuf name = {};

		text_safe(&name, r->sides[side].name, 23);
		buf_printf(out, " %24s", buf_str(&name));
	}
	buf_addch(out, '\n');
	for (int kpi = 1; kpi >= 0; kpi--)
		for (size_t m = 0; m < r->n_metrics; m++)
			if (!!r->metrics[m].kpi == kpi)
				add_metric(r, m, out);
	text_durations(r, out);
	buf_adds(out, "\nPercentages compare the printed means of boot values (Hmean harmonic, of "
		      "rates; Amean arithmetic),\nplus is better whatever the direction; stars: "
		      "significant. The interval is that of the raw change.\n");
}
