// SPDX-License-Identifier: GPL-2.0-or-later
// The one wrapper around SQLite: opening, migrations, transactions, cached prepared statements.
#pragma once

#include "harness/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct sql;	 /* a connection */
struct sql_stmt; /* a prepared statement; the connection keeps it for the next time */

enum sql_mode { SQL_WRITE, SQL_READ };

/*
 * SQL_WRITE creates the file and turns on WAL, so that readers never wait for the writer. SQL_READ
 * works in a directory that cannot be written, too. Every error here and below says which database,
 * and is ERR_DISK_FULL without space, ERR_BUSY when a writer held it for long, else ERR_IO.
 */
int sql_open(const char *path, enum sql_mode mode, struct sql **ret, struct err *err);
void sql_close(struct sql *db); /* NULL is fine */
int sql_version(struct sql *db, int64_t *ret, struct err *err); /* user_version, 0 for a new file */
/*
 * Brings user_version to n by the scripts from the present version on, each in a transaction of its
 * own with its version. Several processes may try at once. ERR_TOO_NEW where it is above n.
 */
int sql_migrate(struct sql *db, const char *const *scripts, size_t n, struct err *err);

int sql_begin(struct sql *db, struct err *err);
int sql_commit(struct sql *db, struct err *err);
void sql_rollback(struct sql *db);
/*
 * A transaction around several statements, unless one is open already:
 *
 *	int own = sql_enter(db, err);		// 1 began one, 0 there is one, negative
 *	...
 *	return sql_leave(db, own, rc, err);	// commits, or rolls back if rc < 0; returns rc
 */
int sql_enter(struct sql *db, struct err *err);
int sql_leave(struct sql *db, int own, int rc, struct err *err);

/*
 * types tells the arguments for ?1, ?2 ...: i int64_t, d double (NaN is NULL), s const char * (NULL is
 * NULL), r int64_t that refers to a row (0 is NULL), b const void * and size_t (NULL is NULL). They
 * must live until the statement is let go. "" binds nothing, for sql_rebind or sql_bind_*.
 */
int sql_query(struct sql *db, struct sql_stmt **ret, struct err *err, const char *text,
	      const char *types, ...);
void sql_rebind(struct sql_stmt *st, const char *types, ...); /* once more with other values */
int sql_next(struct sql_stmt *st, struct err *err);	      /* 1 a row, 0 the end, negative */
void sql_done(struct sql_stmt *st);			      /* lets it go; NULL is fine */
static inline void cleanup_stmt(struct sql_stmt **st)
{
	sql_done(*st);
}
#define autostmt __attribute__((cleanup(cleanup_stmt))) struct sql_stmt
/* Runs a statement that answers nothing. */
int sql_run(struct sql *db, struct err *err, const char *text, const char *types, ...);
int64_t sql_last_id(struct sql *db);	  /* of the last insert */
int64_t sql_changed_rows(struct sql *db); /* by the last statement */

void sql_bind_int(struct sql_stmt *st, int place, int64_t v); /* places count from 1 */
void sql_bind_double(struct sql_stmt *st, int place, double v);
void sql_bind_text(struct sql_stmt *st, int place, const char *v); /* NULL is NULL */
void sql_bind_blob(struct sql_stmt *st, int place, const void *v, size_t len);

/* Columns of the present row, counted from 0. Borrowed ones live until the next step. */
int64_t sql_int(struct sql_stmt *st, int column);
double sql_double(struct sql_stmt *st, int column);	 /* NULL is NaN */
const char *sql_text(struct sql_stmt *st, int column);	 /* borrowed; NULL is NULL */
const void *sql_blob(struct sql_stmt *st, int column, size_t *ret_len);

enum sql_kind { SQL_NULL, SQL_INT, SQL_DOUBLE, SQL_TEXT, SQL_BLOB };
enum sql_kind sql_kind(struct sql_stmt *st, int column);
int sql_columns(struct sql_stmt *st);
const char *sql_column_name(struct sql_stmt *st, int column);
