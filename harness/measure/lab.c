// SPDX-License-Identifier: GPL-2.0-or-later
// Opening and closing a session: its key, its row, its locks.

#include "harness/measure/lab.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/base/log.h"
#include "harness/measure/learned.h"

static void session_key(const struct lab_spec *spec, const char *machine, char ret[HASH_HEX])
{
	struct hash *h = hash_new();

	hash_adds(h, spec->kind);
	hash_adds(h, spec->job->text_hash);
	hash_adds(h, spec->repo ? repo_path(spec->repo) : "");
	hash_adds(h, machine);
	for (const char *const *k = spec->key; *k; k++)
		hash_adds(h, *k);
	hash_end(h, ret);
}

static int take_lock(const struct lab *lab, const char *name, const char *what, int *ret_fd,
		     struct err *err)
{
	autofree char *dir = xasprintf("%s/locks", lab->state_dir);
	autofree char *path = xasprintf("%s/%s", dir, name);

	if (fs_mkdirs(dir, err) < 0)
		return -err->code;
	return fs_lock(path, what, 0, ret_fd, err);
}

static char *argv_json(char *const *argv)
{
	autojson struct json *list = json_array_new();
	autobuf text = {};

	for (; *argv; argv++)
		json_push(list, json_string_new(*argv));
	json_print(list, false, &text);
	return buf_take(&text);
}

/* how sure it was asked to be: what reports say of the result without the job file */
static struct json *options_json(const struct job *job)
{
	struct json *o = json_object_new();

	json_set_str(o, "job", job->path); /* what to type to do it again */
	json_set_num(o, "confidence", job->confidence);
	json_set_num(o, "interval_pct", job->interval_pct);
	json_set_num(o, "interval_floor", job->interval_floor);
	json_set_num(o, "min_effect_pct", job->min_effect_pct);
	json_set_num(o, "error", job->error);
	json_set_int(o, "boots_min", job->boots_min);
	json_set_int(o, "boots_max", job->boots_max);
	json_set_str(o, "unit", job->boots_max == 1 ? "run" : "boot");
	return o;
}

static int add_session(struct lab *lab, const struct lab_spec *spec, const char *key,
		       struct err *err)
{
	autofree char *argv = argv_json(spec->argv);
	autofree char *cwd = fs_absolute(".");
	autobuf options = {};

	lab->options = options_json(spec->job);
	if (!spec->unlearned && learned_add(lab, lab->options, err) < 0)
		return -err->code;
	json_print(lab->options, false, &options);
	struct session_row row = {
		.kind = (char *)spec->kind,
		.key = (char *)key,
		.state = (char *)"running",
		.job_name = spec->job->name,
		.job_hash = spec->job->text_hash,
		.job_source = spec->job->source,
		.repo = (char *)(spec->repo ? repo_path(spec->repo) : ""),
		.machine = lab->machine_name,
		.argv = argv,
		.cwd = cwd,
		.options = options.data,
		.pid = getpid(),
		.started_s = clock_wall_s(),
		.message = (char *)"",
	};
	return store_session_add(lab->store, &row, &lab->session, err);
}

static int put_metrics(struct lab *lab, struct err *err)
{
	const struct job *job = lab->job;
	autofree struct metric_row *rows = xcalloc(job->n_metrics, sizeof(*rows));
	autofree char(*centres)[16] = xcalloc(job->n_metrics, sizeof(*centres));

	for (size_t i = 0; i < job->n_metrics; i++) {
		const struct metric *m = &job->metrics[i];

		rows[i] = (struct metric_row){
			.name = m->name,
			.unit = m->unit,
			.higher_is_better = m->better == BETTER_HIGHER,
			.kpi = m->kpi,
			.centre = (char *)centre_name(m->centre, m->quantile, centres[i]),
		};
	}
	return store_metrics_put(lab->store, lab->session, rows, job->n_metrics, err);
}

static int take_up(struct lab *lab, const struct session_row *row, struct err *err)
{
	size_t interrupted = 0;

	lab->session = row->id;
	if (json_parse(row->options, strlen(row->options), &lab->options, err) < 0)
		return err_wrap(err, "options of session %lld", (long long)row->id);
	if (store_boots_interrupted(lab->store, row->id, &interrupted, err) < 0)
		return -err->code;
	lab->resumed = true;
	log_info("going on with %s %lld (%s)%s", row->kind, (long long)row->id, row->job_name,
		 interrupted ? "; a boot that was cut off does not count" : "");
	return store_session_state(lab->store, row->id, "running", "", err);
}

/* a finished session is only read; one that stopped on the way is taken up; else a new one begins
 */
static int begin_session(struct lab *lab, const struct lab_spec *spec, const char *key,
			 const struct session_row *found, struct err *err)
{
	if (found->id && !streq(found->state, "done") && !streq(found->state, "failed"))
		return take_up(lab, found, err);
	if (add_session(lab, spec, key, err) < 0)
		return -err->code;
	return put_metrics(lab, err);
}

static int lock_machine(struct lab *lab, const struct lab_spec *spec, const char *what,
			struct err *err)
{
	autofree char *name = xasprintf("machine-%s", lab->machine_name);

	if (runner_parallel_boots(lab->runner, spec->job) > 1)
		return 0;
	return take_lock(lab, name, what, &lab->machine_lock, err);
}

static int open_rows(struct lab *lab, const struct lab_spec *spec, struct err *err)
{
	char key[HASH_HEX];
	autofree char *lock_name = NULL;
	autofree char *what = xasprintf("%s of %s", spec->kind, spec->job->name);
	struct session_row found = {};
	int r;

	if (lab->runner->machine(spec->job, &lab->machine_name, err) < 0)
		return -err->code;
	session_key(spec, lab->machine_name, key);
	lock_name = xasprintf("%s-%.16s", spec->kind, key);
	if (take_lock(lab, lock_name, what, &lab->key_lock, err) < 0)
		return -err->code;
	r = store_session_find(lab->store, key, &found, err);
	if (r < 0)
		return r;
	lab->finished = r == 1 && streq(found.state, "done") && !spec->fresh;
	if (lab->finished)
		lab->session = found.id;
	else if ((r = lock_machine(lab, spec, what, err)) == 0 &&
		 (r = store_machine_put(lab->store, lab->machine_name, lab->runner->name,
					&lab->machine, err)) == 0)
		r = begin_session(lab, spec, key, &found, err);
	session_row_release(&found);
	return r < 0 ? r : 0;
}

static void lab_release(struct lab *lab)
{
	cleanup_close(&lab->key_lock);
	cleanup_close(&lab->machine_lock);
	free(lab->machine_name);
	free(lab->first_fingerprint);
	json_free(lab->options);
	*lab = (struct lab){.key_lock = -1, .machine_lock = -1};
}

int lab_open(struct lab *lab, const struct lab_spec *spec, struct err *err)
{
	*lab = (struct lab){
		.job = spec->job,
		.repo = spec->repo,
		.store = spec->store,
		.runner = runner_for(spec->job),
		.state_dir = spec->state_dir,
		.cache_dir = spec->cache_dir,
		.key_lock = -1,
		.machine_lock = -1,
	};
	if (!lab->runner)
		return err_set(err, ERR_USAGE, "no runner here serves machine '%s' of job '%s'",
			       spec->job->machine ? spec->job->machine : "", spec->job->name);
	/* asked before anything is built: a lab machine has programs of its own */
	if ((spec->job->runner != RUNNER_MACHINE && job_programs_here(spec->job, err) < 0) ||
	    open_rows(lab, spec, err) < 0) {
		int code = -err->code;

		lab_release(lab);
		return code;
	}
	return 0;
}

void lab_close(struct lab *lab, const struct err *why)
{
	ERR_CLEANUP struct err err = {};
	const char *state = "done", *message = "";

	if (why && why->code) {
		/* all but these may be otherwise next time, and nothing measured is lost */
		state = why->code == ERR_USAGE || why->code == ERR_UNTESTABLE ||
					why->code == ERR_FAILED
				? "failed"
				: "paused";
		message = why->message ? why->message : "";
	}
	if (lab->session && !lab->finished &&
	    store_session_state(lab->store, lab->session, state, message, &err) < 0)
		log_warn("%s", err.message);
	if (lab->session && streq(state, "paused"))
		log_info("session %lld is paused; 'culprit continue %lld' goes on",
			 (long long)lab->session, (long long)lab->session);
	lab_release(lab);
}

int lab_note(struct lab *lab, const char *what, const char *sha, int64_t boot, const char *data,
	     struct err *err, const char *fmt, ...)
{
	va_list ap;
	autofree char *detail = NULL;
	int64_t id;

	va_start(ap, fmt);
	detail = xvasprintf(fmt, ap);
	va_end(ap);
	struct step_row row = {
		.session = lab->session,
		.boot = boot,
		.when_s = clock_wall_s(),
		.what = (char *)what,
		.commit_sha = (char *)sha,
		.detail = detail,
		.data = (char *)data,
	};
	return store_step_add(lab->store, &row, &id, err);
}

int lab_decided(struct lab *lab, const char *what, uint32_t *ret, struct err *err)
{
	struct step_row *steps = NULL;
	size_t n = 0;
	int found = 0;

	if (store_step_list(lab->store, lab->session, &steps, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		uint64_t number;

		if (streq(steps[i].what, what) && steps[i].data &&
		    str_to_u64(steps[i].data, &number)) {
			*ret = (uint32_t)MIN(number, UINT32_MAX);
			found = 1;
		}
		step_row_release(&steps[i]);
	}
	free(steps);
	return found;
}

int lab_decide(struct lab *lab, const char *what, uint32_t number, struct err *err)
{
	autofree char *data = xasprintf("%u", number);

	return lab_note(lab, what, NULL, 0, data, err, "%s: %u", what, number);
}

char *lab_boot_dir(const struct lab *lab, int64_t boot)
{
	return xasprintf("%s/boots/%lld", lab->state_dir, (long long)boot);
}
