// SPDX-License-Identifier: GPL-2.0-or-later
// What boots refer to: commits, kernels, machines, environments. Found or added, never twice.
#include "db/internal.h"

#define COL(field) COLUMN(struct commit_row, field)
static const struct column commit_columns[] = { COL(sha), COL(subject), COL(author), COL(date_s) };
#undef COL
static const struct table commits = TABLE("commits", commit_columns, struct commit_row);

#define COL(field) COLUMN(struct kernel_row, field)
static const struct column kernel_columns[] = {
	COL(id),	  COLUMN_AS(struct kernel_row, commit_sha, OPTIONAL),
	COL(variant),	  COL(key),
	COL(identity),	  COL(code_hash),
	COL(config_hash), COL(config_diff),
	COL(toolchain),	  COL(status),
	COL(message),	  COL(build_seconds),
};
#undef COL
static const struct table kernels = TABLE("kernels", kernel_columns, struct kernel_row);

/* Runs an upsert that ends in RETURNING id. */
static int returned_id(struct sql_stmt *st, int64_t *ret_id, struct err *err)
{
	int rc = sql_next(st, err);

	if (rc <= 0)
		return rc;
	if (ret_id)
		*ret_id = sql_int(st, 0);
	/* The row is written when the statement ends. */
	return sql_next(st, err);
}

int commit_known(struct store *s, const char *sha, struct err *err)
{
	if (!sha)
		return 0;
	return sql_run(s->db, err,
		       "INSERT INTO commits (sha) VALUES (?1) ON CONFLICT (sha) DO NOTHING", "s",
		       sha);
}

void commit_row_release(struct commit_row *r)
{
	table_release(&commits, r);
}

int store_commit_put(struct store *s, const struct commit_row *in, int64_t *ret_id, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(
		s->db, &st, err,
		"INSERT INTO commits (sha, subject, author, date_s) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT (sha) DO UPDATE SET subject = ?2, author = ?3, date_s = ?4"
		" RETURNING id",
		"sssi", in->sha, in->subject ? in->subject : "", in->author ? in->author : "",
		in->date_s);

	return rc < 0 ? rc : returned_id(st, ret_id, err);
}

int store_commit_get(struct store *s, const char *sha, struct commit_row *ret, struct err *err)
{
	return table_find(s->db, &commits, "WHERE sha = ?1", sha, ret, err);
}

void kernel_row_release(struct kernel_row *r)
{
	table_release(&kernels, r);
}

static const char *text(const char *s)
{
	return s ? s : "";
}

/* A build that came from the cache took no time; how long it takes is still worth knowing. */
static const char kernel_upsert[] =
	"INSERT INTO kernels (commit_sha, variant, key, identity, code_hash, config_hash, "
	"config_diff,"
	" toolchain, status, message, build_seconds)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
	" ON CONFLICT (key) DO UPDATE SET commit_sha = ?1, variant = ?2, identity = ?4, code_hash "
	"= ?5,"
	" config_hash = ?6, config_diff = ?7, toolchain = ?8, status = ?9, message = ?10,"
	" build_seconds = CASE WHEN ?11 > 0 THEN ?11 ELSE build_seconds END RETURNING id";

int store_kernel_put(struct store *s, const struct kernel_row *in, int64_t *ret_id, struct err *err)
{
	autostmt *st = NULL;
	int own = sql_enter(s->db, err);
	int rc;

	if (own < 0)
		return own;
	rc = commit_known(s, in->commit_sha, err);
	if (rc == 0)
		rc = sql_query(s->db, &st, err, kernel_upsert, "ssssssssssd", in->commit_sha,
			       text(in->variant), in->key, text(in->identity), text(in->code_hash),
			       text(in->config_hash), text(in->config_diff), text(in->toolchain),
			       text(in->status), text(in->message), in->build_seconds);
	if (rc == 0)
		rc = returned_id(st, ret_id, err);
	sql_done(take_ptr(&st));
	return sql_leave(s->db, own, rc, err);
}

int store_kernel_get(struct store *s, int64_t id, struct kernel_row *ret, struct err *err)
{
	int rc = table_get(s->db, &kernels, "WHERE id = ?1", id, ret, err);

	if (rc == 0)
		rc = err_set(err, ERR_NOT_FOUND, "there is no kernel %lld", (long long)id);
	return rc < 0 ? rc : 0;
}

int store_machine_put(struct store *s, const char *name, const char *kind, int64_t *ret_id,
		      struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err,
			   "INSERT INTO machines (name, kind) VALUES (?1, ?2)"
			   " ON CONFLICT (name) DO UPDATE SET kind = ?2 RETURNING id",
			   "ss", name, kind);

	return rc < 0 ? rc : returned_id(st, ret_id, err);
}

int store_fingerprint_put(struct store *s, const char *json_text, int64_t *ret_id, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err,
			   "INSERT INTO fingerprints (environment) VALUES (?1)"
			   " ON CONFLICT (environment) DO UPDATE SET environment = ?1 RETURNING id",
			   "s", json_text);

	return rc < 0 ? rc : returned_id(st, ret_id, err);
}

int store_config_get(struct store *s, const char *hash, char **ret_content, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT content FROM configs WHERE hash = ?1", "s",
			   hash);

	if (rc == 0)
		rc = sql_next(st, err);
	if (rc > 0)
		*ret_content = xstrdup(sql_text(st, 0));
	return rc;
}

int store_fingerprint_get(struct store *s, int64_t id, char **ret_json, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT environment FROM fingerprints WHERE id = ?1",
			   "i", id);

	if (rc == 0)
		rc = sql_next(st, err);
	if (rc > 0)
		*ret_json = xstrdup(sql_text(st, 0));
	else if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no environment %lld", (long long)id);
	return rc < 0 ? rc : 0;
}
