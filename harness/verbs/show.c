// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit show N`: a session with its boots; one boot with its runs and what they printed; the
// job.
#include "harness/base/clock.h"
#include "harness/verbs/holder.h"
#include "harness/verbs/verbs.h"

#define OUTPUT_SHOWN 4096

static void add_safe(struct buf *out, const char *text, size_t max)
{
	buf_add_safe(out, text, strlen(text), max, false);
}

/* --- the session --- */

static void session_text(const struct session_row *s)
{
	char start[32], end[32];
	autobuf out = {};

	buf_printf(&out, "%s %lld: ", s->kind, (long long)s->id);
	add_safe(&out, s->job_name, 40);
	buf_adds(&out, " on ");
	add_safe(&out, s->machine, 40);
	buf_printf(&out, "\n  state    %s", s->state);
	if (session_is_held(s))
		buf_printf(&out, ", held by process %lld", (long long)s->pid);
	if (*s->message) {
		buf_adds(&out, ": ");
		add_safe(&out, s->message, 400);
	}
	buf_printf(&out, "\n  started  %s UTC", clock_format_wall(s->started_s, start));
	if (s->ended_s)
		buf_printf(&out, "\n  ended    %s UTC", clock_format_wall(s->ended_s, end));
	if (*s->repo) {
		buf_adds(&out, "\n  repo     ");
		add_safe(&out, s->repo, 200);
	}
	buf_adds(&out, "\n  command  ");
	add_safe(&out, s->argv, 400);
	puts(buf_str(&out));
}

static struct json *session_json(const struct session_row *s)
{
	ERR_CLEANUP struct err err = {};
	struct json *o = json_object_new(), *argv = NULL;

	json_set_int(o, "session", s->id);
	json_set_str(o, "kind", s->kind);
	json_set_str(o, "state", s->state);
	json_set_str(o, "job", s->job_name);
	json_set_str(o, "machine", s->machine);
	json_set_str(o, "repo", s->repo);
	json_set_int(o, "started", s->started_s);
	json_set(o, "ended", s->ended_s ? json_integer_new(s->ended_s) : json_null_new());
	json_set(o, "holder", session_is_held(s) ? json_integer_new(s->pid) : json_null_new());
	json_set_str(o, "message", s->message);
	if (json_parse(s->argv, strlen(s->argv), &argv, &err) < 0)
		argv = NULL;
	json_set(o, "command", argv ? argv : json_null_new());
	return o;
}

/* --- its boots --- */

static void boot_text(const struct boot_row *b, const struct boot_runs *runs)
{
	autobuf out = {};

	buf_printf(&out, "  %5lld  %12.12s  %-8s ", (long long)b->id,
		   b->commit_sha ? b->commit_sha : "", b->purpose);
	add_safe(&out, b->side, 12);
	buf_pad(&out, 43, ' ');
	buf_printf(&out, " %-11s %3zu", b->void_why ? "void" : b->status, runs->runs);
	if (runs->failed)
		buf_printf(&out, " (%zu failed)", runs->failed);
	if (b->void_why) {
		buf_addch(&out, ' ');
		add_safe(&out, b->void_why, 200);
	} else if (*b->message) {
		buf_printf(&out, " %s: ", b->phase);
		add_safe(&out, b->message, 200);
	}
	puts(buf_str(&out));
}

static struct json *boot_json(const struct boot_row *b, const struct boot_runs *runs)
{
	struct json *o = json_object_new();

	json_set_int(o, "boot", b->id);
	json_set_str(o, "commit", b->commit_sha);
	json_set_str(o, "side", b->side);
	json_set_str(o, "purpose", b->purpose);
	json_set_str(o, "status", b->status);
	json_set_str(o, "phase", b->phase);
	json_set_str(o, "message", b->message);
	json_set_str(o, "void", b->void_why);
	json_set_int(o, "started", b->started_s);
	json_set_num(o, "seconds", b->seconds);
	json_set_num(o, "boot_seconds", b->boot_seconds);
	json_set_int(o, "runs", (int64_t)runs->runs);
	json_set_int(o, "failed_runs", (int64_t)runs->failed);
	json_set_str(o, "log", *b->log_path ? b->log_path : NULL);
	return o;
}

static int show_boots(struct store *store, int64_t session, struct json *list, struct err *err)
{
	struct boot_row *boots;
	struct boot_runs *runs = NULL;
	size_t n, n_runs = 0;
	int rc = store_boot_list(store, session, &boots, &n, err);

	if (rc < 0)
		return rc;
	rc = store_boot_runs(store, session, &runs, &n_runs, err);
	if (!list)
		puts("\n   boot  commit        purpose  side       status     runs");
	for (size_t i = 0; rc == 0 && i < MIN(n, n_runs); i++) {
		if (list)
			json_push(list, boot_json(&boots[i], &runs[i]));
		else
			boot_text(&boots[i], &runs[i]);
	}
	for (size_t i = 0; i < n; i++)
		boot_row_release(&boots[i]);
	free(boots);
	free(runs);
	return rc;
}

static int show_session(struct ctx *ctx, struct store *store, const struct session_row *session,
			struct err *err)
{
	struct json *document, *list;

	if (!ctx->json) {
		session_text(session);
		return show_boots(store, session->id, NULL, err);
	}
	document = verb_document();
	json_set(document, "session", session_json(session));
	list = json_set(document, "boots", json_array_new());
	if (show_boots(store, session->id, list, err) < 0) {
		json_free(document);
		return -(int)err->code;
	}
	verb_print_json(document);
	return 0;
}

/* --- one boot --- */

static void run_text(const struct run_row *r)
{
	autobuf out = {};
	char took[32];

	buf_printf(&out, "  run %lld of ", (long long)r->number);
	add_safe(&out, *r->cell ? r->cell : "the job", 80);
	buf_printf(&out, ": %s, exit %lld, %s", r->status, (long long)r->exit_code,
		   clock_format_duration(r->seconds, took));
	if (*r->message) {
		buf_adds(&out, ": ");
		add_safe(&out, r->message, 400);
	}
	buf_addch(&out, '\n');
	if (r->output)
		buf_add_safe(&out, r->output, r->output_len, OUTPUT_SHOWN, true);
	if (!str_ends(buf_str(&out), "\n"))
		buf_addch(&out, '\n');
	fputs(buf_str(&out), stdout);
}

static struct json *run_json(const struct run_row *r)
{
	struct json *o = json_object_new();

	json_set_str(o, "cell", r->cell);
	json_set_int(o, "run", r->number);
	json_set_str(o, "status", r->status);
	json_set_str(o, "message", r->message);
	json_set_int(o, "exit_code", r->exit_code);
	json_set_int(o, "signal", r->signal);
	json_set_num(o, "seconds", r->seconds);
	json_set_num(o, "user_seconds", r->user_s);
	json_set_num(o, "system_seconds", r->sys_s);
	json_set_int(o, "max_rss_bytes", r->max_rss_bytes);
	json_set_str(o, "output", r->output);
	json_set_int(o, "output_bytes", r->output_total);
	return o;
}

static int show_boot(struct ctx *ctx, struct store *store, int64_t session, uint64_t id,
		     struct err *err)
{
	struct boot_row boot = {};
	struct run_row *runs;
	size_t n;
	struct json *document = NULL, *list = NULL;

	if (store_boot_get(store, (int64_t)MIN(id, (uint64_t)INT64_MAX), &boot, err) < 0)
		return -(int)err->code;
	if (boot.session != session)
		err_set(err, ERR_NOT_FOUND, "boot %lld is one of session %lld", (long long)boot.id,
			(long long)boot.session);
	else
		store_run_list(store, boot.id, &runs, &n, err);
	boot_row_release(&boot);
	if (err->code)
		return -(int)err->code;
	if (ctx->json) {
		document = verb_document();
		json_set_int(document, "boot", (int64_t)id);
		list = json_set(document, "runs", json_array_new());
	}
	for (size_t i = 0; i < n; i++) {
		if (list)
			json_push(list, run_json(&runs[i]));
		else
			run_text(&runs[i]);
		run_row_release(&runs[i]);
	}
	free(runs);
	if (document)
		verb_print_json(document);
	return 0;
}

/* The job as it was measured, ready to be run again; with --json as a string. */
static void show_job(struct ctx *ctx, const struct session_row *session)
{
	struct json *document;

	if (!ctx->json) {
		fputs(session->job_source, stdout);
		return;
	}
	document = verb_document();
	json_set_str(document, "job", session->job_source);
	verb_print_json(document);
}

int verb_show(struct ctx *ctx, int argc, char **argv)
{
	uint64_t boot = 0;
	bool job = false;
	const struct opt options[] = {
		{ "boot", 0, OPT_U64, &boot, "B", "the runs of this boot and what they printed" },
		{ "job", 0, OPT_FLAG, &job, NULL, "the job file as it was measured" },
		{},
	};
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    verb_session(store, argv[1], &session, &err) == 0) {
		if (job)
			show_job(ctx, &session);
		else if (boot)
			show_boot(ctx, store, session.id, boot, &err);
		else
			show_session(ctx, store, &session, &err);
	}
	session_row_release(&session);
	return err.code ? verb_fail(ctx, &err) : 0;
}
