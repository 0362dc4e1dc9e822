// SPDX-License-Identifier: GPL-2.0-or-later
// Boots: attempts and what their failures mean.

#include "harness/measure/boot.h"

#include "harness/base/clock.h"
#include "harness/base/crew.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/measure/cells.h"
#include "harness/measure/identity.h"

#define BOOT_TRIES  2 /* without reaching the agent */
#define INFRA_TRIES 3 /* trouble of the lab */

/* one attempt, while it goes */
struct attempt {
	struct lab *lab;
	const struct boot_plan *plan;
	struct boot *boot;
	struct boot_row row;
	int64_t start_ns;
	char *dir, *console;
};

static void attempt_release(struct attempt *a)
{
	if (a->boot)
		a->lab->runner->stop(a->boot);
	free(a->dir);
	free(a->console);
	free(a->row.message);
}

static int attempt_open(struct attempt *a, struct err *err)
{
	const struct boot_plan *plan = a->plan;

	a->start_ns = clock_now_ns();
	a->row = (struct boot_row){
		.session = a->lab->session,
		.kernel = plan->subject->kernel,
		.machine = a->lab->machine,
		.commit_sha = plan->subject->sha,
		.side = (char *)(plan->side ? plan->side : ""),
		.purpose = (char *)plan->purpose,
		.status = (char *)"started",
		.phase = (char *)"power",
		.started_s = clock_wall_s(),
		.seed = (int64_t)(plan->seed & INT64_MAX),
		.log_path = (char *)"",
	};
	if (store_boot_add(a->lab->store, &a->row, &a->row.id, err) < 0)
		return -err->code;
	a->dir = lab_boot_dir(a->lab, a->row.id);
	a->console = xasprintf("%s/console.log", a->dir);
	return fs_mkdirs(a->dir, err);
}

static int start_kernel(struct attempt *a, struct err *err)
{
	const struct subject *s = a->plan->subject;
	struct boot_spec spec = {
		.job = a->lab->job,
		.image = s->image,
		.initrd = s->initrd,
		.workdir = s->workdir,
		.cmdline = a->lab->job->kernel.cmdline,
		.console_log = a->console,
		.scratch = a->dir,
	};

	if (a->lab->runner->start(&spec, &a->boot, err) < 0)
		return -err->code;
	a->row.boot_seconds = boot_seconds(a->boot);
	a->row.phase = (char *)"identity";
	return boot_identify(a->lab, a->plan->subject, a->boot, &a->row.fingerprint, err);
}

/* a boot that was asked for values and gave none has failed, one without cells only had to come up
 */
static const char *status_of(const struct attempt *a, const struct boot_result *r,
			     const struct err *err)
{
	switch (err->code) {
	case ERR_NONE:
		return r->values.n || !a->plan->n_cells ? "ok" : "failed";
	case ERR_UNTESTABLE:
		return "untestable";
	case ERR_FAILED:
		return "failed";
	case ERR_INTERRUPTED:
		return "interrupted";
	default:
		return "infra";
	}
}

/* the row and what is derived from it, both or neither */
static int end_row(struct attempt *a, struct boot_result *result, bool counts, struct err *err)
{
	struct store *store = a->lab->store;

	if (!counts || !a->plan->record)
		return store_boot_end(store, &a->row, err);
	if (store_begin(store, err) < 0)
		return -err->code;
	if (store_boot_end(store, &a->row, err) < 0 ||
	    a->plan->record(a->plan->record_arg, result, err) < 0) {
		store_rollback(store);
		return -err->code;
	}
	return store_commit(store, err);
}

/* The row ends whatever happened; what happened stays in `why`. */
static int attempt_close(struct attempt *a, struct boot_result *result, struct err *why)
{
	ERR_CLEANUP struct err err = {};

	a->row.status = (char *)status_of(a, result, why);
	if (why->phase[0])
		a->row.phase = why->phase;
	a->row.message = xstrdup(why->message	   ? why->message
				 : result->message ? result->message
						   : "");
	a->row.seconds = (double)(clock_now_ns() - a->start_ns) / NS_PER_S;
	if (fs_exists(a->console))
		a->row.log_path = a->console + strlen(a->lab->state_dir) + 1;
	else
		rmdir(a->dir);
	result->boot = a->row.id;
	result->seconds = a->row.seconds;
	result->end = streq(a->row.status, "ok") ? BOOT_OK : BOOT_FAILED;
	if (end_row(a, result, why->code == ERR_NONE || why->code == ERR_FAILED, &err) < 0 &&
	    why->code != ERR_INTERRUPTED) {
		err_move(why, &err);
		return -why->code;
	}
	return why->code ? -why->code : 0;
}

static int boot_once(struct lab *lab, const struct boot_plan *plan, struct boot_result *result,
		     struct err *err)
{
	struct attempt a = {.lab = lab, .plan = plan};
	int r = attempt_open(&a, err);

	if (r < 0) {
		attempt_release(&a);
		return r;
	}
	progress_phase("boot %lld: %s", (long long)a.row.id, plan->subject->name);
	r = start_kernel(&a, err);
	if (r == 0) {
		a.row.phase = (char *)"run";
		result->reached = plan->subject->booted = true;
		r = cells_run(lab, plan, a.boot, a.row.id, result, err);
	}
	if (r < 0 && a.boot && r != -ERR_INTERRUPTED) {
		autofree char *tail = boot_console_tail(a.boot, 1200);

		if (tail && *tail)
			err_wrap(err, "console ends: %s", tail);
	}
	r = attempt_close(&a, result, err);
	attempt_release(&a);
	return r;
}

/* does a kernel that booted before still come up? then it is not the lab */
static int reference_boots(struct lab *lab, const struct boot_plan *failed, struct err *err)
{
	struct boot_plan plan = {.subject = lab->reference, .side = "", .purpose = "reference"};
	struct boot_result result = {};
	int r;

	if (!lab->reference || lab->reference == failed->subject)
		return 0;
	log_info("%s does not come up; does %s still?", failed->subject->name,
		 lab->reference->name);
	r = boot_once(lab, &plan, &result, err);
	boot_result_release(&result);
	if (r == -ERR_INTERRUPTED || r == -ERR_DISK_FULL || r == -ERR_IO)
		return r;
	err_release(err);
	return r == 0;
}

/* what ended the boot, if anything did, is its message; else that of its first failed run stays */
static void explain(struct boot_result *result, struct err *err)
{
	if (err->message) {
		free(result->message);
		result->message = take_ptr(&err->message);
	}
	err_release(err);
}

static int settle_untestable(struct lab *lab, const struct boot_plan *plan,
			     struct boot_result *result, struct err *err)
{
	ERR_CLEANUP struct err ref = {};
	int r = reference_boots(lab, plan, &ref);

	if (r < 0) {
		err_move(err, &ref);
		return r;
	}
	if (r == 0) {
		err->code = ERR_INFRA;
		err_wrap(err, "%s did not come up, and no kernel is known here that does",
			 plan->subject->name);
		err_hint(err,
			 "see 'culprit show %lld'; check the machine with a kernel that is known "
			 "to boot",
			 (long long)lab->session);
		return -ERR_INFRA;
	}
	result->end = BOOT_UNTESTABLE;
	explain(result, err);
	return 0;
}

int measure_boot(struct lab *lab, const struct boot_plan *plan, struct boot_result *ret,
		 struct err *err)
{
	int failed_boots = 0, infra = 0;

	for (;;) {
		struct boot_result result = {};
		int r = boot_once(lab, plan, &result, err);

		if (r == 0 || r == -ERR_FAILED || (r == -ERR_UNTESTABLE && result.reached)) {
			if (r == -ERR_UNTESTABLE)
				result.end = BOOT_UNTESTABLE;
			else if (!lab->reference && result.reached)
				lab->reference = plan->subject;
			explain(&result, err);
			*ret = result;
			return 0;
		}
		if (r == -ERR_UNTESTABLE &&
		    ++failed_boots >=
			    (plan->first_try && lab->reference != plan->subject ? 1 : BOOT_TRIES)) {
			r = settle_untestable(lab, plan, &result, err);
			if (r == 0)
				*ret = result;
			return r;
		}
		boot_result_release(&result);
		if (r == -ERR_INFRA && ++infra >= INFRA_TRIES)
			return err_wrap(err, "the lab failed %d times in a row", infra);
		if (r != -ERR_UNTESTABLE && r != -ERR_INFRA)
			return r;
		log_warn("%s: %s; once more", plan->subject->name, err->message);
		err_release(err);
	}
}

size_t boots_abreast(const struct lab *lab)
{
	return runner_parallel_boots(lab->runner, lab->job);
}

struct abreast {
	struct lab *lab;
	const struct boot_plan *plan;
	struct boot_result *ret;
};

static int one_of_them(void *arg, struct err *err)
{
	struct abreast *a = arg;

	return measure_boot(a->lab, a->plan, a->ret, err);
}

int measure_boots(struct lab *lab, const struct boot_plan *plans, size_t n, struct boot_result *ret,
		  struct err *err)
{
	autofree struct abreast *boots = xcalloc(n, sizeof(*boots));
	autofree void **args = xcalloc(n, sizeof(*args));
	int r;

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct boot_result){};
		boots[i] = (struct abreast){lab, &plans[i], &ret[i]};
		args[i] = &boots[i];
	}
	r = crew_run(one_of_them, args, n, err);
	for (size_t i = 0; r < 0 && i < n; i++)
		boot_result_release(&ret[i]);
	return r;
}

void boot_result_release(struct boot_result *r)
{
	free(r->message);
	VEC_FREE(&r->values);
	*r = (struct boot_result){};
}

double boot_result_value(const struct boot_result *r, const struct cell *cell,
			 const struct metric *metric)
{
	for (size_t i = 0; i < r->values.n; i++)
		if (r->values.at[i].cell == cell && r->values.at[i].metric == metric)
			return r->values.at[i].value;
	return __builtin_nan("");
}
