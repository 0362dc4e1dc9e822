// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit void boot N --why TEXT`: a boot that a person does not trust leaves all results.
#include "harness/base/log.h"
#include "harness/verbs/verbs.h"

static int void_boot(struct ctx *ctx, char **words, const char *why, struct err *err)
{
	autostore struct store *store = NULL;
	uint64_t boot;

	if (!streq(words[0], "boot"))
		return err_set(err, ERR_USAGE, "only a boot can be voided, not '%s'", words[0]);
	if (!why || !*why) {
		err_set(err, ERR_USAGE, "voiding a boot needs a reason");
		err_hint(err, "culprit void boot %s --why 'what was wrong with it'", words[1]);
		return -ERR_USAGE;
	}
	if (!str_to_u64(words[1], &boot) || boot == 0 || boot > INT64_MAX) {
		err_set(err, ERR_USAGE, "'%s' is no number of a boot", words[1]);
		err_hint(err, "'culprit show N' lists the boots of session N");
		return -ERR_USAGE;
	}
	if (ctx_store(ctx, true, &store, err) < 0 ||
	    store_boot_void(store, (int64_t)boot, why, err) < 0)
		return -(int)err->code;
	log_info("boot %s counts no more; it stays in the journal", words[1]);
	return 0;
}

int verb_void(struct ctx *ctx, int argc, char **argv)
{
	const char *why = NULL;
	const struct opt options[] = {
		{ "why", 0, OPT_STRING, &why, "TEXT", "what was wrong with it; required" },
		{},
	};
	ERR_CLEANUP struct err err = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 2, 2, &status) < 0)
		return status;
	if (void_boot(ctx, argv + 1, why, &err) < 0)
		return verb_fail(ctx, &err);
	if (ctx->json)
		verb_print_json(verb_document());
	return 0;
}
