// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit import-lkp FILE`: a job of LKP as a job file, on stdout.
#include "harness/base/log.h"
#include "harness/job/lkp.h"
#include "harness/verbs/verbs.h"

static void print(const struct ctx *ctx, const struct lkp_job *job)
{
	struct json *document, *list;

	for (size_t i = 0; i < job->left.n; i++)
		log_warn("line %u: no counterpart of '%s': %s", job->left.at[i].line,
			 job->left.at[i].key, job->left.at[i].why);
	if (job->parts > 1)
		log_info("the file has %zu parts; --part N chooses one", job->parts);
	if (!ctx->json) {
		fputs(buf_str(&job->yaml), stdout);
		return;
	}
	document = verb_document();
	json_set_str(document, "job", buf_str(&job->yaml));
	json_set_int(document, "parts", (int64_t)job->parts);
	list = json_set(document, "without_counterpart", json_array_new());
	for (size_t i = 0; i < job->left.n; i++) {
		struct json *o = json_push(list, json_object_new());

		json_set_int(o, "line", job->left.at[i].line);
		json_set_str(o, "key", job->left.at[i].key);
		json_set_str(o, "why", job->left.at[i].why);
	}
	verb_print_json(document);
}

int verb_import_lkp(struct ctx *ctx, int argc, char **argv)
{
	uint64_t part = 0;
	const struct opt options[] = {
		{"part", 0, OPT_U64, &part, "N",
		 "of a file with several, parted by '---' (0, the base of the others)"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct lkp_job job = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (lkp_read(argv[1], part, &job, &err) == 0)
		print(ctx, &job);
	lkp_job_release(&job);
	return err.code ? verb_fail(ctx, &err) : 0;
}
