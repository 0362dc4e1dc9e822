// SPDX-License-Identifier: GPL-2.0-or-later
// What stands below a table: geometric means, how long the sides took, how their environments
// differ.
#include "reports/rows.h"
#include "reports/text.h"

#include <math.h>

#define ENVIRONMENT_MAX 30 /* lines */
#define VALUE_MAX	60

void text_gmeans(const struct report *r, struct buf *out)
{
	char change[32], name[8];
	bool any = false;

	for (size_t m = 0; m < r->n_metrics; m++) {
		for (size_t side = 1; side < r->n_sides; side++) {
			double ratio = metric_gmean_ratio(r, m, side);

			if (isnan(ratio))
				continue;
			buf_adds(out, any ? "" : "\n  Geometric mean over the cells, against A\n");
			any = true;
			buf_adds(out, "  ");
			text_safe(out, r->metrics[m].name, 40);
			buf_pad(out, 44, ' ');
			buf_printf(out, " %s %.4f (%s)\n", text_letter(side, name), ratio,
				   text_percent(100 * (ratio - 1), change));
		}
	}
}

static bool any_time(const struct report *r)
{
	for (size_t i = 0; i < r->n_sides; i++)
		if (r->sides[i].elapsed_s > 0)
			return true;
	return false;
}

static double time_of(const struct report_side *s, int which)
{
	return which == 0 ? s->user_s : which == 1 ? s->sys_s : s->elapsed_s;
}

void text_durations(const struct report *r, struct buf *out)
{
	static const char *const names[] = {"User", "System", "Elapsed"};

	if (!any_time(r))
		return;
	buf_printf(out, "\n  %-10s", "Duration");
	for (size_t i = 0; i < r->n_sides; i++) {
		autobuf name = {};

		text_safe(&name, r->sides[i].name, 16);
		buf_printf(out, " %16s", buf_str(&name));
	}
	buf_adds(out, "  (seconds a boot)\n");
	for (int which = 0; which < 3; which++) {
		buf_printf(out, "  %-10s", names[which]);
		for (size_t i = 0; i < r->n_sides; i++) {
			double t = time_of(&r->sides[i], which);

			if (isfinite(t))
				buf_printf(out, " %16.2f", t);
			else
				buf_printf(out, " %16s", "-");
		}
		buf_addch(out, '\n');
	}
}

void text_environment(const struct report *r, struct buf *out)
{
	char name[8];

	if (r->n_differences)
		buf_adds(out, "\n  What differs in the environment\n");
	for (size_t i = 0; i < MIN(r->n_differences, (size_t)ENVIRONMENT_MAX); i++) {
		buf_adds(out, "  ");
		text_safe(out, r->differences[i].name, 40);
		buf_addch(out, '\n');
		for (size_t side = 0; side < r->n_sides; side++) {
			const char *value = r->differences[i].values[side];

			buf_printf(out, "    %s  ", text_letter(side, name));
			text_safe(out, value ? value : "-", VALUE_MAX);
			buf_addch(out, '\n');
		}
	}
	if (r->n_differences > ENVIRONMENT_MAX)
		buf_printf(out, "  and %zu more\n", r->n_differences - ENVIRONMENT_MAX);
}
