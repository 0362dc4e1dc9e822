// SPDX-License-Identifier: GPL-2.0-or-later
// A job: what to run, on what, which metrics, how sure. Typed, checked, with its cells expanded.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/job/expr.h"
#include "harness/stats/centre.h"

#include <stdint.h>

enum better { BETTER_HIGHER, BETTER_LOWER };
enum take { TAKE_ONLY, TAKE_FIRST, TAKE_LAST, TAKE_SUM, TAKE_MEAN, TAKE_MIN, TAKE_MAX };

struct metric {
	char *name;
	char *unit; /* "" where there is none */
	enum better better;
	bool kpi;
	/* exactly one source: */
	char *pattern;	     /* PCRE2, value is the first group */
	char *json;	     /* dotted path */
	char *key;	     /* `name: value` line */
	struct expr *derive; /* over metrics and parameters of the same run */
	enum take take;
	double scale; /* 1 unless given */
	bool optional;
	enum centre_kind centre;
	double quantile; /* in (0,1) for CENTRE_QUANTILE */
	char *each;	 /* of a metric that stands for one value of a list, else NULL */
};

/* A command: a string is `sh -c`, a list is an argv vector. argv is ready to execute in both cases.
 */
struct command {
	char **argv; /* NULL where the job has none */
	int64_t timeout_ns;
};

enum runner_kind { RUNNER_LOCAL, RUNNER_QEMU, RUNNER_MACHINE };
enum qemu_accel { ACCEL_AUTO, ACCEL_KVM, ACCEL_TCG };
enum qemu_clock { CLOCK_REAL, CLOCK_ICOUNT };

struct kernel_options {
	char *base;	    /* "tinyconfig", "defconfig", or an absolute path to a file */
	char **fragments;   /* absolute paths, in order */
	char *cmdline;	    /* added to what the runner needs; "" if none */
	char **patches;	    /* absolute paths, applied on top of each commit */
	char *compiler;	    /* "gcc", "clang", "gcc-12"; "gcc" by default */
	char *arch;	    /* "x86_64" */
	bool aligned;	    /* 64-byte function alignment for all kernels of the job */
	int64_t timeout_ns; /* one build; default 1 h */
};

struct qemu_options {
	uint32_t cpus;	       /* default 1 */
	uint64_t memory_bytes; /* default 512M */
	enum qemu_accel accel;
	enum qemu_clock clock; /* icount needs cpus 1 and TCG */
	char **args;
	int64_t boot_timeout_ns; /* to the agent's hello; default 120 s, times 10 under TCG is the
				    runner's business */
};

struct parameter_value {
	char *name;
	char *value; /* text as it reaches the environment */
};

/* One combination of parameters. name is "size=64,test=UDP_STREAM" (sorted as in the file), or ""
 */
struct cell {
	char *name;
	struct parameter_value *values;
	size_t n_values;
};

struct job {
	char *name;
	char *description;
	char *path;	 /* absolute path of the file */
	char *text_hash; /* SHA-256 of what was parsed, includes merged: same hash, same measurement
			  */
	char *source;	 /* the effective text, kept in the database */
	enum runner_kind runner;
	char *machine; /* RUNNER_MACHINE */
	char *repo;    /* `repo:` absolute, or NULL */
	struct command build, setup, teardown, run;
	struct kernel_options kernel; /* kernel jobs */
	bool is_kernel;
	struct qemu_options qemu;
	char **guest_programs; /* names or paths: what the runs need, and what guests get */
	char **packages;       /* Debian's, that hold them: "rt-tests", "non-free/netperf" */
	struct cell *cells;    /* at least one */
	size_t n_cells;
	struct metric *metrics;
	size_t n_metrics;
	uint32_t boots_min, boots_max;	   /* default 5, 60 */
	uint32_t iterate_min, iterate_max; /* runs in a boot; default 5, 30 */
	double confidence;		   /* 0.99 */
	double interval_pct;		   /* full width in percent of the mean; 5 */
	double interval_floor;		   /* absolute full width that is always enough; 0 */
	double min_effect_pct;		   /* 0: not given */
	double error;			   /* 0.01 */
};

/*
 * name_or_path: a path (contains '/' or ends in .yaml) or the name of a job in the user's directory
 * ($XDG_CONFIG_HOME/culprit/jobs), in $CULPRIT_JOBS, in the source tree's jobs/ beside the binary's
 * build/, or installed ones. All faults of a file come in one ERR_USAGE whose message has a line
 * each behind its first: `file:line:column: key 'x': what is wrong`.
 */
int job_load(const char *name_or_path, struct job **ret, struct err *err);
/* The same for this host as it runs: nothing is built and nothing booted, `50%` is a share of its own
 * CPUs. ERR_USAGE for a job that is not about kernels. */
int job_load_here(const char *name_or_path, struct job **ret, struct err *err);
void job_free(struct job *job);
static inline void cleanup_job(struct job **job)
{
	job_free(*job);
}
#define autojob __attribute__((cleanup(cleanup_job)))

/* Every key of a job file with type, default and help, as text. */
void job_print_docs(struct buf *out);

/* 0, or ERR_NOT_FOUND with the first program that this host lacks and the command that installs it. */
int job_programs_here(const struct job *job, struct err *err);
/* "apt-get install rt-tests"; NULL where the job names no packages. Owned. */
char *job_install_hint(const struct job *job);

const struct metric *job_metric(const struct job *job, const char *name);
/* "k=v,k=v" in any order; what is left out may be anything while one cell alone fits. Else NULL. */
const struct cell *job_cell(const struct job *job, const char *name);
size_t job_kpi_count(const struct job *job);
/* "NAME=value" strings of a cell's parameters, for an environment; owned by the caller. */
char **cell_environment(const struct cell *cell);

/* Every job that can be found by name: (name, path, description), nearest directory first. */
struct job_entry {
	char *name, *path, *description;
	char *problem; /* why it does not load, or NULL */
};
int job_list(struct job_entry **ret, size_t *ret_n, struct err *err);
void job_list_free(struct job_entry *entries, size_t n);
