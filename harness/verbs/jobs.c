// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit jobs`: the jobs that can be named, one line each.

#include "harness/job/job.h"
#include "harness/verbs/verbs.h"

static void add_line(const struct job_entry *e, size_t column, struct buf *out)
{
	const char *text = e->problem ? e->problem : e->description;

	buf_adds(out, e->name);
	buf_pad(out, column, ' ');
	if (e->problem)
		buf_adds(out, "does not load: ");
	buf_add_safe(out, text, strcspn(text, "\n"), e->problem ? 300 : 100, false);
	buf_addch(out, '\n');
}

static void print_text(const struct job_entry *entries, size_t n)
{
	autobuf out = {};
	size_t column = 0;

	for (size_t i = 0; i < n; i++)
		column = MAX(column, strlen(entries[i].name) + 2);
	for (size_t i = 0; i < n; i++)
		add_line(&entries[i], column, &out);
	fputs(n ? buf_str(&out)
		: "no jobs are installed; a job is also named by the path of its file\n",
	      stdout);
}

static void print_json(const struct job_entry *entries, size_t n)
{
	struct json *document = verb_document();
	struct json *jobs = json_set(document, "jobs", json_array_new());

	for (size_t i = 0; i < n; i++) {
		struct json *job = json_push(jobs, json_object_new());

		json_set_str(job, "name", entries[i].name);
		json_set_str(job, "path", entries[i].path);
		json_set_str(job, "description", entries[i].description);
		json_set_str(job, "problem", entries[i].problem);
	}
	verb_print_json(document);
}

int verb_jobs(struct ctx *ctx, int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	struct job_entry *entries = NULL;
	size_t n = 0;
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 0, 0, &status) < 0)
		return status;
	if (job_list(&entries, &n, &err) < 0)
		return verb_fail(ctx, &err);
	if (ctx->json)
		print_json(entries, n);
	else
		print_text(entries, n);
	job_list_free(entries, n);
	return 0;
}
