// SPDX-License-Identifier: GPL-2.0-or-later
// Boot values out of the store, and those that came since.

#include "harness/measure/series.h"

static const char *intern(struct series *s, const char *text)
{
	for (size_t i = 0; i < s->strings_.n; i++)
		if (streq(s->strings_.at[i], text))
			return s->strings_.at[i];
	VEC_PUSH(&s->strings_, xstrdup(text));
	return s->strings_.at[s->strings_.n - 1];
}

static const struct boot_row *find_boot(const struct boot_row *rows, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

/* samples come in boot order: a boot's values of one cell and metric stand together */
static int load_metric(struct lab *lab, const struct boot_row *boots, size_t n_boots,
		       const struct cell *cell, const struct metric *metric, struct series *s,
		       struct err *err)
{
	struct sample_list list = {};
	autofree double *values = NULL;

	if (store_samples(lab->store, lab->session, cell->name, metric->name, &list, err) < 0)
		return -err->code;
	values = xcalloc(list.n + 1, sizeof(*values));
	for (size_t i = 0, n; i < list.n; i += n) {
		const struct boot_row *boot = find_boot(boots, n_boots, list.at[i].boot);

		for (n = 0; i + n < list.n && list.at[i + n].boot == list.at[i].boot; n++)
			values[n] = list.at[i + n].value;
		if (!boot)
			continue;
		struct series_point p = {
			.boot = boot->id,
			.side = intern(s, boot->side),
			.purpose = intern(s, boot->purpose),
			.cell = cell,
			.metric = metric,
			.value = centre_value(metric->centre, metric->quantile, values, n),
		};
		VEC_PUSH(&s->points, p);
	}
	sample_list_release(&list);
	return 0;
}

int series_load(struct lab *lab, struct series *ret, struct err *err)
{
	struct boot_row *boots = NULL;
	struct series s = {};
	size_t n = 0;
	int r = store_boot_list(lab->store, lab->session, &boots, &n, err);

	for (size_t c = 0; r >= 0 && c < lab->job->n_cells; c++)
		for (size_t m = 0; r >= 0 && m < lab->job->n_metrics; m++)
			r = load_metric(lab, boots, n, &lab->job->cells[c], &lab->job->metrics[m],
					&s, err);
	for (size_t i = 0; i < n; i++)
		boot_row_release(&boots[i]);
	free(boots);
	if (r < 0) {
		series_release(&s);
		return r;
	}
	*ret = s;
	return 0;
}

void series_add(struct series *s, const char *side, const char *purpose,
		const struct boot_result *result)
{
	for (size_t i = 0; i < result->values.n; i++) {
		const struct boot_value *v = &result->values.at[i];
		struct series_point p = {result->boot, intern(s, side), intern(s, purpose),
					 v->cell,      v->metric,	v->value};

		VEC_PUSH(&s->points, p);
	}
}

void series_release(struct series *s)
{
	for (size_t i = 0; i < s->strings_.n; i++)
		free(s->strings_.at[i]);
	VEC_FREE(&s->strings_);
	VEC_FREE(&s->points);
}

double *series_values(const struct series *s, const char *side, const char *purpose,
		      const struct cell *cell, const struct metric *metric, size_t *ret_n)
{
	double *values = xcalloc(s->points.n + 1, sizeof(*values));
	size_t n = 0;

	for (size_t i = 0; i < s->points.n; i++) {
		const struct series_point *p = &s->points.at[i];

		if (p->cell == cell && p->metric == metric && streq(p->purpose, purpose) &&
		    (!side || streq(p->side, side)))
			values[n++] = p->value;
	}
	*ret_n = n;
	return values;
}

size_t series_boots(const struct series *s, const char *side, const char *purpose)
{
	size_t n = 0;
	int64_t last = 0;
	VEC(int64_t) seen = {};

	for (size_t i = 0; i < s->points.n; i++) {
		const struct series_point *p = &s->points.at[i];
		bool known = p->boot == last;

		for (size_t k = 0; !known && k < seen.n; k++)
			known = seen.at[k] == p->boot;
		last = p->boot;
		if (known || !streq(p->side, side) || !streq(p->purpose, purpose))
			continue;
		VEC_PUSH(&seen, p->boot);
		n++;
	}
	VEC_FREE(&seen);
	return n;
}
