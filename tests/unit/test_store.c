// SPDX-License-Identifier: GPL-2.0-or-later
// The store: rows out as they went in, migrations, readers beside writers, and disks that refuse.
#include "tests/tap.h"

#include "db/sql.h"
#include "db/store.h"
#include "harness/base/fs.h"

#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char sha_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char sha_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
static char top[] = "/tmp/culprit-store.XXXXXX";

static char *dir(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

static struct store *open_store(const char *name)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = dir(name);
	struct store *s = NULL;

	ok(store_open(path, &s, &err) == 0, "store '%s' opens: %s", name,
	   err.message ? err.message : "");
	if (!s)
		exit(1);
	return s;
}

static int64_t add_session(struct store *s, const char *kind, const char *key)
{
	ERR_CLEANUP struct err err = {};
	struct session_row row = { .kind = (char *)kind,
				   .key = (char *)key,
				   .state = (char *)"running",
				   .job_name = (char *)"sort",
				   .job_hash = (char *)"hash",
				   .machine = (char *)"local",
				   .pid = 1 };
	int64_t id = 0;

	ok(store_session_add(s, &row, &id, &err) == 0, "a %s is added", kind);
	return id;
}

static int64_t add_boot(struct store *s, int64_t session, const char *sha, const char *status)
{
	ERR_CLEANUP struct err err = {};
	struct boot_row boot = { .session = session,
				 .commit_sha = (char *)sha,
				 .purpose = (char *)"run" };
	struct kernel_row kernel = { .commit_sha = (char *)sha,
				     .key = (char *)(sha ? sha : "none"),
				     .status = (char *)"ok" };

	store_machine_put(s, "local", "local", &boot.machine, &err);
	store_kernel_put(s, &kernel, &boot.kernel, &err);
	if (store_boot_add(s, &boot, &boot.id, &err) < 0)
		return -1;
	boot.status = (char *)status;
	boot.seconds = 2.5;
	if (!streq(status, "started") && store_boot_end(s, &boot, &err) < 0)
		return -1;
	return boot.id;
}

/* One run of a cell with the metrics a and b. */
static int64_t add_run(struct store *s, int64_t boot, const char *cell, double a, double b)
{
	ERR_CLEANUP struct err err = {};
	struct run_row run = {
		.boot = boot, .cell = (char *)cell, .number = 1, .status = (char *)"ok"
	};
	struct sample_row samples[] = { { "a", "s", a }, { "b", "", b } };
	int64_t id = -1;

	return store_run_add(s, &run, samples, 2, &id, &err) < 0 ? -1 : id;
}

static void sessions(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("sessions");
	struct session_row row = {}, *list;
	int64_t *done;
	int64_t first = add_session(s, "run", "k1"), second = add_session(s, "bisect", "k1");
	size_t n;

	is_int(store_session_find(s, "k1", &row, &err), 1, "found by key");
	is_int(row.id, second, "the newest one");
	is_str(row.kind, "bisect", "its kind");
	is_str(row.options, "{}", "options that were not given are empty");
	ok(!row.result && row.ended_s == 0 && row.started_s > 0, "no result, no end, a start");
	session_row_release(&row);
	is_int(store_session_find(s, "k2", &row, &err), 0, "another key is not found");

	store_session_state(s, second, "running", "", &err);
	store_session_result(s, second, "{}", &err);
	is_int(store_session_get(s, second, &row, &err), 0, "got by number");
	is_int(row.pid, getpid(), "running: this process holds it");
	is_str(row.result, "{}", "with a result");
	session_row_release(&row);
	store_session_state(s, second, "failed", "why", &err);
	store_session_get(s, second, &row, &err);
	ok(row.ended_s > 0, "failed: it has an end");
	is_str(row.message, "why", "and a message");
	session_row_release(&row);
	is_int(store_session_state(s, first, "bogus", "", &err), -ERR_IO,
	       "a state nobody knows is refused");
	is_int(store_session_get(s, 99, &row, &err), -ERR_NOT_FOUND, "no such session");

	is_int(store_session_finished(s, "bisect", "hash", "local", &done, &n, &err), 0, "those done");
	is_int(n, 0, "a failed one is not");
	free(done);
	store_session_state(s, first, "done", "", &err);
	store_session_state(s, second, "done", "", &err);
	store_session_finished(s, "bisect", "hash", "local", &done, &n, &err);
	ok(n == 1 && done[0] == second, "of this kind");
	free(done);
	store_session_finished(s, "bisect", "hash", "other", &done, &n, &err);
	is_int(n, 0, "of this machine");
	free(done);
	store_session_finished(s, "bisect", "other", "local", &done, &n, &err);
	is_int(n, 0, "of this job");
	free(done);
	store_session_list(s, &list, &n, &err);
	is_int(n, 2, "two in the list");
	ok(list[0].id == second && list[1].id == first, "newest first");
	for (size_t i = 0; i < n; i++)
		session_row_release(&list[i]);
	free(list);
}

static void described(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("described");
	int64_t id = add_session(s, "compare", "k");
	struct metric_row in[] = { { (char *)"zeta", (char *)"s", 0, 1, (char *)"p95" },
				   { (char *)"alpha", NULL, 1, 0, NULL } };
	struct side_row a = {
		.session = id, .name = (char *)"A", .rev = (char *)"v1", .commit_sha = (char *)sha_a
	};
	struct side_row b = { .session = id,
			      .name = (char *)"B",
			      .message = (char *)"does not apply" };
	struct metric_row *metrics;
	struct side_row *sides;
	size_t n;

	is_int(store_metrics_put(s, id, in, 2, &err), 0, "metrics are kept");
	store_metrics_get(s, id, &metrics, &n, &err);
	ok(n == 2 && streq(metrics[0].name, "zeta") && streq(metrics[0].centre, "p95") &&
		   metrics[0].kpi && !metrics[0].higher_is_better,
	   "in their order, as they were");
	ok(n == 2 && streq(metrics[1].centre, "median") && streq(metrics[1].unit, ""),
	   "with defaults");
	metric_rows_free(metrics, n);

	store_side_put(s, &b, &err);
	store_side_put(s, &a, &err);
	b.rev = (char *)"v2";
	is_int(store_side_put(s, &b, &err), 0, "a side is put again");
	store_side_list(s, id, &sides, &n, &err);
	ok(n == 2 && streq(sides[0].name, "B") && streq(sides[0].rev, "v2") && !sides[0].commit_sha,
	   "it changed and kept its place");
	is_str(sides[1].commit_sha, sha_a, "the other has its commit");
	for (size_t i = 0; i < n; i++)
		side_row_release(&sides[i]);
	free(sides);
}

static void bisections(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("bisections");
	struct bisection_row row = { .session = add_session(s, "bisect", "k"),
				     .good = (char *)sha_a,
				     .bad = (char *)sha_b,
				     .metric = (char *)"a",
				     .cell = (char *)"",
				     .outcome = (char *)"",
				     .probability = NAN,
				     .effect_pct = NAN,
				     .seed = UINT64_MAX,
				     .n_candidates = 44 };
	struct bisection_row got = {};

	is_int(store_bisection_put(s, &row, &err), 0, "a bisection begins");
	row.outcome = (char *)"culprit";
	row.culprit = (char *)sha_b;
	row.probability = 0.998;
	is_int(store_bisection_put(s, &row, &err), 0, "and ends");
	is_int(store_bisection_get(s, row.session, &got, &err), 0, "it is there");
	is_str(got.outcome, "culprit", "with its outcome");
	is_str(got.culprit, sha_b, "and culprit");
	ok(got.seed == UINT64_MAX, "a seed of 64 bits survives");
	is_double(got.probability, 0.998, 0, "so does the probability");
	ok(isnan(got.effect_pct) && !got.candidates, "what was missing is missing");
	bisection_row_release(&got);
	is_int(store_bisection_get(s, 77, &got, &err), -ERR_NOT_FOUND,
	       "another session is no bisection");
}

static void catalog(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("catalog");
	struct commit_row commit = { .sha = (char *)sha_a,
				     .subject = (char *)"a \033[1m\n'subject'\377",
				     .author = (char *)"x",
				     .date_s = 5 };
	struct commit_row got = {};
	struct kernel_row kernel = { .commit_sha = (char *)sha_b,
				     .key = (char *)"k",
				     .status = (char *)"ok",
				     .build_seconds = 30 };
	struct kernel_row kernel_got = {};
	int64_t one, two, id;
	char *text;

	store_commit_put(s, &commit, &one, &err);
	store_commit_put(s, &commit, &two, &err);
	ok(one > 0 && one == two, "a commit has one row");
	is_int(store_commit_get(s, sha_a, &got, &err), 1, "found by its hash");
	is_str(got.subject, commit.subject, "hostile text comes back byte for byte");
	commit_row_release(&got);
	is_int(store_commit_get(s, sha_b, &got, &err), 0, "an unknown one is not found");

	is_int(store_kernel_put(s, &kernel, &one, &err), 0, "a kernel of a commit not known yet");
	is_int(store_commit_get(s, sha_b, &got, &err), 1, "makes the commit known");
	is_str(got.subject, "", "without a subject");
	commit_row_release(&got);
	kernel.build_seconds = 0;
	kernel.message = (char *)"again";
	store_kernel_put(s, &kernel, &two, &err);
	is_int(one, two, "the same key is the same kernel");
	store_kernel_get(s, one, &kernel_got, &err);
	is_str(kernel_got.message, "again", "brought up to date");
	is_double(kernel_got.build_seconds, 30, 0,
		  "a cached build does not hide what building takes");
	kernel_row_release(&kernel_got);
	kernel.status = (char *)"maybe";
	is_int(store_kernel_put(s, &kernel, &two, &err), -ERR_IO,
	       "a status nobody knows is refused");

	store_fingerprint_put(s, "{\"cpu\":\"x\"}", &one, &err);
	store_fingerprint_put(s, "{\"cpu\":\"y\"}", &id, &err);
	store_fingerprint_put(s, "{\"cpu\":\"x\"}", &two, &err);
	ok(one == two && one != id, "equal environments are one");
	store_fingerprint_get(s, id, &text, &err);
	is_str(text, "{\"cpu\":\"y\"}", "and read back");
	free(text);
	is_int(store_fingerprint_get(s, 99, &text, &err), -ERR_NOT_FOUND, "no such environment");
}

static void boots(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("boots");
	int64_t session = add_session(s, "run", "k"), other = add_session(s, "run", "l");
	int64_t done = add_boot(s, session, sha_a, "ok"),
		open = add_boot(s, session, sha_a, "started");
	int64_t elsewhere = add_boot(s, other, NULL, "started");
	struct boot_row row = {}, *list;
	struct step_row *steps;
	size_t n = 9;

	store_boot_get(s, open, &row, &err);
	is_str(row.status, "started", "a boot is there before it ends");
	is_str(row.purpose, "run", "with its purpose");
	boot_row_release(&row);
	is_int(store_boots_interrupted(s, session, &n, &err), 0, "what a killed process left");
	is_int(n, 1, "is one boot");
	store_boot_get(s, open, &row, &err);
	is_str(row.status, "interrupted", "which is marked");
	boot_row_release(&row);
	store_boot_get(s, elsewhere, &row, &err);
	is_str(row.status, "started", "another session's is left alone");
	boot_row_release(&row);

	is_int(store_boot_void(s, done, "the fan was off", &err), 0, "a person voids a boot");
	store_boot_get(s, done, &row, &err);
	is_str(row.void_why, "the fan was off", "with the reason");
	is_str(row.status, "ok", "and nothing else changes");
	is_double(row.seconds, 2.5, 0, "not even its time");
	boot_row_release(&row);
	store_step_list(s, session, &steps, &n, &err);
	ok(n == 1 && streq(steps[0].what, "void") && steps[0].boot == done &&
		   streq(steps[0].detail, "the fan was off"),
	   "the journal has it");
	for (size_t i = 0; i < n; i++)
		step_row_release(&steps[i]);
	free(steps);
	is_int(store_boot_void(s, 99, "x", &err), -ERR_NOT_FOUND,
	       "a boot that is not there cannot be voided");
	row = (struct boot_row){ .id = 99, .status = (char *)"ok" };
	is_int(store_boot_end(s, &row, &err), -ERR_NOT_FOUND, "nor ended");
	row = (struct boot_row){ .session = 77 };
	is_int(store_boot_add(s, &row, NULL, &err), -ERR_IO, "a boot of no session is refused");

	store_boot_list(s, session, &list, &n, &err);
	ok(n == 2 && list[0].id == done && list[1].id == open, "a session's boots in order");
	for (size_t i = 0; i < n; i++)
		boot_row_release(&list[i]);
	free(list);
}

static void outputs(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("outputs");
	int64_t boot = add_boot(s, add_session(s, "run", "k"), NULL, "ok");
	size_t big = (256 << 10) + 1000;
	autofree char *text = xmalloc(big);
	struct run_row run = { .boot = boot,
			       .status = (char *)"failed",
			       .message = (char *)"exited with 3",
			       .exit_code = 3,
			       .output = text,
			       .output_len = big,
			       .output_total = 100 << 20 };
	struct run_row *list;
	struct boot_runs *counts;
	size_t n;

	memset(text, 'x', big);
	text[0] = 'A';
	text[big - 1] = 'Z';
	is_int(store_run_add(s, &run, NULL, 0, NULL, &err), 0, "a long output is stored");
	add_run(s, boot, "", 1, 2);
	store_run_list(s, boot, &list, &n, &err);
	is_int(n, 2, "two runs");
	is_int(list[0].output_len, 256 << 10, "cut to 256 KiB");
	ok(((char *)list[0].output)[0] == 'A' &&
		   ((char *)list[0].output)[list[0].output_len - 1] == 'Z',
	   "in the middle");
	is_int(list[0].output_total, 100 << 20, "how much it was is known");
	is_int(list[0].exit_code, 3, "exit status");
	ok(!list[1].output && list[1].output_len == 0, "no output is none");
	for (size_t i = 0; i < n; i++)
		run_row_release(&list[i]);
	free(list);
	store_boot_runs(s, 1, &counts, &n, &err);
	ok(n == 1 && counts[0].boot == boot && counts[0].runs == 2 && counts[0].failed == 1,
	   "counted with failures");
	free(counts);
}

static void samples(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("samples");
	int64_t session = add_session(s, "run", "k"), other = add_session(s, "run", "l");
	int64_t one = add_boot(s, session, sha_a, "ok"),
		failed = add_boot(s, session, sha_a, "failed");
	int64_t voided = add_boot(s, session, sha_a, "ok"), two = add_boot(s, session, sha_b, "ok");
	struct sample_list list;

	add_run(s, one, "size=2", 1, 2);
	add_run(s, one, "size=1", 3, NAN);
	add_run(s, failed, "size=1", 100, 100);
	add_run(s, voided, "size=1", 200, 200);
	add_run(s, two, "size=1", 5, 6);
	add_run(s, add_boot(s, other, sha_a, "ok"), "size=1", 300, 300);
	store_boot_void(s, voided, "no", &err);

	store_samples(s, session, NULL, NULL, &list, &err);
	is_int(list.n, 5, "ok boots of this session, no voided ones, no missing values");
	ok(list.at[0].boot == one && streq(list.at[0].cell, "size=2") &&
		   streq(list.at[0].metric, "a") && list.at[0].value == 1,
	   "the first sample is the first one");
	ok(list.at[2].value == 3 && list.at[3].value == 5 && list.at[4].value == 6,
	   "the others follow in order");
	ok(list.at[2].cell == list.at[3].cell && list.at[0].metric == list.at[2].metric,
	   "names are interned");
	sample_list_release(&list);
	store_samples(s, session, "size=1", "a", &list, &err);
	ok(list.n == 2 && list.at[0].value == 3 && list.at[1].value == 5, "one cell and metric");
	sample_list_release(&list);
	store_samples(s, session, "size=9", NULL, &list, &err);
	is_int(list.n, 0, "a cell that was not run");
	sample_list_release(&list);
}

static void history(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("history");
	int64_t one = add_session(s, "run", "k"), two = add_session(s, "run", "l");
	int64_t boot = add_boot(s, one, sha_a, "ok"), later = add_boot(s, two, sha_b, "ok");
	struct metric_row metric = { .name = (char *)"a", .centre = (char *)"max" };
	struct history_point *points;
	struct known_list known;
	size_t n;

	add_run(s, boot, "c", 4, 1);
	add_run(s, boot, "c", 2, 1);
	add_run(s, boot, "c", 3, 1);
	add_run(s, later, "c", 7, 1);
	add_run(s, add_boot(s, two, sha_b, "failed"), "c", 9, 1);
	is_int(store_history(s, "a", &points, &n, &err), 0, "the history of a metric");
	is_int(n, 2, "has a point a boot");
	ok(points[0].value == 3 && points[0].runs == 3 && points[0].session == one &&
		   streq(points[0].unit, "s") && streq(points[0].machine, "local"),
	   "the median of its runs");
	is_str(points[1].commit_sha, sha_b, "then the later session's");
	history_release(points, n);
	is_int(store_history(s, "nothing", &points, &n, &err), 0, "a metric nobody measured");
	is_int(n, 0, "has none");
	history_release(points, n);

	store_metrics_put(s, one, &metric, 1, &err);
	store_metrics_put(s, two, &metric, 1, &err);
	is_int(store_known(s, "hash", "local", "c", "a", 0, &known, &err), 0,
	       "what is known of it");
	ok(known.n == 2 && known.at[0].value == 4 && known.at[0].boot == boot &&
		   known.at[1].value == 7,
	   "comes by the metric's centre");
	known_list_release(&known);
	store_known(s, "hash", "local", "c", "a", one, &known, &err);
	ok(known.n == 1 && known.at[0].boot == later, "without the session that asks");
	known_list_release(&known);
	store_known(s, "other job", "local", "c", "a", 0, &known, &err);
	is_int(known.n, 0, "and of the same job alone");
	known_list_release(&known);
}

static void journal(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("journal");
	int64_t session = add_session(s, "bisect", "k");
	struct step_row step = { .session = session,
				 .what = (char *)"choose",
				 .commit_sha = (char *)sha_a,
				 .detail = (char *)"why",
				 .seconds = NAN };
	struct step_row last = {};
	autostrv char **skips = NULL;

	is_int(store_step_last(s, session, &last, &err), 0, "a new session has no step");
	is_int(store_step_add(s, &step, NULL, &err), 0, "one is added");
	store_skip_add(s, session, sha_b, &err);
	is_int(store_skip_add(s, session, sha_b, &err), 0, "skipping twice is fine");
	store_skip_list(s, session, &skips, &err);
	ok(strv_len(skips) == 1 && streq(skips[0], sha_b), "and skips once");
	is_int(store_step_last(s, session, &last, &err), 1, "the last step");
	is_str(last.what, "skip", "is the skip");
	is_int(last.id, 2, "the second of the journal");
	step_row_release(&last);
}

static void transactions(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("transactions");
	int64_t session = add_session(s, "run", "k"), boot;
	struct run_row run = { .boot = 0, .status = (char *)"ok" };
	struct sample_row twice[] = { { "new", "s", 1 }, { "new", "s", 2 } };
	struct sample_list list;

	is_int(store_begin(s, &err), 0, "begin");
	boot = add_boot(s, session, sha_a, "ok");
	add_run(s, boot, "", 1, 2);
	store_rollback(s);
	is_int(store_boots_interrupted(s, session, NULL, &err), 0,
	       "the store goes on after a rollback");
	boot = add_boot(s, session, sha_a, "ok");
	ok(add_run(s, boot, "", 1, 2) == 1, "metrics that were rolled back are made anew");
	run.boot = boot;
	is_int(store_run_add(s, &run, twice, 2, NULL, &err), -ERR_IO,
	       "a metric twice in one run is refused");
	store_samples(s, session, NULL, NULL, &list, &err);
	is_int(list.n, 2, "whole: nothing of the refused run is left");
	sample_list_release(&list);
	ok(store_begin(s, &err) == 0 && add_run(s, boot, "", 3, 4) > 0 &&
		   store_commit(s, &err) == 0,
	   "several runs in one transaction");
}

/* --- versions --- */

static void migrations(void)
{
	static const char *const scripts[] = {
		"CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);",
		"ALTER TABLE t ADD COLUMN b INTEGER; UPDATE t SET b = a + 1;",
		"CREATE TABLE u (a INTEGER) STRICT; this is no SQL;",
	};
	ERR_CLEANUP struct err err = {};
	autofree char *path = dir("migrations.db");
	struct sql *db = NULL;
	struct sql_stmt *st = NULL;
	int64_t version = -1;

	ok(sql_open(path, SQL_WRITE, &db, &err) == 0 && sql_migrate(db, scripts, 1, &err) == 0,
	   "version 1");
	is_int(sql_migrate(db, scripts, 2, &err), 0, "brought to version 2");
	sql_query(db, &st, &err, "SELECT a, b FROM t", "");
	ok(sql_next(st, &err) == 1 && sql_int(st, 0) == 1 && sql_int(st, 1) == 2, "with its rows");
	sql_done(st);
	ok(sql_migrate(db, scripts, 3, &err) < 0, "a script that fails is an error");
	sql_version(db, &version, &err);
	is_int(version, 2, "the version stays");
	is_int(sql_run(db, &err, "INSERT INTO u VALUES (1)", ""), -ERR_IO, "nothing of it is left");
	is_int(sql_migrate(db, scripts, 1, &err), -ERR_TOO_NEW,
	       "an older program does not touch it");
	sql_close(db);
}

static void newer_version(void)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = dir("newer");
	autofree char *file = dir("newer/culprit.db");
	struct store *s = open_store("newer");
	struct sql *db = NULL;

	store_close(s);
	ok(sql_open(file, SQL_WRITE, &db, &err) == 0 &&
		   sql_run(db, &err, "PRAGMA user_version = 99", "") == 0,
	   "a database of version 99");
	sql_close(db);
	is_int(store_open(path, &s, &err), -ERR_TOO_NEW, "is too new to write");
	ok(err.hint && strstr(err.hint, "--state"), "with a hint");
	is_int(store_open_readonly(path, &s, &err), -ERR_TOO_NEW, "and to read");
}

/* --- several processes --- */

static void newcomers(void)
{
	autofree char *path = dir("newcomers");
	int failed = 0, status;

	for (int i = 0; i < 8; i++) {
		if (fork() == 0) {
			struct err err = {};
			struct store *s;
			struct session_row row = { .kind = (char *)"run",
						   .key = (char *)"",
						   .state = (char *)"done" };

			if (store_open(path, &s, &err) < 0)
				_exit(1);
			for (int k = 0; k < 20; k++)
				if (store_session_add(s, &row, NULL, &err) < 0)
					_exit(2);
			store_close(s);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++) {
		wait(&status);
		failed += status != 0;
	}
	is_int(failed, 0, "eight processes make and fill one database at once");

	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("newcomers");
	struct session_row *rows;
	size_t n;

	store_session_list(s, &rows, &n, &err);
	is_int(n, 160, "no row is lost");
	for (size_t i = 0; i < n; i++)
		session_row_release(&rows[i]);
	free(rows);
}

static void readers(void)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = dir("readers");
	autofree char *none = dir("none");
	autostore struct store *writer = open_store("readers");
	autostore struct store *reader = NULL;
	struct session_row *rows,
		row = { .kind = (char *)"run", .key = (char *)"", .state = (char *)"done" };
	size_t n;

	is_int(store_open_readonly(none, &reader, &err), -ERR_NOT_FOUND, "nothing to read yet");
	ok(err.hint != NULL, "with a hint");
	store_session_add(writer, &row, NULL, &err);
	store_begin(writer, &err);
	store_session_add(writer, &row, NULL, &err);
	is_int(store_open_readonly(path, &reader, &err), 0, "a reader does not wait for a writer");
	store_session_list(reader, &rows, &n, &err);
	is_int(n, 1, "and sees what was committed");
	session_row_release(&rows[0]);
	free(rows);
	is_int(store_session_add(reader, &row, NULL, &err), -ERR_IO, "it cannot write");
	is_int(store_commit(writer, &err), 0, "the writer was not disturbed");
}

/* --- disks that refuse --- */

static void damaged(void)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = dir("damaged");
	autofree char *file = dir("damaged/culprit.db");
	struct store *s;

	ok(fs_mkdirs(path, &err) == 0 &&
		   fs_write(file, "this is no database, I fear........", 35, &err) == 0,
	   "a file of something else");
	is_int(store_open(path, &s, &err), -ERR_IO, "is no database");
	ok(strstr(err.message, "damaged") && err.hint && strstr(err.hint, "recover"),
	   "and says what to do");
}

/* As a user who may not write there; root may write anywhere. */
static int as_nobody(int (*try)(const char *path), const char *path)
{
	int status;

	if (fork() == 0) {
		if (getuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(try(path));
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int try_write(const char *path)
{
	struct err err = {};
	struct store *s;

	return store_open(path, &s, &err) == -ERR_IO && err.hint && strstr(err.hint, "--state") ? 0
												: 1;
}

static int try_read(const char *path)
{
	struct err err = {};
	struct store *s;
	struct session_row row = {};

	if (store_open_readonly(path, &s, &err) < 0)
		return 1;
	return store_session_get(s, 1, &row, &err) < 0 ? 2 : 0;
}

static void read_only(void)
{
	autofree char *path = dir("ro"), *empty = dir("ro-empty");
	autofree char *file = dir("ro/culprit.db");
	struct store *s = open_store("ro");

	add_session(s, "run", "k");
	store_close(s);
	chmod(top, 0755);
	chmod(file, 0444);
	chmod(path, 0555);
	mkdir(empty, 0555);
	is_int(as_nobody(try_write, path), 0, "a read-only state says so to a writer");
	is_int(as_nobody(try_write, empty), 0, "an empty one, too");
	is_int(as_nobody(try_read, path), 0, "and can still be read");
	chmod(path, 0755);
}

/* Runs in a mount namespace of its own, so that the small disk goes with the process. */
static int fill_disk(const char *path)
{
	struct err err = {};
	struct store *s;
	struct session_row session = { .kind = (char *)"run",
				       .key = (char *)"",
				       .state = (char *)"running" };
	struct boot_row boot = {};
	char text[4096];
	struct run_row run = { .status = (char *)"ok", .output = text, .output_len = sizeof(text) };
	struct sample_list list;
	int stored = 0, rc;

	memset(text, 'x', sizeof(text));
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("small", path, "tmpfs", 0, "size=1m"))
		return 77;
	if (store_open(path, &s, &err) < 0 ||
	    store_session_add(s, &session, &boot.session, &err) < 0 ||
	    store_boot_add(s, &boot, &boot.id, &err) < 0)
		return 1;
	run.boot = boot.id;
	boot.status = (char *)"ok";
	if (store_boot_end(s, &boot, &err) < 0)
		return 2;
	while ((rc = store_run_add(s, &run, &(struct sample_row){ "a", "s", stored }, 1, NULL,
				   &err)) == 0)
		if (++stored > 10000)
			return 3;
	if (rc != -ERR_DISK_FULL || !err.hint)
		return 4;
	if (store_samples(s, boot.session, NULL, NULL, &list, &err) < 0)
		return 5;
	return list.n == (size_t)stored && stored > 10 ? 0 : 6;
}

static void disk_full(void)
{
	autofree char *path = dir("full");
	int status;

	mkdir(path, 0755);
	if (fork() == 0)
		_exit(fill_disk(path));
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("a disk full while storing: needs the right to mount");
	else
		is_int(status, 0,
		       "a full disk is told as such, and what was stored before is there");
}

/* --- export --- */

struct lines {
	size_t n, bad;
	bool text, hex;
};

static int count_line(const char *line, size_t len, void *arg)
{
	struct lines *lines = arg;
	autojson struct json *row = NULL;
	ERR_CLEANUP struct err err = {};

	lines->n++;
	lines->bad += json_parse(line, len, &row, &err) < 0 || line[len - 1] != '\n';
	if (row && streq(json_str(json_get(row, "table")), "outputs")) {
		lines->text |= streq(json_str(json_get(row, "output")), "rate=5\n");
		lines->hex |= streq(json_str(json_at(row, "output.hex")), "ff0041");
	}
	return 0;
}

static int stop_at_once(const char *line, size_t len, void *arg)
{
	return -ERR_IO;
}

static void export(void)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *s = open_store("export");
	int64_t boot = add_boot(s, add_session(s, "run", "k"), sha_a, "ok");
	struct run_row run = {
		.boot = boot, .status = (char *)"ok", .output = (char *)"rate=5\n", .output_len = 7
	};
	struct lines lines = {};

	store_run_add(s, &run, &(struct sample_row){ "a", "s", 5 }, 1, NULL, &err);
	run.output = (char *)"\377\0A";
	run.output_len = 3;
	store_run_add(s, &run, &(struct sample_row){ "a", "s", NAN }, 1, NULL, &err);
	is_int(store_export(s, count_line, &lines, &err), 0, "exported");
	/* state, session, commit, kernel, machine, boot, two runs, outputs and samples each, one metric */
	is_int(lines.n, 13, "every row is a line");
	is_int(lines.bad, 0, "and each line is JSON");
	ok(lines.text && lines.hex, "text stays text, other bytes are kept as hex");
	is_int(store_export(s, stop_at_once, NULL, &err), -ERR_IO, "a writer that fails stops it");
}

int main(void)
{
	ERR_CLEANUP struct err err = {};

	if (!mkdtemp(top))
		return 1;
	sessions();
	described();
	bisections();
	catalog();
	boots();
	outputs();
	samples();
	history();
	journal();
	transactions();
	migrations();
	newer_version();
	newcomers();
	readers();
	damaged();
	read_only();
	disk_full();
	export();
	fs_remove_tree(top, &err);
	return plan_done();
}
