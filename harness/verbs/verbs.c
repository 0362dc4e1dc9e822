// SPDX-License-Identifier: GPL-2.0-or-later
// The verb table, the global options, and how errors and documents leave the program.

#include "harness/verbs/verbs.h"

#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/signals.h"

#define VERB_AS(name, typed, operands, summary) {typed, verb_##name, operands, summary},
#define VERB(name, operands, summary)		VERB_AS(name, #name, operands, summary)
const struct verb verbs[] = {
#include "harness/verbs/verbs.def"
	{},
};
#undef VERB
#undef VERB_AS

const struct verb *verb_find(const char *name)
{
	for (const struct verb *v = verbs; v->name; v++)
		if (streq(v->name, name))
			return v;
	return NULL;
}

#define GLOBAL_OPTIONS(ctx)                                                                        \
	{                                                                                          \
		{"state",	    0,	   OPT_STRING,                                             \
		 &(ctx)->state_opt, "DIR", "database, journal, logs, reports"},                    \
			{"cache",	    0,	   OPT_STRING,                                     \
			 &(ctx)->cache_opt, "DIR", "builds and worktrees; safe to delete"},        \
			{"repo", 0, OPT_STRING, &(ctx)->repo, "DIR", "the repository under test"}, \
			{"json", 0, OPT_FLAG, &(ctx)->json, NULL, "one JSON document on stdout"},  \
			{"no-progress",	      0,    OPT_FLAG,                                      \
			 &(ctx)->no_progress, NULL, "no progress on stderr"},                      \
			{"quiet", 'q', OPT_FLAG, &(ctx)->quiet, NULL, "errors only on stderr"},    \
			{"verbose", 'v', OPT_FLAG, &(ctx)->verbose, NULL, "more on stderr"},       \
			{"help", 'h', OPT_FLAG, &(ctx)->help, NULL, "this text"},                  \
			{"version", 0, OPT_FLAG, &(ctx)->version, NULL, "print the version"}, {},  \
	}

/* $variable/culprit, or the place below HOME that the XDG base directories name; absolute */
static char *xdg_dir(const char *given, const char *variable, const char *below_home)
{
	const char *base = getenv(variable);
	autofree char *path = NULL;

	if (given)
		return fs_absolute(given);
	if (base && *base == '/')
		return xasprintf("%s/culprit", base);
	base = getenv("HOME");
	path = xasprintf("%s/%s/culprit", base && *base ? base : "/root", below_home);
	return fs_absolute(path);
}

char *ctx_config_path(const struct ctx *ctx)
{
	autofree char *dir = xdg_dir(NULL, "XDG_CONFIG_HOME", ".config");

	return xasprintf("%s/config.yaml", dir);
}

/* global options count before and after the verb, so what they say is applied after both are read
 */
static void ctx_apply(struct ctx *ctx)
{
	free(ctx->state_dir);
	free(ctx->cache_dir);
	ctx->state_dir = xdg_dir(ctx->state_opt, "XDG_STATE_HOME", ".local/state");
	ctx->cache_dir = xdg_dir(ctx->cache_opt, "XDG_CACHE_HOME", ".cache");
	log_set_level(ctx->quiet ? LOG_ERROR : ctx->verbose ? LOG_DEBUG : LOG_INFO);
	progress_enable(!ctx->no_progress && !ctx->quiet);
}

int ctx_start(struct ctx *ctx, int *argc, char ***argv, struct err *err)
{
	const struct opt options[] = GLOBAL_OPTIONS(ctx);
	int index = 0;
	int r = opt_parse_leading(options, *argc, *argv, &index, err);

	ctx_apply(ctx);
	if (r < 0)
		return r;
	if (ctx->version) {
		printf("culprit %s\n", CULPRIT_VERSION);
		return 0;
	}
	*argc -= index;
	*argv += index;
	ctx->verb = verb_find(*argc > 0 && !ctx->help ? **argv : "help");
	if (ctx->verb)
		return 0;

	const char *names[ARRAY_SIZE(verbs)];
	size_t n = 0;

	while (verbs[n].name) {
		names[n] = verbs[n].name;
		n++;
	}
	err_set(err, ERR_USAGE, "unknown command '%s'", **argv);
	const char *near = str_nearest(**argv, names, n);
	err_hint(err, near ? "did you mean 'culprit %s'?" : "'culprit help' lists them", near);
	return -ERR_USAGE;
}

void ctx_end(struct ctx *ctx)
{
	progress_clear();
	free(ctx->state_dir);
	free(ctx->cache_dir);
}

static void print_verb_help(const struct ctx *ctx, const struct opt *table)
{
	const struct opt global[] = GLOBAL_OPTIONS((struct ctx *)ctx);
	autobuf out = {};

	buf_printf(&out, "culprit %s%s%s: %s\n\n", ctx->verb->name, *ctx->verb->operands ? " " : "",
		   ctx->verb->operands, ctx->verb->summary);
	if (table && *table->name)
		opt_print_help(table, &out);
	buf_adds(&out, "\nEverywhere:\n");
	opt_print_help(global, &out);
	fputs(buf_str(&out), stdout);
}

int verb_options(struct ctx *ctx, const struct opt *table, int argc, char **argv, int min, int max,
		 int *ret_exit)
{
	static const struct opt none[] = {{}};
	const struct opt global[] = GLOBAL_OPTIONS(ctx);
	const struct opt *const tables[] = {table ? table : none, global, NULL};
	ERR_CLEANUP struct err err = {};
	int n = 0;

	if (opt_parse(tables, argc - 1, argv + 1, &n, &err) < 0) {
		ctx_apply(ctx);
		*ret_exit = verb_fail(ctx, &err);
		return -1;
	}
	ctx_apply(ctx);
	if (ctx->help) {
		print_verb_help(ctx, table);
		*ret_exit = 0;
		return -1;
	}
	if (n < min || n > max) {
		err_set(&err, ERR_USAGE,
			n < min ? "'%s' needs %s" : "too many words after '%s', which takes %s",
			ctx->verb->name, *ctx->verb->operands ? ctx->verb->operands : "none");
		err_hint(&err, "culprit %s --help", ctx->verb->name);
		*ret_exit = verb_fail(ctx, &err);
		return -1;
	}
	return n;
}

int verb_fail(struct ctx *ctx, struct err *err)
{
	int signal = signals_pending();
	int status =
		err->code == ERR_INTERRUPTED && signal ? 128 + signal : err_exit_code(err->code);
	const char *message = err->message ? err->message : "unknown error";

	progress_clear();
	log_error("%s%s%s", message, err->hint ? "\n  " : "", err->hint ? err->hint : "");
	if (ctx->json) {
		struct json *document = verb_document();
		struct json *e = json_set(document, "error", json_object_new());

		json_set_str(e, "code", err_code_name(err->code));
		json_set_str(e, "phase", err->phase);
		json_set_str(e, "message", message);
		json_set_str(e, "hint", err->hint ? err->hint : "");
		verb_print_json(document);
	}
	err_release(err);
	return status;
}

int ctx_store(struct ctx *ctx, bool write, struct store **ret, struct err *err)
{
	if (!write)
		return store_open_readonly(ctx->state_dir, ret, err);
	if (fs_mkdirs(ctx->state_dir, err) < 0)
		return err_wrap(err, "state directory '%s'", ctx->state_dir);
	return store_open(ctx->state_dir, ret, err);
}

int verb_session(struct store *store, const char *word, struct session_row *ret, struct err *err)
{
	uint64_t id;

	if (!str_to_u64(word, &id) || id == 0 || id > INT64_MAX)
		return err_set(err, ERR_USAGE, "'%s' is not a number of 'culprit status'", word);
	return store_session_get(store, (int64_t)id, ret, err);
}

struct json *verb_document(void)
{
	struct json *document = json_object_new();

	json_set_int(document, "schema_version", 1);
	return document;
}

void verb_print_json(struct json *document)
{
	autobuf out = {};

	json_print(document, true, &out);
	json_free(document);
	puts(buf_str(&out));
}
