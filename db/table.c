// SPDX-License-Identifier: GPL-2.0-or-later
// Row structs to and from SQL by their column tables.
#include "db/table.h"

#include "harness/base/buf.h"

#include <math.h>

static void *field(const struct column *c, const void *row)
{
	return (char *)(uintptr_t)row + c->offset;
}

static void bind_column(struct sql_stmt *st, int place, const struct column *c, const void *row)
{
	const void *f = field(c, row);
	const char *text;

	switch (c->kind) {
	case COLUMN_INT64:
		sql_bind_int(st, place, *(const int64_t *)f);
		break;
	case COLUMN_INT:
		sql_bind_int(st, place, *(const int *)f);
		break;
	case COLUMN_UINT64:
		sql_bind_int(st, place, (int64_t) * (const uint64_t *)f);
		break;
	case COLUMN_DOUBLE:
		sql_bind_double(st, place, *(const double *)f);
		break;
	case COLUMN_TEXT:
		text = *(char *const *)f;
		sql_bind_text(st, place, text ? text : "");
		break;
	case COLUMN_OPTIONAL:
		sql_bind_text(st, place, *(char *const *)f);
		break;
	case COLUMN_REF:
		if (*(const int64_t *)f)
			sql_bind_int(st, place, *(const int64_t *)f);
		else
			sql_bind_text(st, place, NULL);
		break;
	}
}

static void read_column(struct sql_stmt *st, int column, const struct column *c, void *row)
{
	void *f = field(c, row);

	switch (c->kind) {
	case COLUMN_INT64:
	case COLUMN_REF:
		*(int64_t *)f = sql_int(st, column);
		break;
	case COLUMN_INT:
		*(int *)f = (int)sql_int(st, column);
		break;
	case COLUMN_UINT64:
		*(uint64_t *)f = (uint64_t)sql_int(st, column);
		break;
	case COLUMN_DOUBLE:
		*(double *)f = sql_double(st, column);
		break;
	case COLUMN_TEXT:
	case COLUMN_OPTIONAL:
		*(char **)f = xstrdup(sql_text(st, column));
		break;
	}
}

static void read_row(struct sql_stmt *st, const struct table *t, void *row)
{
	memset(row, 0, t->row_size);
	for (size_t i = 0; i < t->n; i++)
		read_column(st, (int)i, &t->columns[i], row);
}

void table_release(const struct table *t, void *row)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->columns[i].kind == COLUMN_TEXT || t->columns[i].kind == COLUMN_OPTIONAL)
			free(*(char **)field(&t->columns[i], row));
	memset(row, 0, t->row_size);
}

/* "VERB INTO table (b, c) VALUES (?1, ?2)", from the first-th column on. */
static int insert(struct sql *db, const struct table *t, const char *verb, size_t first,
		  const void *row, struct err *err)
{
	autobuf text = {};
	autostmt *st = NULL;
	int rc;

	buf_printf(&text, "%s INTO %s (", verb, t->name);
	for (size_t i = first; i < t->n; i++)
		buf_printf(&text, "%s%s", i > first ? ", " : "", t->columns[i].name);
	buf_adds(&text, ") VALUES (");
	for (size_t i = first; i < t->n; i++)
		buf_adds(&text, i > first ? ", ?" : "?");
	buf_addch(&text, ')');
	rc = sql_query(db, &st, err, buf_str(&text), "");
	if (rc < 0)
		return rc;
	for (size_t i = first; i < t->n; i++)
		bind_column(st, (int)(i - first) + 1, &t->columns[i], row);
	rc = sql_next(st, err);
	return rc < 0 ? rc : 0;
}

int table_insert(struct sql *db, const struct table *t, const void *row, int64_t *ret_id,
		 struct err *err)
{
	int rc = insert(db, t, "INSERT", 1, row, err);

	if (rc == 0 && ret_id)
		*ret_id = sql_last_id(db);
	return rc;
}

int table_replace(struct sql *db, const struct table *t, const void *row, struct err *err)
{
	return insert(db, t, "INSERT OR REPLACE", 0, row, err);
}

static void select_text(const struct table *t, const char *where, struct buf *out)
{
	buf_adds(out, "SELECT ");
	for (size_t i = 0; i < t->n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", t->columns[i].name);
	buf_printf(out, " FROM %s %s", t->name, where);
}

int table_list(struct sql *db, const struct table *t, const char *where, int64_t key,
	       void *ret_rows, size_t *ret_n, struct err *err)
{
	autobuf text = {};
	autostmt *st = NULL;
	char *rows = NULL;
	size_t n = 0, room = 0;
	int rc;

	select_text(t, where, &text);
	rc = sql_query(db, &st, err, buf_str(&text), "i", key);
	while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
		if (n == room) {
			room = room ? 2 * room : 16;
			rows = xrealloc(rows, room, t->row_size);
		}
		read_row(st, t, rows + n++ * t->row_size);
	}
	if (rc < 0) {
		for (size_t i = 0; i < n; i++)
			table_release(t, rows + i * t->row_size);
		free(rows);
		return rc;
	}
	memcpy(ret_rows, &rows, sizeof(rows)); /* whatever struct it points to */
	*ret_n = n;
	return 0;
}

static int first_row(struct sql_stmt *st, const struct table *t, void *ret_row, struct err *err)
{
	int rc = sql_next(st, err);

	if (rc > 0)
		read_row(st, t, ret_row);
	return rc;
}

int table_get(struct sql *db, const struct table *t, const char *where, int64_t key, void *ret_row,
	      struct err *err)
{
	autobuf text = {};
	autostmt *st = NULL;
	int rc;

	select_text(t, where, &text);
	rc = sql_query(db, &st, err, buf_str(&text), "i", key);
	return rc < 0 ? rc : first_row(st, t, ret_row, err);
}

int table_find(struct sql *db, const struct table *t, const char *where, const char *key,
	       void *ret_row, struct err *err)
{
	autobuf text = {};
	autostmt *st = NULL;
	int rc;

	select_text(t, where, &text);
	rc = sql_query(db, &st, err, buf_str(&text), "s", key);
	return rc < 0 ? rc : first_row(st, t, ret_row, err);
}
