// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit help`: the list of verbs, one verb's options, or the keys of a file that people write.

#include "harness/job/job.h"
#include "harness/job/settings.h"
#include "harness/verbs/verbs.h"

static void print_list(void)
{
	puts("usage: culprit [--state DIR] [--cache DIR] [--repo DIR] [--json] VERB ...\n\n"
	     "Finds the commit that made a benchmark slower.\n");
	for (const struct verb *v = verbs; v->name; v++)
		printf("  %-8s %-18s %s\n", v->name, v->operands, v->summary);
	puts("\n'culprit help VERB' shows the options of one, 'culprit help job-file' and 'culprit help\n"
	     "config' the keys of these files.");
}

static const struct {
	const char *name;
	void (*print)(struct buf *out);
} files[] = {
	{ "job-file", job_print_docs },
	{ "config", settings_print_docs },
};

static bool print_file(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autobuf out = {};

		if (!streq(files[i].name, name))
			continue;
		files[i].print(&out);
		fputs(buf_str(&out), stdout);
		return true;
	}
	return false;
}

int verb_help(struct ctx *ctx, int argc, char **argv)
{
	int status = 0;
	int n = argc > 0 && streq(argv[0], "help")
			? verb_options(ctx, NULL, argc, argv, 0, 1, &status)
			: 0;
	const struct verb *v;

	if (n < 0)
		return status;
	if (n == 0) {
		print_list();
		return 0;
	}
	if (print_file(argv[1]))
		return 0;
	v = verb_find(argv[1]);
	if (!v) {
		struct err err = {};

		err_set(&err, ERR_USAGE, "unknown command '%s'", argv[1]);
		err_hint(&err, "'culprit help' lists them");
		return verb_fail(ctx, &err);
	}
	char *help_argv[] = {argv[1], (char *)"--help", NULL};

	ctx->verb = v;
	return v->run(ctx, 2, help_argv);
}
