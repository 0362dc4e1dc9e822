// SPDX-License-Identifier: GPL-2.0-or-later
// The journal of a session, and a person's word on commits. Append only.
#include "db/internal.h"

#define COL(field) COLUMN(struct step_row, field)
static const struct column step_columns[] = {
	COL(id),
	COL(session),
	COLUMN_AS(struct step_row, boot, REF),
	COL(when_s),
	COL(what),
	COLUMN_AS(struct step_row, commit_sha, OPTIONAL),
	COL(detail),
	COLUMN_AS(struct step_row, data, OPTIONAL),
	COL(seconds),
};
#undef COL
static const struct table steps = TABLE("steps", step_columns, struct step_row);

void step_row_release(struct step_row *r)
{
	table_release(&steps, r);
}

int store_step_add(struct store *s, const struct step_row *in, int64_t *ret_id, struct err *err)
{
	struct step_row row = *in;
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	row.when_s = time_or_now(row.when_s);
	rc = commit_known(s, row.commit_sha, err);
	if (rc == 0)
		rc = table_insert(s->db, &steps, &row, ret_id, err);
	return sql_leave(s->db, own, rc, err);
}

int store_step_list(struct store *s, int64_t session, struct step_row **ret, size_t *ret_n,
		    struct err *err)
{
	return table_list(s->db, &steps, "WHERE session = ?1 ORDER BY id", session, ret, ret_n,
			  err);
}

int store_step_last(struct store *s, int64_t session, struct step_row *ret, struct err *err)
{
	return table_get(s->db, &steps, "WHERE session = ?1 ORDER BY id DESC LIMIT 1", session, ret,
			 err);
}

int journal_line(struct store *s, int64_t session, int64_t boot, const char *what, const char *sha,
		 const char *detail, struct err *err)
{
	return sql_run(s->db, err,
		       "INSERT INTO steps (session, boot, when_s, what, commit_sha, detail)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
		       "irisss", session, boot, clock_wall_s(), what, sha, detail);
}

int store_skip_add(struct store *s, int64_t session, const char *sha, struct err *err)
{
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	rc = commit_known(s, sha, err);
	if (rc == 0)
		rc = sql_run(s->db, err,
			     "INSERT INTO skips (session, commit_sha, when_s) VALUES (?1, ?2, ?3)"
			     " ON CONFLICT (session, commit_sha) DO NOTHING",
			     "isi", session, sha, clock_wall_s());
	if (rc == 0 && sql_changed_rows(s->db) > 0)
		rc = journal_line(s, session, 0, "skip", sha,
				  "not to be tested, by a person's word", err);
	return sql_leave(s->db, own, rc, err);
}

int store_skip_list(struct store *s, int64_t session, char ***ret_shas, struct err *err)
{
	autostmt *st = NULL;
	autostrv char **shas = xcalloc(1, sizeof(*shas));
	int rc = sql_query(s->db, &st, err,
			   "SELECT commit_sha FROM skips WHERE session = ?1 ORDER BY rowid", "i",
			   session);

	while (rc >= 0 && (rc = sql_next(st, err)) > 0)
		strv_push(&shas, sql_text(st, 0));
	if (rc < 0)
		return rc;
	*ret_shas = take_ptr(&shas);
	return 0;
}
