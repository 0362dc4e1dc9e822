// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit gc`: shrinks the cache, oldest use first. Nothing measured is in it.

#include "harness/base/fs.h"
#include "harness/kernel/build.h"
#include "harness/verbs/verbs.h"

int verb_gc(struct ctx *ctx, int argc, char **argv)
{
	const char *size = "20G";
	bool dry_run = false;
	const struct opt options[] = {
		{"max-size", 0, OPT_STRING, &size, "SIZE", "what the cache may keep (20G)"},
		{"dry-run", 'n', OPT_FLAG, &dry_run, NULL, "only say what would go"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	uint64_t max_bytes = 0, freed = 0;
	size_t n = 0;
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 0, 0, &status) < 0)
		return status;
	if (!str_to_bytes(size, &max_bytes)) {
		err_set(&err, ERR_USAGE, "'%s' is no size; a number with K, M or G behind it is",
			size);
		return verb_fail(ctx, &err);
	}
	if (fs_exists(ctx->cache_dir) &&
	    cache_gc(ctx->cache_dir, max_bytes, dry_run, &freed, &n, &err) < 0)
		return verb_fail(ctx, &err);
	if (ctx->json) {
		struct json *document = verb_document();

		json_set_int(document, "freed_bytes", (int64_t)freed);
		json_set_int(document, "removed", (int64_t)n);
		json_set_bool(document, "dry_run", dry_run);
		verb_print_json(document);
	} else {
		printf("%s %zu entr%s, %.2f GiB, from %s\n", dry_run ? "would remove" : "removed",
		       n, n == 1 ? "y" : "ies", (double)freed / (1 << 30), ctx->cache_dir);
	}
	return 0;
}
