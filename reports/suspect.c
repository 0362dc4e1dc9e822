// SPDX-License-Identifier: GPL-2.0-or-later
// Cells that stand far off the next steps of a sweep on all sides alike.
#include "reports/rows.h"

#include "harness/base/util.h"
#include "reports/cells.h"

#include <ctype.h>
#include <math.h>

#define FAR log(5) /* a factor of 5 from one step to the next */

/* The cells' places along each parameter. */
struct sweep {
	const struct report *report;
	struct cell_words *cells;
	double *levels; /* logarithms of this metric's centres, by side and cell */
	size_t side;
};

static double level(const struct sweep *s, size_t cell)
{
	return s->levels[s->side * s->report->values.n_cells + cell];
}

/* Of every cell and side, once a metric. */
static void read_levels(struct sweep *s, size_t metric)
{
	const struct report *r = s->report;

	for (size_t side = 0; side < r->n_sides; side++) {
		for (size_t c = 0; c < r->values.n_cells; c++) {
			const struct value_series *v = value_table_at(&r->values, c, metric, side);
			double centre = values_median(v->at, v->n);

			s->levels[side * r->values.n_cells + c] = centre > 0 ? log(centre) : NAN;
		}
	}
}

static bool same_line(const struct sweep *s, size_t a, size_t b, size_t axis)
{
	const struct cell_words *x = &s->cells[a], *y = &s->cells[b];

	if (x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++)
		if (!streq(x->keys[i], y->keys[i]) ||
		    (i != axis && !streq(x->values[i], y->values[i])))
			return false;
	return true;
}

/* The nearest cell along a parameter, upwards or downwards, that has a level; SIZE_MAX for none. */
static size_t next_cell(const struct sweep *s, size_t cell, size_t axis, int way)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->report->values.n_cells; i++) {
		const char *here = s->cells[cell].values[axis];

		if (i == cell || !same_line(s, cell, i, axis) || isnan(level(s, i)) ||
		    strverscmp(s->cells[i].values[axis], here) * way <= 0)
			continue;
		if (best == SIZE_MAX ||
		    strverscmp(s->cells[i].values[axis], s->cells[best].values[axis]) * way < 0)
			best = i;
	}
	return best;
}

/* At the end of a sweep: against the step before it. */
static bool end_is_odd(const struct sweep *s, size_t cell, size_t near, size_t axis, int way)
{
	size_t beyond = next_cell(s, near, axis, way);
	double step = level(s, cell) - level(s, near), before;

	if (beyond == SIZE_MAX)
		return false;
	before = level(s, near) - level(s, beyond);
	return fabs(step) > 3 * fabs(before) && (fabs(before) < log(1.5) || step * before < 0);
}

/* 1 above, -1 below its neighbours along this parameter, 0 in line with one, 2 nothing to say. */
static int along(const struct sweep *s, size_t cell, size_t axis)
{
	size_t down = next_cell(s, cell, axis, -1), up = next_cell(s, cell, axis, 1);
	size_t near = down != SIZE_MAX ? down : up;
	double step;

	if (near == SIZE_MAX || !isdigit((unsigned char)*s->cells[cell].values[axis]))
		return 2;
	step = level(s, cell) - level(s, near);
	if (fabs(step) < FAR)
		return 0;
	if (down != SIZE_MAX && up != SIZE_MAX) {
		double other = level(s, cell) - level(s, up);

		return fabs(other) < FAR || step * other < 0 ? 0 : step > 0 ? 1 : -1;
	}
	if (!end_is_odd(s, cell, near, axis, down != SIZE_MAX ? -1 : 1))
		return 0;
	return step > 0 ? 1 : -1;
}

/* 1 far above all its neighbours, -1 far below, else 0. */
static int oddity(const struct sweep *s, size_t cell)
{
	int found = 0;

	if (isnan(level(s, cell)))
		return 0;
	for (size_t axis = 0; axis < s->cells[cell].n; axis++) {
		int way = along(s, cell, axis);

		if (way == 2)
			continue;
		if (way == 0 || (found && way != found))
			return 0;
		found = way;
	}
	return found;
}

void rows_mark_suspect(struct report *r)
{
	size_t n = r->values.n_cells, metric = SIZE_MAX;
	struct sweep s = {.report = r,
			  .cells = xcalloc(n + 1, sizeof(*s.cells)),
			  .levels = xcalloc(n * r->n_sides + 1, sizeof(*s.levels))};

	for (size_t i = 0; i < n; i++)
		s.cells[i] = cell_words(r->values.cells[i]);
	for (size_t i = 0; n > 1 && i < r->n_rows; i++) {
		struct report_row *row = &r->rows[i];
		int base;

		if (row->metric != metric)
			read_levels(&s, row->metric);
		metric = row->metric;
		s.side = 0;
		base = oddity(&s, row->cell);
		s.side = row->side;
		row->suspect = base && oddity(&s, row->cell) == base;
	}
	for (size_t i = 0; i < n; i++)
		cell_words_release(&s.cells[i]);
	free(s.cells);
	free(s.levels);
}
