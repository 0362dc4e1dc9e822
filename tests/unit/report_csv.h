// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of tables: published figures from tests/golden/*.csv, put into a store as boots whose
// values they are.
#pragma once

#include "harness/base/fs.h"
#include "reports/report.h"
#include "tests/tap.h"

static char csv_top[] = "/tmp/culprit-tables.XXXXXX";
static struct store *store;
static struct err err;

static inline void must(int rc)
{
	if (rc < 0) {
		diag("%s", err.message);
		exit(1);
	}
}

/* Lines of fields without comments; the first is the header. */
struct csv {
	char ***rows;
	size_t n;
};

static inline struct csv csv_read(const char *name)
{
	autofree char *path = xasprintf("tests/golden/%s.csv", name);
	autobuf text = {};
	struct csv csv = {};
	char *line, *rest;

	must(fs_read(path, 1 << 20, &text, &err));
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char **fields = NULL, *field;

		if (!*line || *line == '#')
			continue;
		while ((field = strsep(&line, ",")))
			strv_push(&fields, field);
		csv.rows = xrealloc(csv.rows, csv.n + 1, sizeof(*csv.rows));
		csv.rows[csv.n++] = fields;
	}
	return csv;
}

static inline void csv_release(struct csv *csv)
{
	for (size_t i = 0; i < csv->n; i++)
		strv_free(csv->rows[i]);
	free(csv->rows);
}

static inline double csv_number(const char *text)
{
	double v = 0;

	if (!str_to_double(*text == '+' ? text + 1 : text, &v))
		diag("'%s' is no number", text);
	return v;
}

static inline int64_t new_session(const struct metric_row *metrics, size_t n)
{
	struct session_row row = {.kind = (char *)"compare",
				  .key = (char *)"k",
				  .state = (char *)"done",
				  .job_name = (char *)"golden",
				  .job_hash = (char *)"h",
				  .machine = (char *)"box",
				  .repo = (char *)"/src",
				  .options = (char *)"{\"min_effect_pct\": 1}"};
	int64_t id;

	must(store_session_add(store, &row, &id, &err));
	must(store_metrics_put(store, id, metrics, n, &err));
	return id;
}

/* A boot of a column, at "ok"; the column is made with it. */
static inline int64_t new_boot(int64_t session, const char *side, int64_t fingerprint)
{
	struct side_row row = {.session = session, .name = (char *)side, .rev = (char *)side};
	struct boot_row boot = {.session = session,
				.side = (char *)side,
				.purpose = (char *)"compare",
				.fingerprint = fingerprint,
				.seconds = 1};

	must(store_side_put(store, &row, &err));
	must(store_boot_add(store, &boot, &boot.id, &err));
	boot.status = (char *)"ok";
	must(store_boot_end(store, &boot, &err));
	return boot.id;
}

struct times {
	double user, sys, elapsed;
};

static inline void new_run(int64_t boot, const char *cell, const char *metric, double value,
			   struct times times)
{
	struct run_row run = {.boot = boot,
			      .cell = (char *)cell,
			      .number = 1,
			      .status = (char *)"ok",
			      .user_s = times.user,
			      .sys_s = times.sys,
			      .seconds = times.elapsed};
	struct sample_row sample = {metric, "", value};

	must(store_run_add(store, &run, &sample, 1, NULL, &err));
}

static inline char *printed(int64_t session, const char *format)
{
	autobuf text = {};

	must(report_print(store, session, format, &text, &err));
	return xstrdup(buf_str(&text));
}

/* The line that holds a text; "" if none does. Owned. */
static inline char *line_with(const char *text, const char *word)
{
	const char *at = strstr(text, word), *start = at;

	if (!at)
		return xstrdup("");
	while (start > text && start[-1] != '\n')
		start--;
	return xstrndup(start, strcspn(start, "\n"));
}

static inline void has(const char *line, const char *word, const char *what)
{
	if (!ok(strstr(line, word) != NULL, "%s: %.*s", what, (int)strcspn(word, "\n"), word))
		diag("line: %s", line);
}
