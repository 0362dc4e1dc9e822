// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit report N`: what a session found, also while it is still at work.
#include "harness/verbs/verbs.h"
#include "reports/report.h"

int verb_report(struct ctx *ctx, int argc, char **argv)
{
	const char *format = NULL;
	const struct opt options[] = {
		{ "format", 0, OPT_STRING, &format, "FORMAT", "text (default), json, lkp or mmtests" },
		{},
	};
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	autobuf out = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!format)
		format = ctx->json ? "json" : "text";
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    verb_session(store, argv[1], &session, &err) == 0)
		report_print(store, session.id, format, &out, &err);
	session_row_release(&session);
	if (err.code)
		return verb_fail(ctx, &err);
	fputs(buf_str(&out), stdout);
	return 0;
}
