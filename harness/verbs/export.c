// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit export`: the whole database as JSON lines on stdout.
#include "harness/verbs/verbs.h"

static int write_line(const char *line, size_t len, void *arg)
{
	struct err *err = arg;

	return fwrite(line, 1, len, stdout) == len ? 0 : err_errno(err, "cannot write the export");
}

int verb_export(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 0, 0, &status) < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    store_export(store, write_line, &err, &err) == 0 && fflush(stdout))
		err_errno(&err, "cannot write the export");
	return err.code ? verb_fail(ctx, &err) : 0;
}
