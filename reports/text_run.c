// SPDX-License-Identifier: GPL-2.0-or-later
// One commit's numbers as text, with three intervals and whether they are sure enough.
#include "reports/text.h"

#include <math.h>

static void add_interval(struct buf *out, const char *name, const struct interval *i,
			 const char *remark)
{
	char low[32], high[32];

	buf_printf(out, "      %-14s ", name);
	if (i->level > 0 && isfinite(i->low) && isfinite(i->high))
		buf_printf(out, "%.4g%%: %s .. %s", 100 * i->level, text_value(i->low, low),
			   text_value(i->high, high));
	else
		buf_adds(out, "not from so few");
	buf_printf(out, "%s\n", remark);
}

static void add_state(const struct report *r, const struct report_run_row *row, struct buf *out)
{
	double half = interval_width_pct(&row->t, row->of.mean) / 2;

	if (isfinite(half))
		buf_printf(out, " +-%.2g%%", half);
	buf_pad(out, 67, ' ');
	if (row->converged)
		buf_adds(out, "converged\n");
	else
		buf_printf(out, "%s (+-%.3g%% wanted)\n",
			   r->metrics[row->metric].kpi ? "NOT CONVERGED" : "not converged",
			   r->interval_pct / 2);
}

static void add_row(const struct report *r, const struct report_run_row *row, struct buf *out)
{
	const struct metric_row *m = &r->metrics[row->metric];
	char centre[32], spread[32];
	autobuf label = {};

	if (text_one_cell(r))
		buf_printf(&label, "%s%s%s", m->name, *m->unit ? " " : "", m->unit);
	else
		buf_adds(&label, r->values.cells[row->cell]);
	buf_adds(out, "  ");
	text_safe(out, buf_str(&label), 26);
	buf_pad(out, 28, ' ');
	buf_printf(out, " %5zu %5zu %10s %7s", row->boots, row->runs,
		   text_value(row->of.median, centre), text_spread(&row->of, spread));
	add_state(r, row, out);
	if (!m->kpi)
		return;
	add_interval(out, "t of the mean", &row->t,
		     "  (with optional stopping: covers less than that)");
	add_interval(out, "always valid", &row->always, "");
	add_interval(out, "of the median", &row->median, "");
}

void text_run(const struct report *r, struct buf *out)
{
	const struct report_side *side = &r->sides[0];
	size_t metric = SIZE_MAX;

	buf_printf(out, "Run %lld of ", (long long)r->session.id);
	text_safe(out, r->session.job_name, 40);
	buf_adds(out, " on ");
	text_safe(out, r->session.machine, 30);
	if (side->commit.sha) {
		buf_adds(out, "\n  ");
		text_commit(out, &side->commit, TEXT_SUBJECT);
	} else if (side->build_id) {
		buf_printf(out, "\n  kernel with build-id %s", side->build_id);
	}
	buf_adds(out, "\n\n");
	if (!r->n_run_rows)
		buf_adds(out, "  no boot has given a value yet\n");
	else
		buf_printf(out, "  %-26s %5s %5s %10s %7s  +-half\n",
			   text_one_cell(r) ? "metric" : "cell", "boots", "runs", "centre",
			   "spread");
	for (size_t i = 0; i < r->n_run_rows; i++) {
		if (r->run_rows[i].metric != metric && !text_one_cell(r)) {
			buf_adds(out, "  ");
			text_metric(out, &r->metrics[r->run_rows[i].metric]);
			buf_addch(out, '\n');
		}
		metric = r->run_rows[i].metric;
		add_row(r, &r->run_rows[i], out);
	}
	if (r->by_run)
		buf_adds(out, "\n  The unit is a run of one boot: another boot can differ by more "
			      "than this.\n");
	if (side->lost || side->voided || side->failed_runs)
		buf_printf(out,
			   "\n  Boots without a value: %zu, taken out by a person: %zu. Failed "
			   "runs: %zu of %zu.\n",
			   side->lost, side->voided, side->failed_runs, side->runs);
	text_cost(r, out);
}
