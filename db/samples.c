// SPDX-License-Identifier: GPL-2.0-or-later
// Reading numbers back: the samples of a session, the history of a metric.
#include "db/internal.h"

#include "harness/stats/summary.h"

/* Every name once, so that 500 metrics x 1000 runs do not make half a million strings. */
struct strings {
	VEC(char *) metrics; /* by metric id; NULL where not met yet */
	VEC(char *) cells;
	size_t last_cell;
};

static void strings_free(struct strings *st)
{
	if (!st)
		return;
	for (size_t i = 0; i < st->metrics.n; i++)
		free(st->metrics.at[i]);
	for (size_t i = 0; i < st->cells.n; i++)
		free(st->cells.at[i]);
	VEC_FREE(&st->metrics);
	VEC_FREE(&st->cells);
	free(st);
}

void sample_list_release(struct sample_list *l)
{
	strings_free(l->strings_);
	free(l->at);
	*l = (struct sample_list){};
}

/* Cells follow each other in the same order in every boot, so the search begins behind the last
 * one. */
static const char *intern_cell(struct strings *st, const char *cell)
{
	for (size_t i = 0; i < st->cells.n; i++) {
		size_t at = (st->last_cell + i) % st->cells.n;

		if (streq(st->cells.at[at], cell)) {
			st->last_cell = at;
			return st->cells.at[at];
		}
	}
	VEC_PUSH(&st->cells, xstrdup(cell));
	st->last_cell = st->cells.n - 1;
	return st->cells.at[st->last_cell];
}

static int load_metrics(struct store *s, struct strings *names, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT id, name FROM metrics ORDER BY id", "");

	while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
		while ((int64_t)names->metrics.n < sql_int(st, 0))
			VEC_PUSH(&names->metrics, NULL);
		VEC_PUSH(&names->metrics, xstrdup(sql_text(st, 1)));
	}
	return rc;
}

/* CROSS JOIN keeps this order of loops, which needs no sorting and reads nothing of other sessions.
 */
#define SAMPLES_OF                                                                                 \
	"SELECT b.id, r.id, r.cell, s.metric, s.value FROM boots b"                                \
	" CROSS JOIN runs r ON r.boot = b.id CROSS JOIN samples s ON s.run = r.id"                 \
	" WHERE b.session = ?1 AND b.status = 'ok' AND b.void_why IS NULL"                         \
	" AND (?2 IS NULL OR r.cell = ?2) AND s.value IS NOT NULL"
#define IN_ORDER " ORDER BY b.id, r.id, s.metric"

static const char all_samples[] = SAMPLES_OF IN_ORDER;
static const char samples_of_metric[] =
	SAMPLES_OF " AND s.metric IN (SELECT id FROM metrics WHERE name = ?3)" IN_ORDER;

int store_samples(struct store *s, int64_t session, const char *cell, const char *metric,
		  struct sample_list *ret, struct err *err)
{
	struct strings *names = xcalloc(1, sizeof(*names));
	struct sample_list list = { .strings_ = names };
	VEC(struct sample) found = {};
	autostmt *st = NULL;
	int64_t run = 0;
	const char *run_cell = NULL;
	int rc = load_metrics(s, names, err);

	if (rc == 0 && metric)
		rc = sql_query(s->db, &st, err, samples_of_metric, "iss", session, cell, metric);
	else if (rc == 0)
		rc = sql_query(s->db, &st, err, all_samples, "is", session, cell);
	while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
		if (sql_int(st, 1) != run) {
			run = sql_int(st, 1);
			run_cell = intern_cell(names, sql_text(st, 2));
		}
		VEC_PUSH(&found, (struct sample){ .boot = sql_int(st, 0),
						  .run = run,
						  .cell = run_cell,
						  .metric = names->metrics.at[sql_int(st, 3)],
						  .value = sql_double(st, 4) });
	}
	list.at = found.at;
	list.n = found.n;
	if (rc < 0)
		sample_list_release(&list);
	else
		*ret = list;
	return rc;
}

void history_release(struct history_point *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(p[i].commit_sha);
		free(p[i].variant);
		free(p[i].machine);
		free(p[i].cell);
		free(p[i].unit);
	}
	free(p);
}

static const char history_query[] =
	"SELECT b.id, b.session, b.started_s, b.commit_sha, m.name, r.cell, n.unit, s.value,"
	" coalesce(k.variant, '')"
	" FROM metrics n CROSS JOIN boots b CROSS JOIN runs r ON r.boot = b.id"
	" CROSS JOIN samples s ON s.run = r.id AND s.metric = n.id LEFT JOIN machines m ON m.id = "
	"b.machine"
	" LEFT JOIN kernels k ON k.id = b.kernel"
	" WHERE n.name = ?1 AND b.status = 'ok' AND b.void_why IS NULL AND s.value IS NOT NULL"
	" ORDER BY b.id, r.cell, n.unit, r.id";

static bool same_point(const struct history_point *p, struct sql_stmt *st)
{
	return p->boot == sql_int(st, 0) && streq(p->cell, sql_text(st, 5)) &&
	       streq(p->unit, sql_text(st, 6));
}

static struct history_point new_point(struct sql_stmt *st)
{
	return (struct history_point){
		.boot = sql_int(st, 0),
		.session = sql_int(st, 1),
		.started_s = sql_int(st, 2),
		.commit_sha = xstrdup(sql_text(st, 3)),
		.machine = xstrdup(sql_text(st, 4)),
		.cell = xstrdup(sql_text(st, 5)),
		.unit = xstrdup(sql_text(st, 6)),
		.variant = xstrdup(sql_text(st, 8)),
	};
}

int store_history(struct store *s, const char *metric, struct history_point **ret, size_t *ret_n,
		  struct err *err)
{
	VEC(struct history_point) points = {};
	VEC(double) values = {};
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, history_query, "s", metric);

	while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
		if (!points.n || !same_point(&points.at[points.n - 1], st))
			VEC_PUSH(&points, new_point(st));
		points.at[points.n - 1].runs++;
		VEC_PUSH(&values, sql_double(st, 7));
	}
	for (size_t i = 0, at = 0; i < points.n; at += points.at[i++].runs)
		points.at[i].value = values_median(values.at + at, points.at[i].runs);
	VEC_FREE(&values);
	if (rc < 0) {
		history_release(points.at, points.n);
		return rc;
	}
	*ret = points.at;
	*ret_n = points.n;
	return 0;
}
