// SPDX-License-Identifier: GPL-2.0-or-later
// Boots and their runs.
#include "db/internal.h"

#define OUTPUT_MAX ((size_t)256 << 10)

#define COL(field) COLUMN(struct boot_row, field)
#define REF(field) COLUMN_AS(struct boot_row, field, REF)
static const struct column boot_columns[] = {
	COL(id),	REF(session),	  REF(kernel),
	REF(machine),	REF(fingerprint), COLUMN_AS(struct boot_row, commit_sha, OPTIONAL),
	COL(side),	COL(purpose),	  COL(status),
	COL(phase),	COL(message),	  COLUMN_AS(struct boot_row, void_why, OPTIONAL),
	COL(started_s), COL(seconds),	  COL(boot_seconds),
	COL(seed),	COL(log_path),
};
#undef COL
#undef REF
static const struct table boots = TABLE("boots", boot_columns, struct boot_row);

#define COL(field) COLUMN(struct run_row, field)
static const struct column run_columns[] = {
	COL(id),
	COL(boot),
	COL(cell),
	COL(number),
	COL(status),
	COL(message),
	COL(exit_code),
	COL(signal),
	COL(seconds),
	COL(user_s),
	COL(sys_s),
	COL(voluntary_switches),
	COL(involuntary_switches),
	COL(max_rss_bytes),
	COL(output_total),
};
#undef COL
static const struct table runs = TABLE("runs", run_columns, struct run_row);

void boot_row_release(struct boot_row *r)
{
	table_release(&boots, r);
}

int store_boot_add(struct store *s, const struct boot_row *in, int64_t *ret_id, struct err *err)
{
	char started[] = "started";
	struct boot_row row = *in;
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	row.status = started;
	row.started_s = time_or_now(row.started_s);
	rc = commit_known(s, row.commit_sha, err);
	if (rc == 0)
		rc = table_insert(s->db, &boots, &row, ret_id, err);
	return sql_leave(s->db, own, rc, err);
}

int store_boot_end(struct store *s, const struct boot_row *in, struct err *err)
{
	int rc = sql_run(
		s->db, err,
		"UPDATE boots SET fingerprint = coalesce(?2, fingerprint), status = ?3,"
		" phase = coalesce(?4, phase), message = coalesce(?5, message), seconds = ?6,"
		" boot_seconds = ?7, seed = ?8, log_path = coalesce(?9, log_path) WHERE id = ?1",
		"irsssddis", in->id, in->fingerprint, in->status, in->phase, in->message,
		in->seconds, in->boot_seconds, in->seed, in->log_path);

	if (rc == 0 && sql_changed_rows(s->db) == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no boot %lld", (long long)in->id);
	return rc;
}

int store_boot_get(struct store *s, int64_t id, struct boot_row *ret, struct err *err)
{
	int rc = table_get(s->db, &boots, "WHERE id = ?1", id, ret, err);

	if (rc == 0) {
		rc = err_set(err, ERR_NOT_FOUND, "there is no boot %lld", (long long)id);
		err_hint(err, "'culprit show N' lists the boots of session N");
	}
	return rc < 0 ? rc : 0;
}

int store_boot_list(struct store *s, int64_t session, struct boot_row **ret, size_t *ret_n,
		    struct err *err)
{
	return table_list(s->db, &boots, "WHERE session = ?1 ORDER BY id", session, ret, ret_n,
			  err);
}

int store_boot_void(struct store *s, int64_t id, const char *why, struct err *err)
{
	struct boot_row boot = {};
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	rc = store_boot_get(s, id, &boot, err);
	if (rc == 0)
		rc = sql_run(s->db, err, "UPDATE boots SET void_why = ?2 WHERE id = ?1", "is", id,
			     why);
	if (rc == 0)
		rc = journal_line(s, boot.session, id, "void", boot.commit_sha, why, err);
	boot_row_release(&boot);
	return sql_leave(s->db, own, rc, err);
}

int store_boots_interrupted(struct store *s, int64_t session, size_t *ret_n, struct err *err)
{
	int rc = sql_run(
		s->db, err,
		"UPDATE boots SET status = 'interrupted' WHERE session = ?1 AND status = 'started'",
		"i", session);

	if (rc == 0 && ret_n)
		*ret_n = sql_changed_rows(s->db);
	return rc;
}

void run_row_release(struct run_row *r)
{
	free(r->output);
	table_release(&runs, r);
}

/* What tells most stands at the beginning and the end. */
static int add_output(struct store *s, int64_t run, const char *output, size_t len, struct err *err)
{
	autofree char *cut = NULL;

	if (len > OUTPUT_MAX) {
		cut = xmalloc(OUTPUT_MAX);
		memcpy(cut, output, OUTPUT_MAX / 2);
		memcpy(cut + OUTPUT_MAX / 2, output + len - OUTPUT_MAX / 2, OUTPUT_MAX / 2);
		output = cut;
		len = OUTPUT_MAX;
	}
	return sql_run(s->db, err, "INSERT INTO outputs (run, output) VALUES (?1, ?2)", "ib", run,
		       output, len);
}

void metrics_forget(struct store *s)
{
	for (size_t i = 0; i < s->metrics.n; i++) {
		free(s->metrics.at[i].name);
		free(s->metrics.at[i].unit);
	}
	VEC_FREE(&s->metrics);
}

static int find_metric(struct store *s, const char *name, const char *unit, int64_t *ret_id,
		       struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_run(s->db, err,
			 "INSERT INTO metrics (name, unit) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
			 "ss", name, unit);

	if (rc == 0)
		rc = sql_query(s->db, &st, err,
			       "SELECT id FROM metrics WHERE name = ?1 AND unit = ?2", "ss", name,
			       unit);
	if (rc == 0)
		rc = sql_next(st, err);
	if (rc > 0)
		*ret_id = sql_int(st, 0);
	return MIN(rc, 0);
}

static int metric_id(struct store *s, const struct sample_row *sample, int64_t *ret_id,
		     struct err *err)
{
	const char *unit = sample->unit ? sample->unit : "";
	int rc;

	for (size_t i = 0; i < s->metrics.n; i++) {
		size_t at = (s->next_metric + i) % s->metrics.n;

		if (streq(s->metrics.at[at].name, sample->metric) &&
		    streq(s->metrics.at[at].unit, unit)) {
			s->next_metric = at + 1;
			*ret_id = s->metrics.at[at].id;
			return 0;
		}
	}
	rc = find_metric(s, sample->metric, unit, ret_id, err);
	if (rc == 0)
		VEC_PUSH(&s->metrics,
			 (struct known_metric){ xstrdup(sample->metric), xstrdup(unit), *ret_id });
	return rc;
}

static int add_samples(struct store *s, int64_t run, const struct sample_row *samples, size_t n,
		       struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err,
			   "INSERT INTO samples (run, metric, value) VALUES (?1, ?2, ?3)", "");

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		int64_t metric = 0;

		rc = metric_id(s, &samples[i], &metric, err);
		if (rc == 0) {
			sql_rebind(st, "iid", run, metric, samples[i].value);
			rc = sql_next(st, err);
		}
	}
	return rc;
}

int store_run_add(struct store *s, const struct run_row *run, const struct sample_row *samples,
		  size_t n, int64_t *ret_id, struct err *err)
{
	int own = sql_enter(s->db, err);
	int64_t id;
	int rc;

	if (own < 0)
		return own;
	rc = table_insert(s->db, &runs, run, &id, err);
	if (rc == 0 && run->output)
		rc = add_output(s, id, run->output, run->output_len, err);
	if (rc == 0)
		rc = add_samples(s, id, samples, n, err);
	rc = sql_leave(s->db, own, rc, err);
	if (rc < 0)
		metrics_forget(s);
	else if (ret_id)
		*ret_id = id;
	return rc;
}

static int read_output(struct store *s, struct run_row *run, struct err *err)
{
	autostmt *st = NULL;
	const void *data;
	int rc = sql_query(s->db, &st, err, "SELECT output FROM outputs WHERE run = ?1", "i",
			   run->id);

	if (rc == 0)
		rc = sql_next(st, err);
	if (rc > 0) {
		data = sql_blob(st, 0, &run->output_len);
		run->output = xmalloc(run->output_len + 1);
		memcpy(run->output, data ? data : "", run->output_len);
		((char *)run->output)[run->output_len] = '\0';
	}
	return rc < 0 ? rc : 0;
}

int store_run_list(struct store *s, int64_t boot, struct run_row **ret, size_t *ret_n,
		   struct err *err)
{
	struct run_row *rows;
	size_t n;
	int rc = table_list(s->db, &runs, "WHERE boot = ?1 ORDER BY id", boot, &rows, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = read_output(s, &rows[i], err);
	if (rc < 0) {
		for (size_t i = 0; i < n; i++)
			run_row_release(&rows[i]);
		free(rows);
		return rc;
	}
	*ret = rows;
	*ret_n = n;
	return 0;
}

int store_boot_runs(struct store *s, int64_t session, struct boot_runs **ret, size_t *ret_n,
		    struct err *err)
{
	VEC(struct boot_runs) counts = {};
	autostmt *st = NULL;
	int rc = sql_query(
		s->db, &st, err,
		"SELECT b.id, count(r.id), coalesce(sum(r.status = 'failed'), 0),"
		" sum(r.seconds), sum(r.user_s), sum(r.sys_s) FROM boots b"
		" LEFT JOIN runs r ON r.boot = b.id WHERE b.session = ?1 GROUP BY b.id ORDER BY "
		"b.id",
		"i", session);

	while (rc >= 0 && (rc = sql_next(st, err)) > 0)
		VEC_PUSH(&counts, (struct boot_runs){ .boot = sql_int(st, 0),
						      .runs = sql_int(st, 1),
						      .failed = sql_int(st, 2),
						      .seconds = sql_double(st, 3),
						      .user_s = sql_double(st, 4),
						      .sys_s = sql_double(st, 5) });
	if (rc < 0) {
		VEC_FREE(&counts);
		return rc;
	}
	*ret = counts.at;
	*ret_n = counts.n;
	return 0;
}
