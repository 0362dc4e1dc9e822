// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit help`: the list of verbs, one verb's options, or the keys of job files.

#include "harness/job/job.h"
#include "harness/verbs/verbs.h"

static void print_list(void)
{
	puts("usage: culprit [--state DIR] [--cache DIR] [--repo DIR] [--json] VERB ...\n\n"
	     "Finds the commit that made a benchmark slower.\n");
	for (const struct verb *v = verbs; v->name; v++)
		printf("  %-8s %-18s %s\n", v->name, v->operands, v->summary);
	puts("\n'culprit help VERB' shows the options of one, 'culprit help job' the keys of job "
	     "files.");
}

static int print_job_keys(void)
{
	autobuf out = {};

	job_print_docs(&out);
	fputs(buf_str(&out), stdout);
	return 0;
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
	if (streq(argv[1], "job"))
		return print_job_keys();
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
