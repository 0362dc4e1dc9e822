// SPDX-License-Identifier: GPL-2.0-or-later
// From samples to boot values by cell, metric and side.
#include "reports/values.h"

#include "harness/base/util.h"
#include "harness/stats/centre.h"

/* Names in the sample list are interned, so that pointers stand for them. */
struct collecting {
	const struct value_request *request;
	const struct sample_list *list;
	struct value_table table;
	const char **cells;   /* the list's own strings, in the table's order */
	VEC(double) * bucket; /* this boot's runs, by cell and metric */
	size_t last_cell, last_metric, last_boot;
};

static struct value_series *series_at(const struct value_table *t, size_t cell, size_t metric,
				      size_t side)
{
	return &t->series[(cell * t->n_metrics + metric) * t->n_sides + side];
}

const struct value_series *value_table_at(const struct value_table *t, size_t cell, size_t metric,
					  size_t side)
{
	return series_at(t, cell, metric, side);
}

void value_table_release(struct value_table *t)
{
	for (size_t i = 0; i < t->n_cells * t->n_metrics * t->n_sides; i++)
		free(t->series[i].at);
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->series);
	free(t->cells);
	*t = (struct value_table){};
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_cells(struct collecting *c)
{
	VEC(const char *) cells = {};
	const char *last = NULL;

	for (size_t i = 0; i < c->list->n; i++) {
		const char *cell = c->list->at[i].cell;
		bool known = cell == last;

		for (size_t k = 0; !known && k < cells.n; k++)
			known = cells.at[k] == cell;
		if (!known)
			VEC_PUSH(&cells, cell);
		last = cell;
	}
	if (cells.n)
		qsort(cells.at, cells.n, sizeof(*cells.at), by_version);
	c->cells = cells.at;
	c->table.n_cells = cells.n;
	c->table.cells = xcalloc(cells.n + 1, sizeof(*c->table.cells));
	for (size_t i = 0; i < cells.n; i++)
		c->table.cells[i] = xstrdup(cells.at[i]);
}

static size_t cell_index(struct collecting *c, const char *cell)
{
	while (c->cells[c->last_cell] != cell)
		c->last_cell = (c->last_cell + 1) % c->table.n_cells;
	return c->last_cell;
}

/* Runs name their metrics in one order, so the search begins behind the last one found. */
static bool metric_index(struct collecting *c, const char *metric, size_t *ret)
{
	size_t n = c->table.n_metrics;

	for (size_t i = 0; i < n; i++) {
		size_t at = (c->last_metric + i) % n;

		if (streq(c->request->metrics[at].name, metric)) {
			*ret = at;
			c->last_metric = at + 1;
			return true;
		}
	}
	return false;
}

/* The side of a boot; samples come in boot order, as boots do. */
static int side_of(struct collecting *c, int64_t boot)
{
	const struct value_request *r = c->request;

	while (c->last_boot < r->n_boots && r->boots[c->last_boot].id < boot)
		c->last_boot++;
	if (c->last_boot < r->n_boots && r->boots[c->last_boot].id == boot)
		return r->side[c->last_boot];
	return -1;
}

static void add_value(struct value_series *s, double value)
{
	/* Grows by doubling: a power of two is full. */
	if ((s->n & (s->n - 1)) == 0)
		s->at = xrealloc(s->at, s->n ? 2 * s->n : 1, sizeof(*s->at));
	s->at[s->n++] = value;
}

static void end_boot(struct collecting *c, int side)
{
	const struct value_request *r = c->request;

	for (size_t i = 0; i < c->table.n_cells * c->table.n_metrics; i++) {
		struct value_series *s = &c->table.series[i * c->table.n_sides + side];
		enum centre_kind kind = CENTRE_MEDIAN;
		double quantile = 0;

		if (!c->bucket[i].n)
			continue;
		centre_parse(r->metrics[i % c->table.n_metrics].centre, &kind, &quantile);
		s->boots++;
		s->runs += c->bucket[i].n;
		if (!r->by_run)
			add_value(s, centre_value(kind, quantile, c->bucket[i].at, c->bucket[i].n));
		for (size_t k = 0; r->by_run && k < c->bucket[i].n; k++)
			add_value(s, c->bucket[i].at[k]);
		c->bucket[i].n = 0;
	}
}

static void collect(struct collecting *c)
{
	const struct sample_list *l = c->list;

	for (size_t i = 0; i < l->n; i++) {
		int side = side_of(c, l->at[i].boot);
		size_t metric;

		if (side >= 0 && metric_index(c, l->at[i].metric, &metric)) {
			size_t cell = cell_index(c, l->at[i].cell);

			VEC_PUSH(&c->bucket[cell * c->table.n_metrics + metric], l->at[i].value);
		}
		if (side >= 0 && (i + 1 == l->n || l->at[i + 1].boot != l->at[i].boot))
			end_boot(c, side);
	}
}

int value_table_fill(struct store *store, const struct value_request *request,
		     struct value_table *ret, struct err *err)
{
	struct sample_list list;
	struct collecting c = {
		.request = request,
		.list = &list,
		.table = {.n_metrics = request->n_metrics, .n_sides = request->n_sides}};
	int rc = store_samples(store, request->session, request->cell, request->metric, &list, err);
	size_t n;

	if (rc < 0)
		return rc;
	find_cells(&c);
	n = c.table.n_cells * c.table.n_metrics;
	c.table.series = xcalloc(n * c.table.n_sides + 1, sizeof(*c.table.series));
	c.bucket = xcalloc(n + 1, sizeof(*c.bucket));
	collect(&c);
	for (size_t i = 0; i < n; i++)
		VEC_FREE(&c.bucket[i]);
	free(c.bucket);
	free(c.cells);
	sample_list_release(&list);
	*ret = c.table;
	return 0;
}
