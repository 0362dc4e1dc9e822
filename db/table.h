// SPDX-License-Identifier: GPL-2.0-or-later
// Between the store's row structs and SQL: one column table a struct for reading, writing, freeing.
#pragma once

#include "db/sql.h"

#include <stdbool.h>

enum column_kind {
	COLUMN_INT64,
	COLUMN_INT,
	COLUMN_UINT64, /* its bits as a signed integer */
	COLUMN_DOUBLE, /* NaN is NULL */
	COLUMN_TEXT,   /* a NULL pointer is written as '' */
	COLUMN_OPTIONAL, /* text: a NULL pointer is NULL */
	COLUMN_REF,    /* int64_t: 0 is NULL */
};

struct column {
	const char *name;
	enum column_kind kind;
	size_t offset;
};

struct table {
	const char *name;
	const struct column *columns;
	size_t n;
	size_t row_size;
};

/* A column named like the field, its kind by the field's type. */
#define COLUMN(type, field)                                                                     \
	{                                                                                       \
		#field,                                                                         \
		_Generic(((type *)0)->field, char *: COLUMN_TEXT, int64_t: COLUMN_INT64,        \
			 int: COLUMN_INT, uint64_t: COLUMN_UINT64, double: COLUMN_DOUBLE),      \
		offsetof(type, field)                                                           \
	}
#define COLUMN_AS(type, field, kind)                          \
	{                                                     \
		#field, COLUMN_##kind, offsetof(type, field) \
	}
#define TABLE(name, columns, type)                                   \
	{                                                            \
		name, columns, ARRAY_SIZE(columns), sizeof(type) \
	}

/* Adds a row of all columns but the first, the id, which comes back (ret_id may be NULL). */
int table_insert(struct sql *db, const struct table *t, const void *row, int64_t *ret_id,
		 struct err *err);
/* Adds a row of all columns in place of the one with the same primary key. */
int table_replace(struct sql *db, const struct table *t, const void *row, struct err *err);
/*
 * Rows by what follows the table's name in a SELECT: "WHERE session = ?1 ORDER BY id", where ?1 is the
 * key. table_list makes an array that the caller frees; the others answer 1 and the first row, or 0.
 */
int table_list(struct sql *db, const struct table *t, const char *where, int64_t key,
	       void *ret_rows, size_t *ret_n, struct err *err);
int table_get(struct sql *db, const struct table *t, const char *where, int64_t key, void *ret_row,
	      struct err *err);
int table_find(struct sql *db, const struct table *t, const char *where, const char *key,
	       void *ret_row, struct err *err);
void table_release(const struct table *t, void *row); /* frees the texts and zeroes the row */
