// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit stop N` and `culprit continue [N]`: pausing a session from outside, and going on with
// one.

#include "harness/base/log.h"
#include "harness/verbs/holder.h"
#include "harness/verbs/verbs.h"

#include <errno.h>
#include <signal.h>

static bool is_over(const struct session_row *row)
{
	return streq(row->state, "done") || streq(row->state, "failed");
}

int verb_stop(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row row = {};
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 1, 1, &status) < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) < 0 || verb_session(store, argv[1], &row, &err) < 0)
		return verb_fail(ctx, &err);
	if (!session_is_held(&row))
		err_set(&err, ERR_USAGE, "nobody works on session %s now (it is %s)", argv[1],
			is_over(&row) ? row.state : "paused");
	else if (kill((pid_t)row.pid, SIGINT) < 0)
		err_errno(&err, "cannot signal process %lld", (long long)row.pid);
	else
		log_info("asked process %lld to pause session %s", (long long)row.pid, argv[1]);
	session_row_release(&row);
	return err.code ? verb_fail(ctx, &err) : 0;
}

/* the newest session that was left on the way */
static int newest_paused(struct store *store, struct session_row *ret, struct err *err)
{
	struct session_row *rows = NULL;
	size_t n = 0;
	bool found = false;

	if (store_session_list(store, &rows, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		bool left = !is_over(&rows[i]) && !session_is_held(&rows[i]);

		if (left && !found) {
			*ret = rows[i];
			found = true;
		} else {
			session_row_release(&rows[i]);
		}
	}
	free(rows);
	return found ? 0 : err_set(err, ERR_NOT_FOUND, "no session is paused");
}

/* the command as it was typed, with the directories of now in front; its own options still win */
static int again(struct ctx *ctx, const struct session_row *row, struct err *err)
{
	autojson struct json *words = NULL;
	autostrv char **argv = NULL;

	if (json_parse(row->argv, strlen(row->argv), &words, err) < 0)
		return err_wrap(err, "command of session %lld", (long long)row->id);
	strv_push(&argv, ctx->argv[0]);
	strv_pushf(&argv, "--state=%s", ctx->state_dir);
	strv_pushf(&argv, "--cache=%s", ctx->cache_dir);
	if (ctx->json)
		strv_push(&argv, "--json");
	if (ctx->no_progress)
		strv_push(&argv, "--no-progress");
	for (size_t i = 1; i < json_len(words); i++)
		if (json_str(json_item(words, i)) &&
		    !streq(json_str(json_item(words, i)), "--again"))
			strv_push(&argv, json_str(json_item(words, i)));
	if (chdir(row->cwd) < 0)
		return err_errno(err, "cannot go to '%s', where session %lld was started", row->cwd,
				 (long long)row->id);
	execv("/proc/self/exe", argv);
	return err_errno(err, "cannot start culprit again");
}

int verb_continue(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row row = {};
	int status = 0, r;
	int n = verb_options(ctx, NULL, argc, argv, 0, 1, &status);

	if (n < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) < 0)
		return verb_fail(ctx, &err);
	r = n ? verb_session(store, argv[1], &row, &err) : newest_paused(store, &row, &err);
	store_close(take_ptr(&store)); /* no descriptor of it may go into the new program */
	if (r == 0 && is_over(&row))
		err_set(&err, ERR_USAGE, "session %lld is %s; 'culprit report %lld' shows it",
			(long long)row.id, row.state, (long long)row.id);
	else if (r == 0)
		again(ctx, &row, &err);
	session_row_release(&row);
	return verb_fail(ctx, &err);
}
