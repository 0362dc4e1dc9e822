// SPDX-License-Identifier: GPL-2.0-or-later
// Every table as JSON lines, those that others refer to first.
#include "db/internal.h"

#include "harness/base/json.h"

#define ALL(table)                                                                                 \
	{                                                                                          \
#table, "SELECT * FROM " #table " ORDER BY rowid"                                  \
	}

static const struct {
	const char *table, *query;
} exported[] = {
	ALL(state),
	ALL(origins),
	ALL(sessions),
	ALL(commits),
	ALL(session_metrics),
	ALL(sides),
	ALL(bisections),
	ALL(configs),
	ALL(kernels),
	ALL(machines),
	ALL(fingerprints),
	ALL(boots),
	ALL(runs),
	ALL(outputs),
	ALL(metrics),
	{ "samples", "SELECT * FROM samples ORDER BY run, metric" },
	ALL(steps),
	ALL(skips),
	ALL(mails),
};

/* Output that is text stays readable; other bytes would not survive, so they are written in hex. */
static struct json *blob_json(const void *data, size_t len)
{
	autofree char *text = xstrndup(len ? data : "", len);
	struct json *whole = json_string_new(text);
	struct json *bytes;
	autobuf hex = {};

	if (strlen(text) == len && streq(json_str(whole), text))
		return whole;
	json_free(whole);
	for (size_t i = 0; i < len; i++)
		buf_printf(&hex, "%02x", ((const unsigned char *)data)[i]);
	bytes = json_object_new();
	json_set_str(bytes, "hex", buf_str(&hex));
	return bytes;
}

static struct json *value_json(struct sql_stmt *st, int column)
{
	size_t len;
	const void *data;

	switch (sql_kind(st, column)) {
	case SQL_INT:
		return json_integer_new(sql_int(st, column));
	case SQL_DOUBLE:
		return json_number_new(sql_double(st, column));
	case SQL_TEXT:
		return json_string_new(sql_text(st, column));
	case SQL_BLOB:
		data = sql_blob(st, column, &len);
		return blob_json(data, len);
	default:
		return json_null_new();
	}
}

static void row_line(struct sql_stmt *st, const char *table, struct buf *line)
{
	autojson struct json *row = json_object_new();

	json_set_str(row, "table", table);
	for (int i = 0; i < sql_columns(st); i++)
		json_set(row, sql_column_name(st, i), value_json(st, i));
	buf_clear(line);
	json_print(row, false, line);
	buf_addch(line, '\n');
}

int store_export(struct store *s, int (*write_line)(const char *line, size_t len, void *arg),
		 void *arg, struct err *err)
{
	autobuf line = {};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(exported); i++) {
		autostmt *st = NULL;

		rc = sql_query(s->db, &st, err, exported[i].query, "");
		while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
			row_line(st, exported[i].table, &line);
			rc = write_line(buf_str(&line), line.len, arg);
			if (rc < 0)
				break;
		}
	}
	return rc;
}
