// SPDX-License-Identifier: GPL-2.0-or-later
// The store: every boot, run, sample, step and bisection, in one SQLite database of the state.
#pragma once

#include "harness/base/err.h"
#include "harness/base/json.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Rows are written before a step starts and after it ends, so that a killed program finds where it
 * was. All ids are row ids (> 0). Strings passed in are copied into the database; strings handed
 * out are owned by the struct that carries them. A missing number is NaN here and NULL in the
 * database. A NULL string is stored as "" where it is not said to be NULL, a time of 0 as the
 * present one, and commits named by their hash get a row by themselves (store_commit_put adds
 * subject and author). Arrays handed out are freed after each row's release.
 */
struct store;

/* Creates and migrates; ERR_TOO_NEW. The second: ERR_NOT_FOUND where nothing was stored yet. */
int store_open(const char *state_dir, struct store **ret, struct err *err);
int store_open_readonly(const char *state_dir, struct store **ret, struct err *err);
void store_close(struct store *s);
static inline void cleanup_store(struct store **s)
{
	store_close(*s);
}
#define autostore __attribute__((cleanup(cleanup_store)))
int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);

/* --- sessions: one `run`, `compare`, `bisect`, `test`; N on the command line is its id --- */
struct session_row {
	int64_t id;
	char *kind;  /* "run", "aa", "compare", "bisect", "test" */
	char *key;   /* hash of what makes it the same work; an unfinished one resumes */
	char *state; /* "running", "paused", "done", "failed" */
	char *job_name, *job_hash, *job_source;
	char *repo;    /* absolute path, or "" */
	char *machine; /* machine name: "local", "qemu-tcg-icount", ... */
	char *argv;    /* JSON array of the command that started it, for `continue` */
	char *cwd;
	char *options; /* JSON object: how sure it was asked to be, see below; NULL is {} */
	int64_t pid;   /* of the process that last held it */
	int64_t started_s, ended_s; /* wall clock; ended 0 while not over */
	char *message;		    /* why it paused or failed; "" */
	char *result;		    /* JSON document of the result, or NULL: what --json printed */
};
void session_row_release(struct session_row *r);
int store_session_add(struct store *s, const struct session_row *in, int64_t *ret_id,
		      struct err *err);
int store_session_get(struct store *s, int64_t id, struct session_row *ret, struct err *err);
/* newest with this key, any state; 1 found, 0 none */
int store_session_find(struct store *s, const char *key, struct session_row *ret, struct err *err);
/* the newest first */
int store_session_list(struct store *s, struct session_row **ret, size_t *ret_n, struct err *err);
/* "running" makes this process the holder; "done" and "failed" end it, others open it again */
int store_session_state(struct store *s, int64_t id, const char *state, const char *message,
			struct err *err);
/* ids of the finished ones of this kind, job and machine, the newest first; owned */
int store_session_finished(struct store *s, const char *kind, const char *job_hash,
			   const char *machine, int64_t **ret, size_t *ret_n, struct err *err);
int store_session_result(struct store *s, int64_t id, const char *result_json, struct err *err);

/* What a session measures: needed to read its samples without the job file. */
struct metric_row {
	char *name, *unit;
	int higher_is_better, kpi;
	char *centre; /* of a boot's runs: "median", "mean", "p95" ... (harness/stats/centre.h) */
};
int store_metrics_put(struct store *s, int64_t session, const struct metric_row *in, size_t n,
		      struct err *err);
int store_metrics_get(struct store *s, int64_t session, struct metric_row **ret, size_t *ret_n,
		      struct err *err);
void metric_rows_free(struct metric_row *rows, size_t n);

/*
 * Keys of session_row.options that reports read, all optional: job (what to type for it),
 * confidence (0.99), interval_pct (full width), interval_floor, min_effect_pct, error, and "unit":
 * "run" where runs of one boot were iterated (boots.max is 1). aa: what was known of the noise when
 * the session began, {CELL: {METRIC: {"runs_pct", "boots_pct", "builds_pct", "spread_pct"}}}; where
 * the job gives no min_effect_pct, the larger of 1 and spread_pct stands for it.
 */

/* The columns of a comparison in the order they were put; boots belong to one by their side. */
struct side_row {
	int64_t session;
	char *name, *rev;
	char *commit_sha; /* 40 hex, or NULL where there is none */
	char *message;	  /* why it could not be measured (what does not apply); "" */
};
void side_row_release(struct side_row *r);
/* by name, keeps its place */
int store_side_put(struct store *s, const struct side_row *in, struct err *err);
int store_side_list(struct store *s, int64_t session, struct side_row **ret, size_t *ret_n,
		    struct err *err);

/* --- bisections: what a session of kind "bisect" knows beyond that --- */
struct bisection_row {
	int64_t session;
	char *good, *bad; /* 40 hex */
	char *metric, *unit, *cell;
	int better_higher;
	uint64_t seed;
	char *options;	/* JSON: error, min_effect, path, first_parent, budget ... as run */
	char *outcome;	/* "" until it ended */
	char *culprit;	/* 40 hex or NULL */
	char *culprits; /* JSON array, all of them */
	double probability;
	char *candidates; /* JSON array of {commit, probability} */
	double effect_pct, effect_low, effect_high, effect_good, effect_bad;
	char *checks; /* JSON object name -> pass|fail|na|not-run */
	char *notes;  /* JSON array of sentences for the report */
	int64_t n_candidates;
	double smallest_effect_pct; /* what these boots could have seen */
	double regained_pct;	    /* of the loss, by the revert on top of bad; NaN not measured */
};
void bisection_row_release(struct bisection_row *r);
/* Is this said in its options: "fix" (good is the worse end), "failures" (values are 0 and 1)? */
bool bisection_has(const struct bisection_row *r, const char *option);
/* insert or replace */
int store_bisection_put(struct store *s, const struct bisection_row *in, struct err *err);
int store_bisection_get(struct store *s, int64_t session, struct bisection_row *ret,
			struct err *err);

/* --- commits, kernels, machines, fingerprints: found or added, the id comes back --- */
struct commit_row {
	char *sha, *subject, *author;
	int64_t date_s;
};
void commit_row_release(struct commit_row *r);
int store_commit_put(struct store *s, const struct commit_row *in, int64_t *ret_id,
		     struct err *err);
/* 1 found, 0 none; and so elsewhere */
int store_commit_get(struct store *s, const char *sha, struct commit_row *ret, struct err *err);

struct kernel_row {
	int64_t id;
	char *commit_sha; /* what it was built from; NULL for an image not built here */
	char *variant;	  /* "" or what is on top: "+a.diff", "-518cd623..." */
	char *key;	  /* artefact key: tree, config, toolchain, patches; unique */
	char *identity;	  /* build-id of vmlinux and modules; "" for a local project */
	char *code_hash;  /* "" where unknown */
	char *config_hash;
	char *config_diff; /* effective config against the base step's, "" if equal */
	char *toolchain;
	char *status;	      /* "ok", "untestable", "infra" */
	char *message;	      /* why, with the last lines */
	double build_seconds; /* 0 when it came from the cache */
};
void kernel_row_release(struct kernel_row *r);
/* by key, brought up to date where it is there */
int store_kernel_put(struct store *s, const struct kernel_row *in, int64_t *ret_id,
		     struct err *err);
int store_kernel_get(struct store *s, int64_t id, struct kernel_row *ret, struct err *err);
/* the effective config that kernel_row.config_hash stands for */
int store_config_put(struct store *s, const char *hash, const char *content, struct err *err);
/* 1 found, 0 none; owned */
int store_config_get(struct store *s, const char *hash, char **ret_content, struct err *err);
int store_kernel_config_diff(struct store *s, int64_t id, const char *diff, struct err *err);
int store_machine_put(struct store *s, const char *name, const char *kind, int64_t *ret_id,
		      struct err *err);
/* The environment of a boot as JSON (flat object); equal text, equal id. */
int store_fingerprint_put(struct store *s, const char *json_text, int64_t *ret_id, struct err *err);
int store_fingerprint_get(struct store *s, int64_t id, char **ret_json, struct err *err);

/* --- boots, runs, samples --- */
struct boot_row {
	int64_t id, session, kernel, machine, fingerprint; /* fingerprint 0: none yet */
	char *commit_sha;
	char *side;    /* column name of a compare, "" else */
	char *purpose; /* run, compare, end, search, confirm, revert, second, pilot ... */
	char *status;  /* "started", "ok", "untestable", "infra", "failed", "interrupted" */
	char *phase, *message;
	char *void_why; /* a person's word; NULL while it counts */
	int64_t started_s;
	double seconds;	     /* the whole boot with its runs */
	double boot_seconds; /* to the agent's hello */
	int64_t seed;	     /* of the cell order */
	char *log_path;	     /* console, relative to the state directory; "" if none */
};
void boot_row_release(struct boot_row *r);
/* at status "started" */
int store_boot_add(struct store *s, const struct boot_row *in, int64_t *ret_id, struct err *err);
/* How it ended, by in->id: all but the first line's ids, and the fingerprint if it has one. NULL
 * texts stay. */
int store_boot_end(struct store *s, const struct boot_row *in, struct err *err);
int store_boot_get(struct store *s, int64_t id, struct boot_row *ret, struct err *err);
/* in the order they were started */
int store_boot_list(struct store *s, int64_t session, struct boot_row **ret, size_t *ret_n,
		    struct err *err);
int store_boot_void(struct store *s, int64_t id, const char *why, struct err *err);
/* boots of this session left at "started" by a killed process become "interrupted" */
int store_boots_interrupted(struct store *s, int64_t session, size_t *ret_n, struct err *err);

struct run_row {
	int64_t id, boot;
	char *cell;
	int64_t number; /* from 1 in the boot */
	char *status;	/* "ok", "failed" */
	char *message;	/* "" or why: exit, deadline, which metric did not parse */
	int64_t exit_code, signal;
	double seconds, user_s, sys_s;
	int64_t voluntary_switches, involuntary_switches, max_rss_bytes;
	void *output; /* what it printed (cut in the middle beyond 256 KiB); may be NULL */
	size_t output_len;
	int64_t output_total;
};
struct sample_row {
	const char *metric, *unit;
	double value;
};
void run_row_release(struct run_row *r);
/* one run with its samples */
int store_run_add(struct store *s, const struct run_row *run, const struct sample_row *samples,
		  size_t n, int64_t *ret_id, struct err *err);
int store_run_list(struct store *s, int64_t boot, struct run_row **ret, size_t *ret_n,
		   struct err *err);
/* How many runs each boot of a session had, how many of them failed, and the time of all together,
 * in boot order; boots without any too. */
struct boot_runs {
	int64_t boot;
	size_t runs, failed;
	double seconds, user_s, sys_s; /* NaN where none was recorded */
};
int store_boot_runs(struct store *s, int64_t session, struct boot_runs **ret, size_t *ret_n,
		    struct err *err);

/* Samples of a session in boot and run order, ok boots only, voided ones and NaN left out; the way
 * to boot values. */
struct sample {
	int64_t boot, run;
	const char *cell, *metric; /* interned, live as long as the list */
	double value;
};
struct sample_list {
	struct sample *at;
	size_t n;
	void *strings_;
};
/* cell and metric may be NULL for all */
int store_samples(struct store *s, int64_t session, const char *cell, const char *metric,
		  struct sample_list *ret, struct err *err);
void sample_list_release(struct sample_list *l);
/* One metric over all sessions: a point for each ok, not voided boot and cell, in boot order. */
struct history_point {
	int64_t boot, session, started_s;
	char *commit_sha, *machine, *cell, *unit;
	char *variant; /* of the kernel: "" or what is on top of the commit */
	double value;  /* median of the boot's runs */
	size_t runs;
};
int store_history(struct store *s, const char *metric, struct history_point **ret, size_t *ret_n,
		  struct err *err);
void history_release(struct history_point *p, size_t n);
/*
 * What boots of other sessions with the same job and machine gave for a cell and metric: boot
 * values by the metric's centre, ordered by kernel and boot. `except` is the session that asks; 0:
 * all sessions.
 */
struct known_value {
	int64_t kernel, boot, session;
	int64_t fingerprint; /* of the environment; 0: none was taken */
	double value;
};
struct known_list {
	struct known_value *at;
	size_t n;
};
int store_known(struct store *s, const char *job_hash, const char *machine, const char *cell,
		const char *metric, int64_t except, struct known_list *ret, struct err *err);
void known_list_release(struct known_list *l);

/* --- the journal: what a session did, in order, append only --- */
struct step_row {
	int64_t id, session, boot; /* boot 0: none */
	int64_t when_s;
	char *what; /* "start", "choose", "build", "boot", "skip", "void", "check", "end", "note" */
	char *commit_sha; /* or NULL */
	char *detail;	  /* one line for people */
	/* JSON for machines, or NULL. Of a build: from_cache (0, 1), seconds, variant, and why it
	 * is untestable or null. */
	char *data;
	double seconds;
};
void step_row_release(struct step_row *r);
int store_step_add(struct store *s, const struct step_row *in, int64_t *ret_id, struct err *err);
int store_step_list(struct store *s, int64_t session, struct step_row **ret, size_t *ret_n,
		    struct err *err);
int store_step_last(struct store *s, int64_t session, struct step_row *ret, struct err *err);
int store_skip_add(struct store *s, int64_t session, const char *sha, struct err *err);
int store_skip_list(struct store *s, int64_t session, char ***ret_shas, struct err *err);

/* --- mails: one for each step, known by culprit, metric and machine --- */
struct mail_row {
	int64_t id, session;
	char *key;
	char *culprit;	   /* 40 hex */
	char *message_id;  /* without its angle brackets */
	char *in_reply_to; /* likewise; NULL for the first one of a culprit */
	char *state;	   /* "draft", "queued", "handed-over" (no answer was seen), "sent" */
	char *recipients;  /* JSON array of addresses */
	char *message;	   /* why it waits; "" */
	int64_t created_s, sent_s; /* sent_s: 0 while not sent */
};
void mail_row_release(struct mail_row *r);
int store_mail_find(struct store *s, const char *key, struct mail_row *ret, struct err *err);
/* the first one about this culprit, which later ones answer */
int store_mail_first(struct store *s, const char *culprit, struct mail_row *ret, struct err *err);
int store_mail_add(struct store *s, const struct mail_row *in, int64_t *ret_id, struct err *err);
int store_mail_recipients(struct store *s, int64_t id, const char *json, struct err *err);
int store_mail_state(struct store *s, int64_t id, const char *state, const char *message,
		     struct err *err);
/* how many were sent or handed over since then */
int store_mails_since(struct store *s, int64_t since_s, size_t *ret, struct err *err);

/* Every table as JSON lines: {"table":"boots", ...}. write is called with each line, newline
 * included. */
int store_export(struct store *s, int (*write_line)(const char *line, size_t len, void *arg),
		 void *arg, struct err *err);
