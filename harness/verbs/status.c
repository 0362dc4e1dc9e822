// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit status`: every session with its state, who holds it, and what it did last.
#include "harness/base/clock.h"
#include "harness/verbs/holder.h"
#include "harness/verbs/verbs.h"

/* A session as it is shown. */
struct seen {
	const struct session_row *row;
	const char *state; /* "stopped" where a process went without a word */
	char *outcome;	   /* of a bisection that ended; NULL */
	struct step_row last;
	bool has_last;
};

static void seen_release(struct seen *s)
{
	free(s->outcome);
	step_row_release(&s->last);
}

static int look(struct store *store, const struct session_row *row, struct seen *ret,
		struct err *err)
{
	struct seen s = { .row = row, .state = row->state };
	struct bisection_row bisection = {};
	int rc = store_step_last(store, row->id, &s.last, err);

	s.has_last = rc > 0;
	if (streq(row->state, "running") && !session_is_held(row))
		s.state = "stopped";
	if (rc >= 0 && streq(row->kind, "bisect")) {
		rc = store_bisection_get(store, row->id, &bisection, err);
		if (rc == -ERR_NOT_FOUND)
			rc = 0; /* killed before it was described */
		else if (rc == 0 && *bisection.outcome)
			s.outcome = xstrdup(bisection.outcome);
		bisection_row_release(&bisection);
	}
	*ret = s;
	return MIN(rc, 0);
}

static void print_text(const struct seen *s)
{
	char when[32];
	autobuf out = {};

	buf_printf(&out, "%4lld  %-8s %-8s ", (long long)s->row->id, s->row->kind, s->state);
	buf_add_safe(&out, s->row->job_name, strlen(s->row->job_name), 20, false);
	buf_pad(&out, 44, ' ');
	buf_printf(&out, " %.16s  ", clock_format_wall(s->row->started_s, when));
	if (s->outcome)
		buf_printf(&out, "%s", s->outcome);
	else if (session_is_held(s->row))
		buf_printf(&out, "process %lld", (long long)s->row->pid);
	else if (streq(s->state, "stopped") || streq(s->state, "paused"))
		buf_printf(&out, "'culprit continue %lld' goes on", (long long)s->row->id);
	buf_addch(&out, '\n');
	if (*s->row->message) {
		buf_adds(&out, "      ");
		buf_add_safe(&out, s->row->message, strlen(s->row->message), 94, false);
		buf_addch(&out, '\n');
	}
	if (s->has_last && !s->outcome) {
		buf_printf(&out, "      last: %.*s ", 12, s->last.what);
		buf_add_safe(&out, s->last.detail, strlen(s->last.detail), 74, false);
		buf_addch(&out, '\n');
	}
	fputs(buf_str(&out), stdout);
}

static struct json *seen_json(const struct seen *s)
{
	struct json *o = json_object_new(), *last;

	json_set_int(o, "session", s->row->id);
	json_set_str(o, "kind", s->row->kind);
	json_set_str(o, "state", s->state);
	json_set_str(o, "job", s->row->job_name);
	json_set_str(o, "machine", s->row->machine);
	json_set_int(o, "started", s->row->started_s);
	json_set(o, "ended", s->row->ended_s ? json_integer_new(s->row->ended_s) : json_null_new());
	json_set(o, "holder",
		 session_is_held(s->row) ? json_integer_new(s->row->pid) : json_null_new());
	json_set_str(o, "message", s->row->message);
	json_set_str(o, "outcome", s->outcome);
	last = json_set(o, "last", s->has_last ? json_object_new() : json_null_new());
	if (s->has_last) {
		json_set_str(last, "what", s->last.what);
		json_set_str(last, "detail", s->last.detail);
		json_set_str(last, "commit", s->last.commit_sha);
		json_set_int(last, "when", s->last.when_s);
	}
	return o;
}

static int print_sessions(struct store *store, struct json *list, struct err *err)
{
	struct session_row *rows;
	size_t n;
	int rc = store_session_list(store, &rows, &n, err);

	if (rc < 0)
		return rc;
	if (!n && !list)
		puts("nothing was measured yet");
	for (size_t i = 0; i < n; i++) {
		struct seen s = {};

		if (rc == 0)
			rc = look(store, &rows[i], &s, err);
		if (rc == 0 && list)
			json_push(list, seen_json(&s));
		else if (rc == 0)
			print_text(&s);
		seen_release(&s);
	}
	for (size_t i = 0; i < n; i++)
		session_row_release(&rows[i]);
	free(rows);
	return rc;
}

int verb_status(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct json *document = NULL, *list = NULL;
	int status = 0, rc;

	if (verb_options(ctx, NULL, argc, argv, 0, 0, &status) < 0)
		return status;
	if (ctx->json) {
		document = verb_document();
		list = json_set(document, "sessions", json_array_new());
	}
	rc = ctx_store(ctx, false, &store, &err);
	if (rc == 0)
		rc = print_sessions(store, list, &err);
	else if (rc == -ERR_NOT_FOUND && !ctx->json)
		puts(err.message);
	if (rc < 0 && rc != -ERR_NOT_FOUND) {
		json_free(document);
		return verb_fail(ctx, &err);
	}
	if (document)
		verb_print_json(document);
	return 0;
}
