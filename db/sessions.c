// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions, what they measure, and bisections.
#include "db/internal.h"

#define COL(field) COLUMN(struct session_row, field)
static const struct column session_columns[] = {
	COL(id),
	COL(kind),
	COL(key),
	COL(state),
	COL(job_name),
	COL(job_hash),
	COL(job_source),
	COL(repo),
	COL(machine),
	COL(argv),
	COL(cwd),
	COL(options),
	COL(pid),
	COL(started_s),
	COLUMN_AS(struct session_row, ended_s, REF),
	COL(message),
	COLUMN_AS(struct session_row, result, OPTIONAL),
};
#undef COL
static const struct table sessions = TABLE("sessions", session_columns, struct session_row);

#define COL(field) COLUMN(struct metric_row, field)
static const struct column metric_columns[] = {
	COL(name), COL(unit), COL(higher_is_better), COL(kpi), COL(centre),
};
#undef COL
static const struct table session_metrics =
	TABLE("session_metrics", metric_columns, struct metric_row);

#define COL(field) COLUMN(struct side_row, field)
static const struct column side_columns[] = {
	COL(session), COL(name), COL(rev), COLUMN_AS(struct side_row, commit_sha, OPTIONAL),
	COL(message),
};
#undef COL
static const struct table sides = TABLE("sides", side_columns, struct side_row);

#define COL(field)	COLUMN(struct bisection_row, field)
#define OPTIONAL(field) COLUMN_AS(struct bisection_row, field, OPTIONAL)
static const struct column bisection_columns[] = {
	COL(session),
	COL(good),
	COL(bad),
	COL(metric),
	COL(unit),
	COL(cell),
	COL(better_higher),
	COL(seed),
	COL(options),
	COL(outcome),
	OPTIONAL(culprit),
	OPTIONAL(culprits),
	COL(probability),
	OPTIONAL(candidates),
	COL(effect_pct),
	COL(effect_low),
	COL(effect_high),
	COL(effect_good),
	COL(effect_bad),
	OPTIONAL(checks),
	OPTIONAL(notes),
	COL(n_candidates),
	COL(smallest_effect_pct),
	COL(regained_pct),
};
#undef COL
#undef OPTIONAL
static const struct table bisections = TABLE("bisections", bisection_columns, struct bisection_row);

void session_row_release(struct session_row *r)
{
	table_release(&sessions, r);
}

int store_session_add(struct store *s, const struct session_row *in, int64_t *ret_id,
		      struct err *err)
{
	char none[] = "{}";
	struct session_row row = *in;

	row.started_s = time_or_now(row.started_s);
	if (!row.options)
		row.options = none;
	return table_insert(s->db, &sessions, &row, ret_id, err);
}

int store_session_get(struct store *s, int64_t id, struct session_row *ret, struct err *err)
{
	int rc = table_get(s->db, &sessions, "WHERE id = ?1", id, ret, err);

	if (rc == 0) {
		rc = err_set(err, ERR_NOT_FOUND, "there is no session %lld", (long long)id);
		err_hint(err, "'culprit status' lists them");
	}
	return rc < 0 ? rc : 0;
}

int store_session_find(struct store *s, const char *key, struct session_row *ret, struct err *err)
{
	return table_find(s->db, &sessions, "WHERE key = ?1 ORDER BY id DESC LIMIT 1", key, ret,
			  err);
}

int store_session_list(struct store *s, struct session_row **ret, size_t *ret_n, struct err *err)
{
	return table_list(s->db, &sessions, "ORDER BY id DESC", 0, ret, ret_n, err);
}

int store_session_state(struct store *s, int64_t id, const char *state, const char *message,
			struct err *err)
{
	bool over = streq(state, "done") || streq(state, "failed");

	return sql_run(s->db, err,
		       "UPDATE sessions SET state = ?2, message = ?3, ended_s = ?4,"
		       " pid = CASE WHEN ?2 = 'running' THEN ?5 ELSE pid END WHERE id = ?1",
		       "issri", id, state, message ? message : "", over ? clock_wall_s() : 0,
		       (int64_t)getpid());
}

int store_session_finished(struct store *s, const char *kind, const char *job_hash,
			   const char *machine, int64_t **ret, size_t *ret_n, struct err *err)
{
	autostmt *st = NULL;
	VEC(int64_t) ids = {};
	int rc = sql_query(s->db, &st, err,
			   "SELECT id FROM sessions WHERE kind = ?1 AND job_hash = ?2"
			   " AND machine = ?3 AND state = 'done' ORDER BY id DESC",
			   "sss", kind, job_hash, machine);

	while (rc >= 0 && (rc = sql_next(st, err)) > 0)
		VEC_PUSH(&ids, sql_int(st, 0));
	if (rc < 0) {
		VEC_FREE(&ids);
		return rc;
	}
	*ret = ids.at;
	*ret_n = ids.n;
	return 0;
}

int store_session_result(struct store *s, int64_t id, const char *result_json, struct err *err)
{
	return sql_run(s->db, err, "UPDATE sessions SET result = ?2 WHERE id = ?1", "is", id,
		       result_json);
}

int store_metrics_put(struct store *s, int64_t session, const struct metric_row *in, size_t n,
		      struct err *err)
{
	int own = sql_enter(s->db, err);
	int rc = MIN(own, 0);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = sql_run(s->db, err,
			     "INSERT OR REPLACE INTO session_metrics"
			     " (session, name, unit, higher_is_better, kpi, centre)"
			     " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
			     "issiis", session, in[i].name, in[i].unit ? in[i].unit : "",
			     (int64_t)in[i].higher_is_better, (int64_t)in[i].kpi,
			     in[i].centre ? in[i].centre : "median");
	return own < 0 ? own : sql_leave(s->db, own, rc, err);
}

int store_metrics_get(struct store *s, int64_t session, struct metric_row **ret, size_t *ret_n,
		      struct err *err)
{
	return table_list(s->db, &session_metrics, "WHERE session = ?1 ORDER BY rowid", session,
			  ret, ret_n, err);
}

void metric_rows_free(struct metric_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		table_release(&session_metrics, &rows[i]);
	free(rows);
}

void side_row_release(struct side_row *r)
{
	table_release(&sides, r);
}

int store_side_put(struct store *s, const struct side_row *in, struct err *err)
{
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	rc = commit_known(s, in->commit_sha, err);
	if (rc == 0)
		rc = sql_run(
			s->db, err,
			"INSERT INTO sides (session, name, rev, commit_sha, message)"
			" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (session, name) DO UPDATE SET"
			" rev = ?3, commit_sha = ?4, message = ?5",
			"issss", in->session, in->name, in->rev ? in->rev : "", in->commit_sha,
			in->message ? in->message : "");
	return sql_leave(s->db, own, rc, err);
}

int store_side_list(struct store *s, int64_t session, struct side_row **ret, size_t *ret_n,
		    struct err *err)
{
	return table_list(s->db, &sides, "WHERE session = ?1 ORDER BY rowid", session, ret, ret_n,
			  err);
}

void bisection_row_release(struct bisection_row *r)
{
	table_release(&bisections, r);
}

bool bisection_has(const struct bisection_row *r, const char *option)
{
	ERR_CLEANUP struct err err = {};
	autojson struct json *options = NULL;

	return r->options && json_parse(r->options, strlen(r->options), &options, &err) == 0 &&
	       json_get(options, option) != NULL;
}

int store_bisection_put(struct store *s, const struct bisection_row *in, struct err *err)
{
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	rc = commit_known(s, in->good, err);
	if (rc == 0)
		rc = commit_known(s, in->bad, err);
	if (rc == 0)
		rc = table_replace(s->db, &bisections, in, err);
	return sql_leave(s->db, own, rc, err);
}

int store_bisection_get(struct store *s, int64_t session, struct bisection_row *ret,
			struct err *err)
{
	int rc = table_get(s->db, &bisections, "WHERE session = ?1", session, ret, err);

	if (rc == 0) {
		rc = err_set(err, ERR_NOT_FOUND, "session %lld is no bisection",
			     (long long)session);
		err_hint(err, "'culprit status' lists them");
	}
	return rc < 0 ? rc : 0;
}
