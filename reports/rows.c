// SPDX-License-Identifier: GPL-2.0-or-later
// Percentages that mean something, and means by the kind of metric.
#include "reports/rows.h"

#include "harness/base/util.h"

#include <math.h>

bool row_is_measured(const struct comparison *c)
{
	return c->a.n && c->b.n;
}

double row_ratio_pct(const struct comparison *c)
{
	return c->a.median > 0 && c->b.median >= 0 ? c->centre_pct : NAN;
}

double row_change_pct(const struct comparison *c)
{
	return c->percent.estimate;
}

double row_spread_pct(const struct summary *s)
{
	return s->median > 0 ? 100 * s->sd / s->median : NAN;
}

bool row_is_noise(const struct comparison *c)
{
	return row_spread_pct(&c->a) >= 100 || row_spread_pct(&c->b) >= 100;
}

bool metric_is_rate(const struct metric_row *m)
{
	size_t n = strlen(m->unit);

	if (strstr(m->unit, "/s") || str_ends(m->unit, "Hz"))
		return true;
	/* bps, tps, IOPS; but ps alone is a time */
	return n > 2 && strcasecmp(m->unit + n - 2, "ps") == 0;
}

double metric_mean(const struct metric_row *m, const struct value_series *v)
{
	return metric_is_rate(m) ? values_hmean(v->at, v->n) : values_mean(v->at, v->n);
}

double metric_gmean_ratio(const struct report *r, size_t metric, size_t side)
{
	const struct metric_row *m = &r->metrics[metric];
	double sum = 0;
	size_t n = 0;

	for (size_t c = 0; c < r->values.n_cells; c++) {
		const struct value_series *a = value_table_at(&r->values, c, metric, 0);
		const struct value_series *b = value_table_at(&r->values, c, metric, side);

		if (!a->n && !b->n)
			continue;
		if (!(metric_mean(m, a) > 0 && metric_mean(m, b) > 0))
			return NAN;
		sum += log(metric_mean(m, b) / metric_mean(m, a));
		n++;
	}
	return n > 1 ? exp(sum / (double)n) : NAN;
}
