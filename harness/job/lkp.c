// SPDX-License-Identifier: GPL-2.0-or-later
// From LKP's keys to ours; what has no counterpart is listed, never dropped in silence.
#include "harness/job/lkp.h"

#include "harness/base/fs.h"
#include "harness/job/yaml.h"

#include <inttypes.h>

#define FILE_MAX_BYTES (1u << 20)
#define TIMEOUT_MIN_NS (300 * 1000000000LL)
#define VALUE_SHOWN    60

/* Keys that are about LKP's lab or its files. A star ends what many keys begin with. */
static const struct {
	const char *key, *why;
} foreign[] = {
	{"<<", "another file is merged here: convert what it holds by hand"},
	{"category", "culprit knows no classes of jobs"},
	{"cluster", "one machine is measured; client and server run in one guest"},
	{"node_roles", "one machine is measured; client and server run in one guest"},
	{"disk", "disks of LKP's machines; name a scratch file or disk in setup"},
	{"fs", "file systems are made in setup"},
	{"fs2", "file systems are made in setup"},
	{"md", "arrays are made in setup"},
	{"swap", "swap is set up in setup"},
	{"cpufreq_governor", "the machine's governor is part of its fingerprint, and set there"},
	{"kconfig", "kernel.base and kernel.fragments name a configuration"},
	{"compiler", "kernel.compiler"},
	{"commit", "a revision is named on the command line"},
	{"branch", "a revision is named on the command line"},
	{"kernel_cmdline", "kernel.cmdline"},
	{"boot_params", "kernel.cmdline"},
	{"rootfs", "guest.programs says what a guest holds"},
	{"testbox", "machine names where it runs"},
	{"tbox_group", "machine names where it runs"},
	{"arch", "kernel.arch"},
	{"queue*", "there is no queue"},
	{"need_*", "kernel.fragments and guest.programs say what it needs"},
	{"mail_*", "mails are settings, not part of a job"},
	{"constraints", "machine names where it runs"},
	{"monitor*", "monitors are not part of a job here"},
	{"perf-*", "monitors are not part of a job here"},
	{"LKP_*", "a variable of LKP's own"},
};

/* What LKP's reports call the number that counts, and which way is better. */
static const struct {
	const char *program, *metric, *unit;
	bool lower;
} known[] = {
	{"hackbench", "throughput", "", false},
	{"will-it-scale", "per_process_ops", "", false},
	{"vm-scalability", "throughput", "", false},
	{"unixbench", "score", "", false},
	{"aim7", "jobs-per-min", "", false},
	{"tbench", "throughput", "MB/s", false},
	{"dbench", "throughput", "MB/s", false},
	{"ebizzy", "throughput", "", false},
	{"reaim", "jobs_per_min", "", false},
	{"kbuild", "buildtime_per_iteration", "s", true},
};

struct lkp {
	struct lkp_job *job;
	struct buf parameters;
	const char *program;
	char *name;
	uint64_t iterations;
	int64_t runtime_ns;
	VEC(const char *) names; /* of parameters so far */
};

static void leave(struct lkp *l, const struct yaml_node *node, const char *key, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
static void leave(struct lkp *l, const struct yaml_node *node, const char *key, const char *fmt,
		  ...)
{
	autobuf safe = {};
	va_list ap;

	buf_add_safe(&safe, key, strlen(key), VALUE_SHOWN, false);
	va_start(ap, fmt);
	VEC_PUSH(&l->job->left, (struct lkp_left){.line = node->at.line,
						  .key = buf_take(&safe),
						  .why = xvasprintf(fmt, ap)});
	va_end(ap);
}

static const char *why_foreign(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		size_t n = strcspn(foreign[i].key, "*");

		if (foreign[i].key[n] ? strncmp(key, foreign[i].key, n) == 0
				      : streq(key, foreign[i].key))
			return foreign[i].why;
	}
	return NULL;
}

/* --- parameters --- */

static bool is_name(const char *text)
{
	return *text && !(*text >= '0' && *text <= '9') &&
	       !text[strspn(text,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static bool is_plain(const struct yaml_node *node)
{
	bool plain = node->kind == NODE_SCALAR && !node_is_null(node);

	for (size_t i = 0; node->kind == NODE_LIST && i < node->n; i++)
		plain = node->items[i]->kind == NODE_SCALAR && !node_is_null(node->items[i]) &&
			(i == 0 || plain);
	return plain;
}

/* Shares of CPUs and numbers as they are, anything else as a text. */
static void add_value(struct buf *out, const struct yaml_node *node)
{
	const char *text = node->text;
	size_t digits = strspn(text, "0123456789");

	if (!node->quoted && digits && (streq(text + digits, "%") || !text[digits])) {
		buf_adds(out, text);
		return;
	}
	buf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_addch(out, '\'');
		if ((unsigned char)*text >= ' ')
			buf_addch(out, *text);
	}
	buf_addch(out, '\'');
}

static void add_parameter(struct lkp *l, const struct yaml_node *node)
{
	for (size_t i = 0; i < l->names.n; i++)
		if (streq(l->names.at[i], node->key)) {
			leave(l, node, node->key, "a parameter of this name was there before it");
			return;
		}
	VEC_PUSH(&l->names, node->key);
	buf_printf(&l->parameters, "  %s: [", node->key);
	if (node->kind == NODE_SCALAR)
		add_value(&l->parameters, node);
	for (size_t i = 0; node->kind == NODE_LIST && i < node->n; i++) {
		buf_adds(&l->parameters, i ? ", " : "");
		add_value(&l->parameters, node->items[i]);
	}
	buf_adds(&l->parameters, "]\n");
}

/* "300s", or a plain number of seconds */
static bool read_runtime(struct lkp *l, const struct yaml_node *node)
{
	autofree char *seconds = NULL;
	uint64_t n;

	if (node->kind != NODE_SCALAR)
		return false;
	if (str_to_u64(node->text, &n))
		seconds = xasprintf("%" PRIu64 "s", n);
	if (!str_to_duration_ns(seconds ? seconds : node->text, &l->runtime_ns))
		return false;
	VEC_PUSH(&l->names, node->key);
	buf_printf(&l->parameters, "  runtime: [%lld]\n",
		   (long long)(l->runtime_ns / 1000000000LL));
	return true;
}

static bool read_iterations(struct lkp *l, const struct yaml_node *node)
{
	autofree char *text = NULL;

	if (node->kind != NODE_SCALAR)
		return false;
	text = xstrdup(node->text);
	text[strcspn(text, "x")] = '\0'; /* "5x" */
	return str_to_u64(text, &l->iterations) && l->iterations > 0 && l->iterations < 1000;
}

static void read_value(struct lkp *l, const struct yaml_node *node)
{
	if (!is_plain(node))
		leave(l, node, node->key, "neither a value nor a list of values");
	else if (streq(node->key, "runtime") && read_runtime(l, node))
		return;
	else if (streq(node->key, "iterations") && read_iterations(l, node))
		return;
	else if (!is_name(node->key))
		leave(l, node, node->key, "no name of an environment variable");
	else
		add_parameter(l, node);
}

/* --- keys --- */

static void read_program(struct lkp *l, const struct yaml_node *node)
{
	if (l->program)
		leave(l, node, l->program, "runs before '%s': start it in setup", node->key);
	l->program = node->key;
	for (size_t i = 0; node->kind == NODE_MAP && i < node->n; i++)
		read_value(l, node->items[i]);
}

static void read_key(struct lkp *l, const struct yaml_node *node)
{
	const char *why = why_foreign(node->key);
	size_t n = strlen(node->key);

	if (why)
		leave(l, node, node->key, "%s", why);
	else if (n && (node->key[n - 1] == '+' || node->key[n - 1] == '-'))
		leave(l, node, node->key, "a change of what came before it: make it there");
	else if (streq(node->key, "suite") || streq(node->key, "testcase"))
		return;
	else if (node->kind == NODE_MAP || node_is_null(node))
		read_program(l, node);
	else
		read_value(l, node);
}

static const char *text_of(const struct yaml_node *root, const char *key)
{
	const struct yaml_node *node = node_get(root, key);

	return node && node->kind == NODE_SCALAR && !node_is_null(node) ? node->text : NULL;
}

/* --- the job --- */

static void print_metrics(struct lkp *l, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!streq(known[i].program, l->program))
			continue;
		buf_printf(out, "metrics:\n  %s: {", known[i].metric);
		if (*known[i].unit)
			buf_printf(out, "unit: %s, ", known[i].unit);
		buf_printf(out, "better: %s, key: '%s', kpi: true}\n",
			   known[i].lower ? "lower" : "higher", known[i].metric);
		return;
	}
	VEC_PUSH(&l->job->left,
		 (struct lkp_left){.key = xstrdup("metrics"),
				   .why = xasprintf("LKP reads them by stats/%s: say under "
						    "'metrics' how the output is read",
						    l->program)});
}

static void print_body(struct lkp *l, struct buf *out)
{
	int64_t timeout = MAX(2 * l->runtime_ns, TIMEOUT_MIN_NS) / 1000000000LL;

	buf_printf(out, "culprit: 1\nname: %s\n", l->name);
	buf_adds(out, "kernel: {base: defconfig}\nqemu: {cpus: 4, memory: 4G}\n");
	buf_printf(out, "guest: {programs: [%s]}\n", l->program);
	if (l->parameters.len)
		buf_printf(out, "parameters:\n%s", buf_str(&l->parameters));
	buf_printf(out, "run: {command: %s, timeout: %llds}\n", l->program, (long long)timeout);
	print_metrics(l, out);
	if (l->iterations)
		buf_printf(out, "iterate: {min: %" PRIu64 ", max: %" PRIu64 "}\n", l->iterations,
			   l->iterations);
}

static void print(struct lkp *l, const char *path)
{
	struct lkp_job *job = l->job;
	autobuf body = {}, name = {};

	print_body(l, &body);
	buf_add_safe(&name, path_base(path), strlen(path_base(path)), VALUE_SHOWN, false);
	buf_printf(&job->yaml,
		   "# From LKP's %s. The program reads its parameters from the environment.\n",
		   buf_str(&name));
	for (size_t i = 0; i < job->left.n; i++) {
		const struct lkp_left *left = &job->left.at[i];

		if (!i)
			buf_adds(&job->yaml, "# Without a counterpart here:\n");
		buf_printf(&job->yaml, "#   %s: %s\n", left->key, left->why);
	}
	buf_add(&job->yaml, body.data, body.len);
}

/* A name that jobs may have: what is none of a-z, 0-9, _ and - becomes a dash. */
static char *job_name_of(const char *text)
{
	char *name = xstrdup(text);

	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
			*c = '-';
	return name;
}

static int convert(struct lkp *l, const struct yaml_node *root, const char *path, struct err *err)
{
	const char *name;

	if (root->kind != NODE_MAP)
		return err_set(err, ERR_USAGE, "'%s' holds no keys", path);
	for (size_t i = 0; i < root->n; i++)
		read_key(l, root->items[i]);
	name = text_of(root, "testcase");
	if (!name)
		name = text_of(root, "suite");
	if (!l->program)
		l->program = name;
	if (!l->program ||
	    l->program[strspn(l->program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP"
					  "QRSTUVWXYZ0123456789_.-")])
		return err_set(
			err, ERR_USAGE,
			"'%s' names no program: neither a key with parameters of its own, nor "
			"'testcase'",
			path);
	l->name = job_name_of(name ? name : l->program);
	print(l, path);
	return 0;
}

/* --- parts --- */

/* "---", with nothing but blanks or a comment behind it */
static bool parts_here(const char *line, size_t len)
{
	size_t blanks = 3;

	if (len < 3 || strncmp(line, "---", 3) != 0)
		return false;
	blanks += strspn(line + 3, " \t\r");
	return blanks >= len || (blanks > 3 && line[blanks] == '#');
}

/* The text of a part, in its place: empty lines stand for what is before it. */
static bool cut_part(const char *text, size_t part, struct buf *ret, size_t *ret_parts)
{
	size_t at = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (parts_here(text, len))
			at++;
		else if (at == part)
			buf_add(ret, text, len);
		buf_addch(ret, '\n');
		text += len + (text[len] == '\n');
	}
	*ret_parts = at + 1;
	return part <= at;
}

static int parse(const char *text, const char *path, size_t part, struct diag *d,
		 struct yaml_node **ret, size_t *ret_parts, struct err *err)
{
	autobuf own = {};

	if (!cut_part(text, part, &own, ret_parts))
		return err_set(err, ERR_USAGE, "'%s' has %zu part%s, counted from 0", path,
			       *ret_parts, *ret_parts == 1 ? "" : "s");
	*ret = node_parse(own.data, own.len, path, d);
	if (diag_err(d, err) < 0 || !*ret)
		return *ret ? -(int)err->code
			    : err_set(err, ERR_USAGE, "'%s' is no YAML that can be read", path);
	return 0;
}

int lkp_read(const char *path, size_t part, struct lkp_job *ret, struct err *err)
{
	autoyaml *root = NULL, *base = NULL;
	struct lkp_job job = {};
	struct lkp l = {.job = &job};
	autodiag d = {};
	autobuf text = {};
	int rc = fs_read(path, FILE_MAX_BYTES, &text, err);

	if (rc == 0 && strstr(buf_str(&text), "<%"))
		rc = err_set(err, ERR_USAGE,
			     "'%s' holds templates (<%% ... %%>), which are programs", path);
	if (rc == 0)
		rc = parse(buf_str(&text), path, part, &d, &root, &job.parts, err);
	if (rc == 0 && part)
		rc = parse(buf_str(&text), path, 0, &d, &base, &job.parts, err);
	if (rc == 0 && part)
		node_merge(root, take_ptr(&base));
	if (rc == 0)
		rc = convert(&l, root, path, err);
	free(l.name);
	buf_release(&l.parameters);
	VEC_FREE(&l.names);
	if (rc < 0)
		lkp_job_release(&job);
	else
		*ret = job;
	return rc;
}

void lkp_job_release(struct lkp_job *j)
{
	for (size_t i = 0; i < j->left.n; i++) {
		free(j->left.at[i].key);
		free(j->left.at[i].why);
	}
	VEC_FREE(&j->left);
	buf_release(&j->yaml);
	*j = (struct lkp_job){};
}
