// SPDX-License-Identifier: GPL-2.0-or-later
// The schema of job files: every key with its type, default, limits and help.
#include "harness/base/regex.h"
#include "harness/job/find.h"
#include "harness/job/job_file.h"

#include <ctype.h>
#include <math.h>

/* --- checks of single values --- */

static void check_word(const struct yaml_node *node, struct diag *d)
{
	const char *s = node->text;
	bool ok = isalnum((unsigned char)*s) && strlen(s) <= 64;

	for (; ok && *s; s++)
		ok = isalnum((unsigned char)*s) || strchr("._+-", *s);
	if (!ok)
		node_fault(node, d, "'%s' must be letters, digits and . _ + -, 64 at most",
			   node->text);
}

static void check_packages(const struct yaml_node *node, struct diag *d)
{
	bool list = node->kind == NODE_LIST;

	for (size_t i = 0; i < (list ? node->n : 1); i++) {
		const struct yaml_node *item = list ? node->items[i] : node;
		size_t good = strspn(item->text, "abcdefghijklmnopqrstuvwxyz0123456789+-./");

		if (!good || item->text[good])
			node_fault(item, d, "'%s' is not the name of a Debian package", item->text);
	}
}

static void check_line(const struct yaml_node *node, struct diag *d)
{
	const char *s = node->text;

	if (!*s || strchr(s, '\n') || isspace((unsigned char)*s) ||
	    isspace((unsigned char)s[strlen(s) - 1]))
		node_fault(node, d, "must be one line of text without blanks around it");
}

static void check_cmdline(const struct yaml_node *node, struct diag *d)
{
	if (strlen(node->text) > 1024 || strchr(node->text, '\n'))
		node_fault(node, d, "must be one line of at most 1024 characters");
}

static void check_pattern(const struct yaml_node *node, struct diag *d)
{
	ERR_CLEANUP struct err err = {};
	autoregex struct regex *re = NULL;

	if (regex_new(node->text, &re, &err) < 0)
		node_fault(node, d, "%s", err.message);
}

static void check_scale(const struct yaml_node *node, struct diag *d)
{
	double v;

	if (str_to_double(node->text, &v) && v == 0)
		node_fault(node, d, "must not be 0, which makes every value 0");
}

/* --- readers of what is more than a text or a number --- */

static void read_repo(const struct yaml_node *node, void *field, struct diag *d)
{
	const char *text = schema_text(node, "a directory", d);

	if (text)
		*(char **)field = job_file_beside(text, node->at.file);
}

static void read_base(const struct yaml_node *node, void *field, struct diag *d)
{
	static const char *const targets[] = {"tinyconfig", "defconfig", NULL};
	const char *text = schema_text(node, "tinyconfig, defconfig or a file", d);
	autofree char *meant = NULL, *path = NULL;

	if (!text)
		return;
	if (streq(text, targets[0]) || streq(text, targets[1])) {
		*(char **)field = xstrdup(text);
		return;
	}
	path = job_file_find(text, node->at.file);
	meant = schema_meant(text, targets);
	if (!path)
		node_fault(node, d, "'%s' is neither tinyconfig, defconfig nor a file%s", text,
			   meant);
	*(char **)field = take_ptr(&path);
}

static void read_derive(const struct yaml_node *node, void *field, struct diag *d)
{
	const char *text = schema_text(node, "arithmetic over metrics and parameters", d);
	ERR_CLEANUP struct err err = {};

	if (text && expr_parse(text, field, &err) < 0)
		node_fault(node, d, "%s", err.message);
}

static void read_centre(const struct yaml_node *node, void *field, struct diag *d)
{
	static const char *const words[] = {"median", "mean", "hmean", "min", "max", NULL};
	struct metric *m = container_of(field, struct metric, centre);
	const char *text = schema_text(node, "median, mean, hmean, min, max or pNN", d);
	autofree char *meant = NULL;

	if (!text || centre_parse(text, &m->centre, &m->quantile))
		return;
	meant = schema_meant(text, words);
	node_fault(node, d,
		   "'%s' is none of median, mean, hmean, min, max, nor a percentile like p95%s",
		   text, meant);
}

static void *new_metric(const struct yaml_node *node, void *field, struct diag *d)
{
	struct job *job = container_of(field, struct job, metrics);
	const char *s = node->key;
	bool ok = isalpha((unsigned char)*s) || *s == '_';

	for (; ok && *s; s++)
		ok = isalnum((unsigned char)*s) || *s == '_' || *s == '.';
	if (!ok) {
		diag_add(d, node->key_at, node->key,
			 "the name of a metric must be letters, digits, _ and ., and begin with a "
			 "letter");
		return NULL;
	}
	job->metrics = xrealloc(job->metrics, job->n_metrics + 1, sizeof(*job->metrics));
	job->metrics[job->n_metrics] = (struct metric){.name = xstrdup(node->key)};
	return &job->metrics[job->n_metrics++];
}

/* --- the tables --- */

#define METRIC(field) .offset = offsetof(struct metric, field)

static const char *const better_words[] = {"higher", "lower", NULL};
static const char *const take_words[] = {"only", "first", "last", "sum",
					 "mean", "min",	  "max",  NULL};

const struct schema metric_rows[] = {
	{.key = "unit",
	 .kind = SCHEMA_STRING,
	 METRIC(unit),
	 .fallback = "",
	 .help = "unit of the value, after scaling",
	 .example = "MB/s"},
	{.key = "better",
	 .kind = SCHEMA_ENUM,
	 METRIC(better),
	 .words = better_words,
	 .required = true,
	 .help = "which direction is the good one",
	 .example = "higher"},
	{.key = "kpi",
	 .kind = SCHEMA_BOOL,
	 METRIC(kpi),
	 .fallback = "false",
	 .help = "whether a change of it may start a bisection; the only metric of a job is one "
		 "unless it says no"},
	{.key = "pattern",
	 .kind = SCHEMA_STRING,
	 METRIC(pattern),
	 .check = check_pattern,
	 .help = "PCRE2 expression on the output; the value is its first group, ^ and $ are line "
		 "ends",
	 .example = "'rate=([0-9.]+)'"},
	{.key = "json",
	 .kind = SCHEMA_STRING,
	 METRIC(json),
	 .check = check_line,
	 .help = "dotted path into the first JSON document of the output",
	 .example = "jobs.0.read.iops"},
	{.key = "key",
	 .kind = SCHEMA_STRING,
	 METRIC(key),
	 .check = check_line,
	 .help = "what stands before ':' or '=' on the line with the value",
	 .example = "Total time"},
	{.key = "derive",
	 .kind = SCHEMA_CUSTOM,
	 METRIC(derive),
	 .read = read_derive,
	 .type = "an expression",
	 .help = "+ - * / ( ) over metrics and parameters of the same run",
	 .example = "time_ms * 1000 / packets"},
	{.key = "take",
	 .kind = SCHEMA_ENUM,
	 METRIC(take),
	 .words = take_words,
	 .fallback = "only",
	 .help = "which match of pattern or key counts; with only, a second one is an error"},
	{.key = "scale",
	 .kind = SCHEMA_DOUBLE,
	 METRIC(scale),
	 .fallback = "1",
	 .check = check_scale,
	 .help = "factor on the number as it was read",
	 .example = "1e-6"},
	{.key = "optional",
	 .kind = SCHEMA_BOOL,
	 METRIC(optional),
	 .fallback = "false",
	 .help = "whether a run that does not print it is fine"},
	{.key = "centre",
	 .kind = SCHEMA_CUSTOM,
	 METRIC(centre),
	 .read = read_centre,
	 .fallback = "median",
	 .type = "median, mean, hmean, min, max or pNN",
	 .help = "how the runs of a boot become its one value"},
	{.key = "each",
	 .kind = SCHEMA_STRING,
	 METRIC(each),
	 .type = "a list of texts",
	 .example = "[1, 64, 1024]",
	 .help = "makes a metric NAME.VALUE for each, with {each} in the other keys replaced by the "
		 "value"},
	{}};

#define COMMAND_ROWS(table, limit)                                                                 \
	static const struct schema table[] = {                                                     \
		{.key = "command",                                                                 \
		 .kind = SCHEMA_COMMAND,                                                           \
		 .offset = offsetof(struct command, argv),                                         \
		 .required = true,                                                                 \
		 .help = "a text for sh -c, or a list of program and arguments",                   \
		 .example = "'./bench $size'"},                                                    \
		{.key = "timeout",                                                                 \
		 .kind = SCHEMA_DURATION,                                                          \
		 .offset = offsetof(struct command, timeout_ns),                                   \
		 .min = 0.001,                                                                     \
		 .max = 30 * 86400,                                                                \
		 .fallback = limit,                                                                \
		 .help = "when it is killed"},                                                     \
		{}}
COMMAND_ROWS(build_rows, "30m");
COMMAND_ROWS(setup_rows, "2m");
COMMAND_ROWS(teardown_rows, "2m");
COMMAND_ROWS(run_rows, "10m");

#define KERNEL(field) .offset = offsetof(struct kernel_options, field)

static const struct schema kernel_rows[] = {
	{.key = "base",
	 .kind = SCHEMA_CUSTOM,
	 KERNEL(base),
	 .read = read_base,
	 .fallback = "defconfig",
	 .type = "tinyconfig, defconfig or a file",
	 .help = "the configuration to begin with"},
	{.key = "fragments",
	 .kind = SCHEMA_PATHS,
	 KERNEL(fragments),
	 .help = "configuration fragments on top, in order",
	 .example = "[kconfig/qemu-small.config]"},
	{.key = "cmdline",
	 .kind = SCHEMA_STRING,
	 KERNEL(cmdline),
	 .fallback = "",
	 .check = check_cmdline,
	 .help = "added to the kernel command line that the runner needs",
	 .example = "mitigations=off"},
	{.key = "patches",
	 .kind = SCHEMA_PATHS,
	 KERNEL(patches),
	 .help = "patches applied on top of each commit, in order"},
	{.key = "compiler",
	 .kind = SCHEMA_STRING,
	 KERNEL(compiler),
	 .fallback = "gcc",
	 .check = check_word,
	 .help = "compiler of the kernel",
	 .example = "clang"},
	{.key = "arch",
	 .kind = SCHEMA_STRING,
	 KERNEL(arch),
	 .fallback = "x86_64",
	 .check = check_word,
	 .help = "architecture of the kernel"},
	{.key = "aligned",
	 .kind = SCHEMA_BOOL,
	 KERNEL(aligned),
	 .fallback = "false",
	 .help = "whether all kernels are built with functions aligned to 64 bytes, so that layout "
		 "does not decide"},
	{.key = "timeout",
	 .kind = SCHEMA_DURATION,
	 KERNEL(timeout_ns),
	 .min = 1,
	 .max = 30 * 86400,
	 .fallback = "1h",
	 .help = "when a build is killed"},
	{}};

#define QEMU(field) .offset = offsetof(struct qemu_options, field)

static const char *const accel_words[] = {"auto", "kvm", "tcg", NULL};
static const char *const clock_words[] = {"real", "icount", NULL};

static const struct schema qemu_rows[] = {
	{.key = "cpus",
	 .kind = SCHEMA_U32,
	 QEMU(cpus),
	 .min = 1,
	 .max = 256,
	 .fallback = "1",
	 .help = "processors of the guest"},
	{.key = "memory",
	 .kind = SCHEMA_BYTES,
	 QEMU(memory_bytes),
	 .min = 1 << 25,
	 .max = 0x1p44,
	 .fallback = "512M",
	 .help = "memory of the guest",
	 .example = "2G"},
	{.key = "accel",
	 .kind = SCHEMA_ENUM,
	 QEMU(accel),
	 .words = accel_words,
	 .fallback = "auto",
	 .help = "auto is kvm where it is proved to work, else emulation"},
	{.key = "clock",
	 .kind = SCHEMA_ENUM,
	 QEMU(clock),
	 .words = clock_words,
	 .fallback = "real",
	 .help = "icount counts instructions instead of time: one processor, emulation only"},
	{.key = "args", .kind = SCHEMA_STRINGS, QEMU(args), .help = "more arguments of QEMU"},
	{.key = "boot_timeout",
	 .kind = SCHEMA_DURATION,
	 QEMU(boot_timeout_ns),
	 .min = 1,
	 .max = 86400,
	 .fallback = "120s",
	 .help = "until the agent answers; ten times as long under emulation"},
	{}};

#define JOB(field) .offset = offsetof(struct job_file, job.field)

static const struct schema guest_rows[] = {
	{.key = "programs",
	 .kind = SCHEMA_STRINGS,
	 JOB(guest_programs),
	 .help = "programs of this host, and data files by absolute path, that the runs need; a guest "
		 "gets them, with libraries",
	 .example = "[hackbench]"},
	{}};

static const struct schema boots_rows[] = {
	{.key = "min",
	 .kind = SCHEMA_U32,
	 JOB(boots_min),
	 .min = 1,
	 .max = 100000,
	 .fallback = "5",
	 .help = "boots before anything is concluded"},
	{.key = "max",
	 .kind = SCHEMA_U32,
	 JOB(boots_max),
	 .min = 1,
	 .max = 100000,
	 .fallback = "60",
	 .help = "boots a kernel at most; with 1, `run` repeats runs instead of boots"},
	{}};

static const struct schema iterate_rows[] = {
	{.key = "min",
	 .kind = SCHEMA_U32,
	 JOB(iterate_min),
	 .min = 1,
	 .max = 100000,
	 .fallback = "5",
	 .help = "runs in a boot at least"},
	{.key = "max",
	 .kind = SCHEMA_U32,
	 JOB(iterate_max),
	 .min = 1,
	 .max = 100000,
	 .fallback = "30",
	 .help = "runs in a boot at most"},
	{.key = "confidence",
	 .kind = SCHEMA_FRACTION,
	 JOB(confidence),
	 .min = 0.8,
	 .max = 0.999,
	 .fallback = "99%",
	 .help = "level of the interval"},
	{.key = "interval",
	 .kind = SCHEMA_PERCENT,
	 JOB(interval_pct),
	 .min = 0.001,
	 .max = 200,
	 .fallback = "5%",
	 .help = "full width of the interval in percent of the mean: 5% is +-2.5%"},
	{.key = "floor",
	 .kind = SCHEMA_DOUBLE,
	 JOB(interval_floor),
	 .max = INFINITY,
	 .fallback = "0",
	 .help = "full width, in the metric's unit, that is always narrow enough"},
	{}};

static const struct schema regression_rows[] = {
	{.key = "min_effect",
	 .kind = SCHEMA_PERCENT,
	 JOB(min_effect_pct),
	 .min = 0,
	 .max = 1000,
	 .fallback = "0",
	 .help = "the smallest change worth telling; 0: learned from the noise"},
	{.key = "error",
	 .kind = SCHEMA_FRACTION,
	 JOB(error),
	 .min = 0.00001,
	 .max = 0.2,
	 .fallback = "1%",
	 .help = "how often a conclusion may be wrong"},
	{}};

static const char *const runner_words[] = {"local", "qemu", "machine", NULL};

const struct schema job_rows[] = {
	{.key = "culprit",
	 .kind = SCHEMA_U32,
	 .offset = offsetof(struct job_file, version),
	 .required = true,
	 .min = 1,
	 .max = 1,
	 .help = "version of this format",
	 .example = "1"},
	{.key = "name",
	 .kind = SCHEMA_STRING,
	 JOB(name),
	 .check = check_word,
	 .help = "what the job is called, by default like its file",
	 .example = "sort"},
	{.key = "description",
	 .kind = SCHEMA_STRING,
	 JOB(description),
	 .fallback = "",
	 .help = "what it measures, for people"},
	{.key = "include",
	 .kind = SCHEMA_NODE,
	 .offset = offsetof(struct job_file, include),
	 .type = "a file or a list of files",
	 .help = "files merged under this one, whose own keys win",
	 .example = "include/qemu.yaml"},
	{.key = "runner",
	 .kind = SCHEMA_ENUM,
	 JOB(runner),
	 .words = runner_words,
	 .help = "where kernels boot; by default machine, qemu or local by which of machine: and "
		 "kernel: is there"},
	{.key = "machine",
	 .kind = SCHEMA_STRING,
	 JOB(machine),
	 .check = check_word,
	 .help = "name of the lab machine to run on",
	 .example = "rack3"},
	{.key = "repo",
	 .kind = SCHEMA_CUSTOM,
	 JOB(repo),
	 .read = read_repo,
	 .type = "a directory",
	 .help = "the repository under test, by default that of the current directory"},
	{.key = "build",
	 .kind = SCHEMA_GROUP,
	 JOB(build),
	 .rows = build_rows,
	 .example = "{command: make -s}",
	 .help = "local runner: builds a commit in its clean worktree; what fails to build is "
		 "untestable"},
	{.key = "setup",
	 .kind = SCHEMA_GROUP,
	 JOB(setup),
	 .rows = setup_rows,
	 .example = "{command: ./start-server}",
	 .help = "once per boot, before its runs, without parameters"},
	{.key = "teardown",
	 .kind = SCHEMA_GROUP,
	 JOB(teardown),
	 .rows = teardown_rows,
	 .example = "{command: ./stop-server}",
	 .help = "once per boot, after its runs"},
	{.key = "run",
	 .kind = SCHEMA_GROUP,
	 JOB(run),
	 .rows = run_rows,
	 .required = true,
	 .example = "{command: './bench $size'}",
	 .help = "the benchmark, with parameters in its environment"},
	{.key = "kernel",
	 .kind = SCHEMA_GROUP,
	 JOB(kernel),
	 .rows = kernel_rows,
	 .example = "{base: tinyconfig, fragments: [kconfig/qemu-small.config]}",
	 .help = "the commits are kernels, built like this"},
	{.key = "qemu",
	 .kind = SCHEMA_GROUP,
	 JOB(qemu),
	 .rows = qemu_rows,
	 .example = "{cpus: 2, memory: 1G}",
	 .help = "the guest of the qemu runner"},
	{.key = "guest",
	 .kind = SCHEMA_GROUP,
	 .rows = guest_rows,
	 .example = "{programs: [hackbench]}",
	 .help = "what the guest's file system holds"},
	{.key = "packages",
	 .kind = SCHEMA_STRINGS,
	 JOB(packages),
	 .check = check_packages,
	 .help = "Debian packages of guest.programs, named when one is missing; COMPONENT/PACKAGE "
		 "where it is not in main",
	 .example = "[rt-tests, non-free/netperf]"},
	{.key = "parameters",
	 .kind = SCHEMA_NODE,
	 .offset = offsetof(struct job_file, parameters),
	 .type = "NAME: a value or a list of values",
	 .example = "{size: [64, 4K], clients: [1, 50%]}",
	 .help = "environment variables of the run; lists make a cell for each combination. Not in "
		 "quotes, "
		 "50% is that share of the CPUs (the guest's, else this host's; at least 1) and "
		 "4K, 1M, 2G are bytes"},
	{.key = "exclude",
	 .kind = SCHEMA_NODE,
	 .offset = offsetof(struct job_file, exclude),
	 .type = "a list of mappings",
	 .example = "[{size: 64, clients: 50%}]",
	 .help = "combinations to leave out: a cell goes where all keys of a mapping fit"},
	{.key = "metrics",
	 .kind = SCHEMA_MAP,
	 JOB(metrics),
	 .rows = metric_rows,
	 .entry = new_metric,
	 .required = true,
	 .example = "{rate: {unit: keys/s, better: higher, pattern: 'rate=([0-9.]+)'}}",
	 .help = "the numbers, each from one of pattern, json, key or derive"},
	{.key = "boots",
	 .kind = SCHEMA_GROUP,
	 .rows = boots_rows,
	 .example = "{min: 5, max: 60}",
	 .help = "how often a kernel is booted"},
	{.key = "iterate",
	 .kind = SCHEMA_GROUP,
	 .rows = iterate_rows,
	 .example = "{min: 5, max: 30, confidence: 99%, interval: 5%}",
	 .help = "when a measurement is sure enough"},
	{.key = "regression",
	 .kind = SCHEMA_GROUP,
	 .rows = regression_rows,
	 .example = "{min_effect: 3%, error: 1%}",
	 .help = "what counts as a change"},
	{}};
