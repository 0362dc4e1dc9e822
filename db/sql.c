// SPDX-License-Identifier: GPL-2.0-or-later
// SQLite behind the project's own words: errors, WAL, migrations, cached statements.
#include "db/sql.h"

#include "harness/base/util.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>

#define BUSY_TIMEOUT_MS 30000

struct sql_stmt {
	char *text;
	sqlite3_stmt *handle;
	bool in_use;
};

struct sql {
	sqlite3 *handle;
	char *path;
	VEC(struct sql_stmt *) cache;
};

/* What the database said, as one of our few codes, with what to do about it. */
static int sql_fail(sqlite3 *handle, const char *path, struct err *err)
{
	int code = sqlite3_errcode(handle), sys = sqlite3_system_errno(handle);
	bool full =
		code == SQLITE_FULL || (code == SQLITE_IOERR && (sys == ENOSPC || sys == EDQUOT));
	int rc;

	if (full) {
		rc = err_set(err, ERR_DISK_FULL, "no space left for database '%s'", path);
		err_hint(err, "free some space ('culprit gc' removes old artefacts) and run the "
			      "same again");
	} else if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
		rc = err_set(err, ERR_BUSY,
			     "another process is writing to database '%s' for over %d s", path,
			     BUSY_TIMEOUT_MS / 1000);
		err_hint(err, "'culprit status' shows who is at work");
	} else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
		rc = err_set(err, ERR_IO, "database '%s' is damaged: %s", path,
			     sqlite3_errmsg(handle));
		err_hint(err,
			 "move it away to start anew; sqlite3 '%s' .recover saves what is readable",
			 path);
	} else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM) {
		rc = err_set(err, ERR_IO, "cannot %s database '%s': %s",
			     code == SQLITE_READONLY ? "write to" : "open", path,
			     code == SQLITE_CANTOPEN && sys ? strerror(sys)
							    : sqlite3_errmsg(handle));
		err_hint(err, "its directory must be writable; --state DIR chooses another");
	} else {
		rc = err_set(err, ERR_IO, "database '%s': %s", path, sqlite3_errmsg(handle));
	}
	return rc;
}

/*
 * A file on media that cannot be written has no place for the shared memory that WAL readers use.
 * Nobody can be writing to it either, so it is read as it is.
 */
static int open_immutable(struct sql *db)
{
	autofree char *escaped = xmalloc(3 * strlen(db->path) + 1);
	autofree char *uri = NULL;
	char *to = escaped;

	for (const char *s = db->path; *s; s++)
		to += snprintf(to, 4, strchr("%?#", *s) ? "%%%02x" : "%c", (unsigned char)*s);
	*to = '\0';
	uri = xasprintf("file:%s?immutable=1", escaped);
	sqlite3_close(db->handle);
	return sqlite3_open_v2(uri, &db->handle,
			       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
}

static int open_reader(struct sql *db)
{
	int rc = sqlite3_open_v2(db->path, &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
		rc = sqlite3_exec(db->handle, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
	}
	if (rc == SQLITE_CANTOPEN || rc == SQLITE_READONLY) {
		autofree char *wal = xasprintf("%s-wal", db->path);

		if (access(db->path, R_OK) == 0 && access(wal, F_OK) != 0)
			rc = open_immutable(db);
	}
	return rc;
}

static int open_writer(struct sql *db)
{
	int rc = sqlite3_open_v2(db->path, &db->handle,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
		rc = sqlite3_exec(db->handle,
				  "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
				  "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
				  NULL, NULL, NULL);
	}
	return rc;
}

int sql_open(const char *path, enum sql_mode mode, struct sql **ret, struct err *err)
{
	struct sql *db = xcalloc(1, sizeof(*db));
	int rc;

	db->path = xstrdup(path);
	rc = mode == SQL_WRITE ? open_writer(db) : open_reader(db);
	/* SQLite quietly opens a file that cannot be written for reading; a writer is told at once.
	 */
	if (rc == SQLITE_OK && mode == SQL_WRITE && sqlite3_db_readonly(db->handle, "main") == 1) {
		rc = err_set(err, ERR_IO, "database '%s' is read-only", path);
		err_hint(err,
			 "make it and its directory writable, or choose another with --state DIR");
	} else if (rc != SQLITE_OK) {
		rc = sql_fail(db->handle, path, err);
	}
	if (rc < 0) {
		sql_close(db);
		return rc;
	}
	*ret = db;
	return 0;
}

void sql_close(struct sql *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->cache.n; i++) {
		sqlite3_finalize(db->cache.at[i]->handle);
		free(db->cache.at[i]->text);
		free(db->cache.at[i]);
	}
	VEC_FREE(&db->cache);
	sqlite3_close(db->handle);
	free(db->path);
	free(db);
}

int sql_version(struct sql *db, int64_t *ret, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(db, &st, err, "PRAGMA user_version", "");

	if (rc < 0 || (rc = sql_next(st, err)) < 0)
		return rc;
	*ret = sql_int(st, 0);
	return 0;
}

static int script(struct sql *db, const char *text, struct err *err)
{
	if (sqlite3_exec(db->handle, text, NULL, NULL, NULL) != SQLITE_OK)
		return sql_fail(db->handle, db->path, err);
	return 0;
}

/* One script, unless another process was faster. 1 if there may be more to do, 0 when up to date.
 */
static int migrate_once(struct sql *db, const char *const *scripts, size_t n, struct err *err)
{
	autofree char *set_version = NULL;
	int64_t version;
	int rc = sql_version(db, &version, err);

	if (rc < 0)
		return rc;
	if (version < 0 || (uint64_t)version > n) {
		rc = err_set(
			err, ERR_TOO_NEW,
			"database '%s' was written by a newer culprit (version %lld, known is %zu)",
			db->path, (long long)version, n);
		err_hint(err, "install that version, or choose another database with --state DIR");
		return rc;
	}
	if ((uint64_t)version == n)
		return 0;
	set_version = xasprintf("PRAGMA user_version = %lld", (long long)version + 1);
	rc = script(db, scripts[version], err);
	if (rc == 0)
		rc = script(db, set_version, err);
	return rc < 0 ? rc : 1;
}

int sql_migrate(struct sql *db, const char *const *scripts, size_t n, struct err *err)
{
	int64_t version;
	int rc = sql_version(db, &version, err);

	if (rc < 0 || (uint64_t)version == n)
		return rc;
	do {
		int own = sql_enter(db, err);

		if (own < 0)
			return own;
		rc = sql_leave(db, own, migrate_once(db, scripts, n, err), err);
	} while (rc > 0);
	return rc;
}

int sql_begin(struct sql *db, struct err *err)
{
	return sql_run(db, err, "BEGIN IMMEDIATE", "");
}

int sql_commit(struct sql *db, struct err *err)
{
	return sql_run(db, err, "COMMIT", "");
}

void sql_rollback(struct sql *db)
{
	/* A full disk may have rolled back by itself. */
	if (!sqlite3_get_autocommit(db->handle))
		sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

int sql_enter(struct sql *db, struct err *err)
{
	int rc;

	if (!sqlite3_get_autocommit(db->handle))
		return 0;
	rc = sql_begin(db, err);
	return rc < 0 ? rc : 1;
}

int sql_leave(struct sql *db, int own, int rc, struct err *err)
{
	if (!own)
		return rc;
	if (rc >= 0) {
		int committed = sql_commit(db, err);

		rc = committed < 0 ? committed : rc;
	}
	if (rc < 0)
		sql_rollback(db);
	return rc;
}

static struct sql_stmt *cached(struct sql *db, const char *text)
{
	for (size_t i = 0; i < db->cache.n; i++) {
		struct sql_stmt *st = db->cache.at[i];

		if (!st->in_use && streq(st->text, text))
			return st;
	}
	return NULL;
}

static void bind_all(struct sql_stmt *st, const char *types, va_list ap)
{
	int place = 1;

	for (const char *t = types; *t; t++, place++) {
		int64_t i;
		const void *data;

		switch (*t) {
		case 'i':
			sqlite3_bind_int64(st->handle, place, va_arg(ap, int64_t));
			break;
		case 'r':
			i = va_arg(ap, int64_t);
			if (i)
				sqlite3_bind_int64(st->handle, place, i);
			else
				sqlite3_bind_null(st->handle, place);
			break;
		case 'd':
			sqlite3_bind_double(st->handle, place, va_arg(ap, double));
			break;
		case 's':
			sqlite3_bind_text(st->handle, place, va_arg(ap, const char *), -1,
					  SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(ap, const void *);
			sqlite3_bind_blob64(st->handle, place, data, va_arg(ap, size_t),
					    SQLITE_STATIC);
			break;
		default:
			break;
		}
	}
}

static int query(struct sql *db, struct sql_stmt **ret, struct err *err, const char *text,
		 const char *types, va_list ap)
{
	struct sql_stmt *st = cached(db, text);

	if (!st) {
		sqlite3_stmt *handle;

		if (sqlite3_prepare_v3(db->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &handle,
				       NULL))
			return sql_fail(db->handle, db->path, err);
		st = xcalloc(1, sizeof(*st));
		st->text = xstrdup(text);
		st->handle = handle;
		VEC_PUSH(&db->cache, st);
	}
	st->in_use = true;
	bind_all(st, types, ap);
	*ret = st;
	return 0;
}

int sql_query(struct sql *db, struct sql_stmt **ret, struct err *err, const char *text,
	      const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = query(db, ret, err, text, types, ap);
	va_end(ap);
	return rc;
}

void sql_rebind(struct sql_stmt *st, const char *types, ...)
{
	va_list ap;

	sqlite3_reset(st->handle);
	va_start(ap, types);
	bind_all(st, types, ap);
	va_end(ap);
}

int sql_next(struct sql_stmt *st, struct err *err)
{
	int rc = sqlite3_step(st->handle);
	sqlite3 *handle = sqlite3_db_handle(st->handle);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return sql_fail(handle, sqlite3_db_filename(handle, "main"), err);
}

void sql_done(struct sql_stmt *st)
{
	if (!st)
		return;
	sqlite3_reset(st->handle);
	sqlite3_clear_bindings(st->handle);
	st->in_use = false;
}

int sql_run(struct sql *db, struct err *err, const char *text, const char *types, ...)
{
	autostmt *st = NULL;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = query(db, &st, err, text, types, ap);
	va_end(ap);
	if (rc == 0)
		rc = sql_next(st, err);
	return rc < 0 ? rc : 0;
}

int64_t sql_last_id(struct sql *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t sql_changed_rows(struct sql *db)
{
	return sqlite3_changes64(db->handle);
}

void sql_bind_int(struct sql_stmt *st, int place, int64_t v)
{
	sqlite3_bind_int64(st->handle, place, v);
}

void sql_bind_double(struct sql_stmt *st, int place, double v)
{
	sqlite3_bind_double(st->handle, place, v);
}

void sql_bind_text(struct sql_stmt *st, int place, const char *v)
{
	sqlite3_bind_text(st->handle, place, v, -1, SQLITE_STATIC);
}

void sql_bind_blob(struct sql_stmt *st, int place, const void *v, size_t len)
{
	sqlite3_bind_blob64(st->handle, place, v, len, SQLITE_STATIC);
}

int64_t sql_int(struct sql_stmt *st, int column)
{
	return sqlite3_column_int64(st->handle, column);
}

double sql_double(struct sql_stmt *st, int column)
{
	if (sqlite3_column_type(st->handle, column) == SQLITE_NULL)
		return NAN;
	return sqlite3_column_double(st->handle, column);
}

const char *sql_text(struct sql_stmt *st, int column)
{
	return (const char *)sqlite3_column_text(st->handle, column);
}

const void *sql_blob(struct sql_stmt *st, int column, size_t *ret_len)
{
	const void *data = sqlite3_column_blob(st->handle, column);

	*ret_len = sqlite3_column_bytes(st->handle, column);
	return data;
}

enum sql_kind sql_kind(struct sql_stmt *st, int column)
{
	switch (sqlite3_column_type(st->handle, column)) {
	case SQLITE_INTEGER:
		return SQL_INT;
	case SQLITE_FLOAT:
		return SQL_DOUBLE;
	case SQLITE_TEXT:
		return SQL_TEXT;
	case SQLITE_BLOB:
		return SQL_BLOB;
	default:
		return SQL_NULL;
	}
}

int sql_columns(struct sql_stmt *st)
{
	return sqlite3_column_count(st->handle);
}

const char *sql_column_name(struct sql_stmt *st, int column)
{
	return sqlite3_column_name(st->handle, column);
}
