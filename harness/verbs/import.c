// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit import FILE`: what another state exported becomes part of this one.
#include "db/import.h"
#include "harness/base/log.h"
#include "harness/verbs/verbs.h"

static void print(const struct ctx *ctx, const struct import_result *r)
{
	struct json *document;

	if (r->unfinished)
		log_warn("%zu session%s left out: not over yet there", r->unfinished,
			 r->unfinished == 1 ? " is" : "s are");
	if (!ctx->json) {
		printf("%zu sessions added, %zu were here already; %zu new rows from %zu lines\n",
		       r->sessions, r->known, r->added, r->lines);
		return;
	}
	document = verb_document();
	json_set_int(document, "lines", (int64_t)r->lines);
	json_set_int(document, "rows_added", (int64_t)r->added);
	json_set_int(document, "sessions_added", (int64_t)r->sessions);
	json_set_int(document, "sessions_known", (int64_t)r->known);
	json_set_int(document, "sessions_unfinished", (int64_t)r->unfinished);
	verb_print_json(document);
}

int verb_import(struct ctx *ctx, int argc, char **argv)
{
	bool same_machines = false;
	const struct opt options[] = {
		{"same-machines", 0, OPT_FLAG, &same_machines, NULL,
		 "machine names mean the same there as here"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	autofclose FILE *in = NULL;
	struct import_result result = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	in = fopen(argv[1], "re");
	if (!in)
		err_errno(&err, "cannot read '%s'", argv[1]);
	else if (ctx_store(ctx, true, &store, &err) == 0 &&
		 store_import(store, in, argv[1], same_machines, &result, &err) == 0)
		print(ctx, &result);
	return err.code ? verb_fail(ctx, &err) : 0;
}
