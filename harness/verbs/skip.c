// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit skip N REV`: a commit that a person does not want tested in a bisection.
#include "harness/base/log.h"
#include "harness/kernel/repo.h"
#include "harness/verbs/verbs.h"

static void close_repo(struct repo **repo)
{
	repo_close(*repo);
}

static int resolve(struct ctx *ctx, const struct session_row *session, const char *rev, char **ret,
		   struct err *err)
{
	__attribute__((cleanup(close_repo))) struct repo *repo = NULL;
	const char *path = ctx->repo ? ctx->repo : session->repo;

	if (repo_open(path, &repo, err) < 0)
		return -(int)err->code;
	return repo_resolve(repo, rev, ret, err);
}

static int skip(struct ctx *ctx, struct store *store, const struct session_row *session,
		const char *rev, struct err *err)
{
	autofree char *sha = NULL;

	if (!streq(session->kind, "bisect")) {
		err_set(err, ERR_USAGE, "session %lld is no bisection but a %s",
			(long long)session->id, session->kind);
		err_hint(err, "'culprit status' lists them");
		return -ERR_USAGE;
	}
	if (resolve(ctx, session, rev, &sha, err) < 0 ||
	    store_skip_add(store, session->id, sha, err) < 0)
		return -(int)err->code;
	log_info("%.12s will not be tested in bisection %lld from its next start on", sha,
		 (long long)session->id);
	return 0;
}

int verb_skip(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 2, 2, &status) < 0)
		return status;
	if (ctx_store(ctx, true, &store, &err) == 0 &&
	    verb_session(store, argv[1], &session, &err) == 0)
		skip(ctx, store, &session, argv[2], &err);
	session_row_release(&session);
	if (err.code)
		return verb_fail(ctx, &err);
	if (ctx->json)
		verb_print_json(verb_document());
	return 0;
}
