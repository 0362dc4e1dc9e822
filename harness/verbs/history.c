// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit history METRIC`: one metric over all boots that count.
#include "harness/base/clock.h"
#include "harness/verbs/verbs.h"

static void print_text(const struct history_point *p)
{
	char when[32];
	autobuf out = {};

	buf_printf(&out, "%.16s  %4lld  %5lld  %12.12s  %12.8g ",
		   clock_format_wall(p->started_s, when), (long long)p->session, (long long)p->boot,
		   p->commit_sha ? p->commit_sha : "", p->value);
	buf_add_safe(&out, p->unit, strlen(p->unit), 12, false);
	buf_printf(&out, "  ");
	buf_add_safe(&out, p->cell, strlen(p->cell), 60, false);
	puts(buf_str(&out));
}

static struct json *point_json(const struct history_point *p)
{
	struct json *o = json_object_new();

	json_set_int(o, "when", p->started_s);
	json_set_int(o, "session", p->session);
	json_set_int(o, "boot", p->boot);
	json_set_str(o, "commit", p->commit_sha);
	json_set_str(o, "machine", p->machine);
	json_set_str(o, "cell", p->cell);
	json_set_num(o, "value", p->value);
	json_set_str(o, "unit", p->unit);
	json_set_int(o, "runs", (int64_t)p->runs);
	return o;
}

static int no_points(const char *metric, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "no boot has a value of metric '%s'", metric);
	err_hint(err, "'culprit report N' shows the metrics of session N");
	return -ERR_NOT_FOUND;
}

static void print_points(struct ctx *ctx, const char *metric, const struct history_point *points,
			 size_t n)
{
	struct json *document, *list;

	if (!ctx->json) {
		puts("when (UTC)          N   boot  commit               value");
		for (size_t i = 0; i < n; i++)
			print_text(&points[i]);
		return;
	}
	document = verb_document();
	json_set_str(document, "metric", metric);
	list = json_set(document, "points", json_array_new());
	for (size_t i = 0; i < n; i++)
		json_push(list, point_json(&points[i]));
	verb_print_json(document);
}

int verb_history(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct history_point *points = NULL;
	size_t n = 0;
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 1, 1, &status) < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    store_history(store, argv[1], &points, &n, &err) == 0) {
		if (n)
			print_points(ctx, argv[1], points, n);
		else
			no_points(argv[1], &err);
	}
	history_release(points, n);
	return err.code ? verb_fail(ctx, &err) : 0;
}
