// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit log [N]`: the journal of a session, or of the newest one.
#include "harness/base/clock.h"
#include "harness/verbs/verbs.h"

static int newest(struct store *store, struct session_row *ret, struct err *err)
{
	struct session_row *rows;
	size_t n;
	int rc = store_session_list(store, &rows, &n, err);

	if (rc < 0)
		return rc;
	if (n)
		*ret = rows[0];
	else
		rc = err_set(err, ERR_NOT_FOUND, "there is no session yet");
	for (size_t i = 1; i < n; i++)
		session_row_release(&rows[i]);
	free(rows);
	return rc;
}

static void print_text(const struct step_row *s)
{
	char when[32], took[32];
	autobuf out = {};

	buf_printf(&out, "%s  ", clock_format_wall(s->when_s, when));
	buf_add_safe(&out, s->what, strlen(s->what), 12, false);
	buf_pad(&out, 31, ' ');
	buf_printf(&out, " %12.12s ", s->commit_sha ? s->commit_sha : "");
	buf_add_safe(&out, s->detail, strlen(s->detail), 400, false);
	if (s->boot)
		buf_printf(&out, " (boot %lld)", (long long)s->boot);
	if (s->seconds > 0)
		buf_printf(&out, " %s", clock_format_duration(s->seconds, took));
	puts(buf_str(&out));
}

static struct json *step_json(const struct step_row *s)
{
	ERR_CLEANUP struct err err = {};
	struct json *o = json_object_new(), *data = NULL;

	json_set_int(o, "id", s->id);
	json_set_int(o, "when", s->when_s);
	json_set_str(o, "what", s->what);
	json_set_str(o, "commit", s->commit_sha);
	json_set(o, "boot", s->boot ? json_integer_new(s->boot) : json_null_new());
	json_set_str(o, "detail", s->detail);
	json_set_num(o, "seconds", s->seconds);
	if (s->data && json_parse(s->data, strlen(s->data), &data, &err) < 0)
		data = NULL;
	json_set(o, "data", data ? data : json_null_new());
	return o;
}

static int print_steps(struct ctx *ctx, struct store *store, int64_t session, struct err *err)
{
	struct json *document = ctx->json ? verb_document() : NULL, *list = NULL;
	struct step_row *steps;
	size_t n;
	int rc = store_step_list(store, session, &steps, &n, err);

	if (rc < 0) {
		json_free(document);
		return rc;
	}
	if (document) {
		json_set_int(document, "session", session);
		list = json_set(document, "steps", json_array_new());
	}
	for (size_t i = 0; i < n; i++) {
		if (list)
			json_push(list, step_json(&steps[i]));
		else
			print_text(&steps[i]);
		step_row_release(&steps[i]);
	}
	free(steps);
	if (document)
		verb_print_json(document);
	return 0;
}

int verb_log(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	int status = 0, n = verb_options(ctx, NULL, argc, argv, 0, 1, &status);

	if (n < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    (n ? verb_session(store, argv[1], &session, &err) : newest(store, &session, &err)) == 0)
		print_steps(ctx, store, session.id, &err);
	session_row_release(&session);
	return err.code ? verb_fail(ctx, &err) : 0;
}
