// SPDX-License-Identifier: GPL-2.0-or-later
// KCIDB's I/O schema, version 5: what kernel CI systems hand their results around in.
#include "reports/flat.h"

#include "db/import.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"

#define EXCERPT_MAX 16000 /* the schema allows 16,384 characters */
#define STATE_SHOWN 8

struct kcidb {
	struct store *store;
	const char *origin;
	char *state; /* makes ids of boots unique beside those of other states */
	struct json *checkouts, *builds, *tests;
	VEC(int64_t) kernels; /* that have their build */
	VEC(char *) commits;  /* that have their checkout */
	size_t left_out;
	const struct session_row *session;
	struct metric_row *metrics;
	size_t n_metrics;
	struct sample_list samples; /* of the session */
};

bool kcidb_origin_is_valid(const char *origin)
{
	return *origin && !origin[strspn(origin, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* --- parts --- */

static void set_id(const struct kcidb *k, struct json *o, const char *key, const char *id)
{
	autofree char *full = xasprintf("%s:%s", k->origin, id);

	json_set_str(o, key, full);
}

/* A node of the test tree: letters, digits, _ and -, parted by dots. */
static void add_path(struct buf *out, const char *name)
{
	if (out->len)
		buf_addch(out, '.');
	for (const char *c = name; *c; c++)
		buf_addch(out, (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
					       (*c >= '0' && *c <= '9') || *c == '-'
				       ? *c
				       : '_');
}

static void set_excerpt(struct json *o, const char *text)
{
	autobuf safe = {};

	if (!text || !*text)
		return;
	buf_add_safe(&safe, text, strlen(text), EXCERPT_MAX, true);
	json_set_str(o, "log_excerpt", buf_str(&safe));
}

static void set_time(struct json *o, int64_t when_s)
{
	autofree char *iso = NULL;
	char when[32];

	clock_format_wall(when_s, when);
	iso = xasprintf("%.10sT%s+00:00", when, when + 11);
	json_set_str(o, "start_time", iso);
}

/* The commit, with what is on top of it: that is another checkout. */
static char *checkout_id(const struct kernel_row *kernel)
{
	return xasprintf("%s%s", kernel->commit_sha, kernel->variant);
}

static int add_checkout(struct kcidb *k, const struct kernel_row *kernel, struct err *err)
{
	autofree char *id = checkout_id(kernel);
	struct commit_row commit = {};
	struct json *o;

	for (size_t i = 0; i < k->commits.n; i++)
		if (streq(k->commits.at[i], id))
			return 0;
	if (store_commit_get(k->store, kernel->commit_sha, &commit, err) < 0)
		return -(int)err->code;
	o = json_push(k->checkouts, json_object_new());
	set_id(k, o, "id", id);
	json_set_str(o, "origin", k->origin);
	json_set_str(o, "git_commit_hash", kernel->commit_sha);
	if (!*kernel->variant)
		json_set_str(o, "patchset_hash", "");
	if (commit.subject && *commit.subject)
		json_set_str(o, "comment", commit.subject);
	json_set_bool(o, "valid", true);
	commit_row_release(&commit);
	VEC_PUSH(&k->commits, take_ptr(&id));
	return 0;
}

/* A build that fails is the sources' fault, one that the lab broke never ran as it should. */
static const char *build_status(const struct kernel_row *kernel)
{
	return streq(kernel->status, "ok")	? "PASS"
	       : streq(kernel->status, "infra") ? "MISS"
						: "FAIL";
}

static void add_build(struct kcidb *k, const struct kernel_row *kernel)
{
	autofree char *checkout = checkout_id(kernel);
	struct json *o = json_push(k->builds, json_object_new()), *misc;

	set_id(k, o, "id", kernel->key);
	set_id(k, o, "checkout_id", checkout);
	json_set_str(o, "origin", k->origin);
	json_set_str(o, "status", build_status(kernel));
	if (kernel->build_seconds > 0)
		json_set_num(o, "duration", kernel->build_seconds);
	if (*kernel->config_hash) /* a kernel, no other project */
		json_set_str(o, "architecture", "x86_64");
	if (*kernel->toolchain)
		json_set_str(o, "compiler", kernel->toolchain);
	set_excerpt(o, kernel->message);
	misc = json_set(o, "misc", json_object_new());
	json_set_str(misc, "variant", kernel->variant);
	json_set_str(misc, "config_hash", kernel->config_hash);
	json_set_str(misc, "code_hash", kernel->code_hash);
}

/* 1: the kernel has its build in the document; 0: it cannot have one. */
static int need_build(struct kcidb *k, const struct kernel_row *kernel, struct err *err)
{
	for (size_t i = 0; i < k->kernels.n; i++)
		if (k->kernels.at[i] == kernel->id)
			return kernel->commit_sha != NULL;
	VEC_PUSH(&k->kernels, kernel->id);
	if (!kernel->commit_sha) {
		k->left_out++;
		return 0;
	}
	if (add_checkout(k, kernel, err) < 0)
		return -(int)err->code;
	add_build(k, kernel);
	return 1;
}

/* --- tests --- */

struct in_boot {
	const struct boot_row *row;
	const char *build; /* its kernel's key */
};

static struct json *add_test(struct kcidb *k, const struct in_boot *boot, const char *id,
			     const char *path, const char *status)
{
	struct json *o = json_push(k->tests, json_object_new()), *environment, *misc;
	autofree char *full =
		xasprintf("%.*s-%lld%s", STATE_SHOWN, k->state, (long long)boot->row->id, id);

	set_id(k, o, "id", full);
	set_id(k, o, "build_id", boot->build);
	json_set_str(o, "origin", k->origin);
	json_set_str(o, "path", path);
	json_set_str(o, "status", status);
	set_time(o, boot->row->started_s);
	environment = json_set(o, "environment", json_object_new());
	json_set_str(environment, "comment", k->session->machine);
	misc = json_set(o, "misc", json_object_new());
	json_set_int(misc, "session", k->session->id);
	json_set_int(misc, "boot", boot->row->id);
	json_set_str(misc, "purpose", boot->row->purpose);
	return o;
}

static const char *unit_of(const struct kcidb *k, const char *metric)
{
	for (size_t i = 0; i < k->n_metrics; i++)
		if (streq(k->metrics[i].name, metric))
			return k->metrics[i].unit;
	return "";
}

static void add_sample(struct kcidb *k, const struct in_boot *boot, const struct run_row *run,
		       const struct sample *sample)
{
	autofree char *id = xasprintf("-%lld-%s", (long long)run->id, sample->metric);
	const char *unit = unit_of(k, sample->metric);
	struct json *o, *number;
	autobuf path = {};

	add_path(&path, k->session->job_name);
	if (*run->cell)
		add_path(&path, run->cell);
	add_path(&path, sample->metric);
	o = add_test(k, boot, id, buf_str(&path), "DONE");
	json_set_num(o, "duration", run->seconds);
	number = json_set(o, "number", json_object_new());
	json_set_num(number, "value", sample->value);
	if (*unit)
		json_set_str(number, "unit", unit);
	json_set_str(json_get(o, "misc"), "cell", run->cell);
	json_set_str(json_get(o, "misc"), "metric", sample->metric);
}

static void add_failed_run(struct kcidb *k, const struct in_boot *boot, const struct run_row *run)
{
	autofree char *id = xasprintf("-%lld", (long long)run->id);
	struct json *o;
	autobuf path = {};

	add_path(&path, k->session->job_name);
	if (*run->cell)
		add_path(&path, run->cell);
	o = add_test(k, boot, id, buf_str(&path), "ERROR");
	json_set_num(o, "duration", run->seconds);
	set_excerpt(o, run->message);
}

/* A boot that had no run says how far it came. */
static void add_boot(struct kcidb *k, const struct in_boot *boot)
{
	const struct boot_row *row = boot->row;
	bool down = streq(row->status, "untestable") && !streq(row->phase, "setup");
	autobuf path = {};
	const char *status = "ERROR";

	if (streq(row->status, "ok") || streq(row->status, "started"))
		return;
	if (streq(row->status, "infra") || streq(row->status, "interrupted"))
		status = "MISS";
	add_path(&path, down ? "boot" : k->session->job_name);
	set_excerpt(add_test(k, boot, "", buf_str(&path), down ? "FAIL" : status), row->message);
}

static int add_runs(struct kcidb *k, const struct in_boot *boot, struct err *err)
{
	struct run_row *runs = NULL;
	size_t n = 0, at = 0;
	int rc = store_run_list(k->store, boot->row->id, &runs, &n, err);

	while (at < k->samples.n && k->samples.at[at].boot < boot->row->id)
		at++;
	for (size_t i = 0; i < n; i++) {
		if (!streq(runs[i].status, "ok"))
			add_failed_run(k, boot, &runs[i]);
		for (; at < k->samples.n && k->samples.at[at].run <= runs[i].id; at++)
			if (k->samples.at[at].run == runs[i].id)
				add_sample(k, boot, &runs[i], &k->samples.at[at]);
		run_row_release(&runs[i]);
	}
	free(runs);
	if (rc >= 0 && !n)
		add_boot(k, boot);
	return MIN(rc, 0);
}

static int add_tests(struct kcidb *k, const struct boot_row *row, struct err *err)
{
	struct kernel_row kernel = {};
	int rc;

	if (row->void_why || !row->kernel)
		return 0;
	rc = store_kernel_get(k->store, row->kernel, &kernel, err);
	if (rc >= 0)
		rc = need_build(k, &kernel, err);
	if (rc > 0)
		rc = add_runs(k, &(struct in_boot){.row = row, .build = kernel.key}, err);
	kernel_row_release(&kernel);
	return MIN(rc, 0);
}

/* By its boots: a commit that could not be built has none, and is no result of the session. */
static int add_session(struct kcidb *k, struct err *err)
{
	struct boot_row *boots = NULL;
	size_t n = 0;
	int rc = store_metrics_get(k->store, k->session->id, &k->metrics, &k->n_metrics, err);

	if (rc >= 0)
		rc = store_samples(k->store, k->session->id, NULL, NULL, &k->samples, err);
	if (rc >= 0)
		rc = store_boot_list(k->store, k->session->id, &boots, &n, err);
	for (size_t i = 0; i < n; i++) {
		if (rc >= 0)
			rc = add_tests(k, &boots[i], err);
		boot_row_release(&boots[i]);
	}
	free(boots);
	sample_list_release(&k->samples);
	metric_rows_free(k->metrics, k->n_metrics);
	k->samples = (struct sample_list){};
	k->metrics = NULL;
	k->n_metrics = 0;
	return MIN(rc, 0);
}

static int add_sessions(struct kcidb *k, int64_t session, struct err *err)
{
	struct session_row *sessions = NULL;
	size_t n = 0;
	int rc = store_session_list(k->store, &sessions, &n, err);

	for (size_t i = n; i-- > 0;) {
		bool wanted = !session || sessions[i].id == session;

		k->session = &sessions[i];
		if (rc >= 0 && wanted)
			rc = store_session_is_imported(k->store, sessions[i].id, err);
		if (rc == 0 && wanted)
			rc = add_session(k, err);
		session_row_release(&sessions[i]);
	}
	free(sessions);
	return MIN(rc, 0);
}

int kcidb_print(struct store *s, int64_t session, const char *origin, struct buf *out,
		size_t *ret_left_out, struct err *err)
{
	autojson struct json *document = json_object_new();
	struct json *version = json_set(document, "version", json_object_new());
	struct kcidb k = {.store = s, .origin = origin};
	int rc;

	json_set_int(version, "major", 5);
	json_set_int(version, "minor", 0);
	k.checkouts = json_set(document, "checkouts", json_array_new());
	k.builds = json_set(document, "builds", json_array_new());
	k.tests = json_set(document, "tests", json_array_new());
	rc = store_state_name(s, &k.state, err);
	if (rc == 0)
		rc = add_sessions(&k, session, err);
	*ret_left_out = k.left_out;
	if (rc == 0)
		json_print(document, true, out);
	for (size_t i = 0; i < k.commits.n; i++)
		free(k.commits.at[i]);
	VEC_FREE(&k.commits);
	VEC_FREE(&k.kernels);
	free(k.state);
	return rc;
}
