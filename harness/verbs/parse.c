// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit parse JOB`: what the job's metrics read from a program's output on stdin.

#include "harness/measure/parse.h"

#include "harness/base/log.h"
#include "harness/verbs/verbs.h"

#include <errno.h>

#define OUTPUT_MAX (256UL << 20)

static int read_stdin(struct buf *out, struct err *err)
{
	ssize_t n;

	do {
		n = read(STDIN_FILENO, buf_reserve(out, 1 << 16), 1 << 16);
		if (n < 0 && errno != EINTR)
			return err_errno(err, "cannot read the standard input");
		if (n > 0)
			buf_truncate(out, out->len + (size_t)n);
		if (out->len > OUTPUT_MAX)
			return err_set(err, ERR_USAGE, "the standard input is larger than 256 MiB");
	} while (n);
	return 0;
}

/* The cell that was asked for, the only one, or NULL: then parameters have no value. */
static int find_cell(const struct job *job, const char *name, const struct cell **ret,
		     struct err *err)
{
	*ret = name ? job_cell(job, name) : job->n_cells == 1 ? &job->cells[0] : NULL;
	if (*ret || !name)
		return 0;
	err_set(err, ERR_USAGE, "'%s' is not one cell of job '%s'", name, job->name);
	err_hint(err, "'culprit check %s' lists them", job->name);
	return -ERR_USAGE;
}

/* Whoever keeps only the errors of many outputs must know what each is about. */
static void print_errors(const struct job *job, const struct cell *cell, const struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->values[i].why)
			log_error("job '%s', cell '%s', metric '%s': %s", job->name,
				  cell ? cell->name : "", p->values[i].metric->name,
				  p->values[i].why);
}

static void print_json(const struct job *job, const struct cell *cell, const struct parsed *p)
{
	struct json *document = verb_document();
	struct json *metrics = json_set(document, "metrics", json_array_new());
	struct json *errors = json_set(document, "errors", json_array_new());

	json_set_str(document, "job", job->name);
	json_set_str(document, "cell", cell ? cell->name : NULL);
	for (size_t i = 0; i < p->n; i++) {
		const struct parsed_value *v = &p->values[i];
		struct json *o;

		if (!v->present && !v->why)
			continue;
		o = json_push(v->present ? metrics : errors, json_object_new());
		json_set_str(o, v->present ? "name" : "metric", v->metric->name);
		if (v->present) {
			json_set_num(o, "value", v->value);
			json_set_str(o, "unit", v->metric->unit);
		} else {
			json_set_str(o, "why", v->why);
		}
	}
	verb_print_json(document);
}

static void print_text(const struct parsed *p)
{
	autobuf out = {};
	size_t column = 0;

	for (size_t i = 0; i < p->n; i++)
		column = MAX(column, strlen(p->values[i].metric->name) + 2);
	for (size_t i = 0; i < p->n; i++) {
		const struct parsed_value *v = &p->values[i];

		buf_adds(&out, v->metric->name);
		buf_pad(&out, column, ' ');
		if (v->present)
			buf_printf(&out, "%.10g%s%s", v->value, *v->metric->unit ? " " : "",
				   v->metric->unit);
		else if (v->why)
			buf_printf(&out, "error: %s", v->why);
		else
			buf_adds(&out, "absent, which is fine");
		buf_addch(&out, '\n');
	}
	fputs(buf_str(&out), stdout);
}

static int parse(const char *name, const char *cell_name, struct parsed *ret, struct job **ret_job,
		 const struct cell **ret_cell, struct err *err)
{
	autobuf output = {};

	if (job_load(name, ret_job, err) < 0 || find_cell(*ret_job, cell_name, ret_cell, err) < 0 ||
	    read_stdin(&output, err) < 0)
		return -err->code;
	return parse_output(*ret_job, *ret_cell, buf_str(&output), output.len, ret, err);
}

int verb_parse(struct ctx *ctx, int argc, char **argv)
{
	const char *cell_name = NULL;
	const struct opt options[] = {
		{"cell", 0, OPT_STRING, &cell_name, "k=v,...", "the parameters of the run"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;
	const struct cell *cell = NULL;
	struct parsed parsed = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (parse(argv[1], cell_name, &parsed, &job, &cell, &err) < 0)
		return verb_fail(ctx, &err);
	if (ctx->json)
		print_json(job, cell, &parsed);
	else
		print_text(&parsed);
	print_errors(job, cell, &parsed);
	status = parsed.n_errors > 0;
	parsed_release(&parsed);
	return status;
}
