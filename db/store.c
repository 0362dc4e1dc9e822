// SPDX-License-Identifier: GPL-2.0-or-later
// Opening the store: where its file is, the versions of its schema, transactions.
#include "db/internal.h"

#include "harness/base/fs.h"

#include "mails_sql.h"
#include "origins_sql.h"
#include "schema_sql.h"

/* The script that leads from version i to i + 1. */
static const char *const versions[] = { schema_sql, mails_sql, origins_sql };

static int open_file(const char *state_dir, enum sql_mode mode, struct store **ret, struct err *err)
{
	autofree char *path = xasprintf("%s/culprit.db", state_dir);
	struct sql *db;
	int rc;

	if (mode == SQL_READ && !fs_exists(path)) {
		rc = err_set(err, ERR_NOT_FOUND, "nothing was measured yet in '%s'", state_dir);
		err_hint(err, "'culprit run JOB' is a start; --state DIR chooses another place");
		return rc;
	}
	rc = sql_open(path, mode, &db, err);
	if (rc < 0)
		return rc;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->db = db;
	return 0;
}

int store_open(const char *state_dir, struct store **ret, struct err *err)
{
	autostore struct store *s = NULL;
	int rc = fs_mkdirs(state_dir, err);

	if (rc == 0)
		rc = open_file(state_dir, SQL_WRITE, &s, err);
	if (rc == 0)
		rc = sql_migrate(s->db, versions, ARRAY_SIZE(versions), err);
	if (rc < 0)
		return rc;
	*ret = take_ptr(&s);
	return 0;
}

int store_open_readonly(const char *state_dir, struct store **ret, struct err *err)
{
	autostore struct store *s = NULL;
	int64_t version;
	int rc = open_file(state_dir, SQL_READ, &s, err);

	if (rc == 0)
		rc = sql_version(s->db, &version, err);
	if (rc == 0 && version < (int64_t)ARRAY_SIZE(versions)) {
		/* Of an older version, or just being made: bring it up to date first. */
		store_close(take_ptr(&s));
		rc = store_open(state_dir, &s, err);
	} else if (rc == 0) {
		rc = sql_migrate(s->db, versions, ARRAY_SIZE(versions), err);
	}
	if (rc < 0)
		return rc;
	*ret = take_ptr(&s);
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sql_close(s->db);
	metrics_forget(s);
	free(s);
}

int store_begin(struct store *s, struct err *err)
{
	return sql_begin(s->db, err);
}

int store_commit(struct store *s, struct err *err)
{
	return sql_commit(s->db, err);
}

void store_rollback(struct store *s)
{
	sql_rollback(s->db);
	metrics_forget(s);
}
