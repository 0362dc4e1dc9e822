// SPDX-License-Identifier: GPL-2.0-or-later
// Costs out of the store's boots, runs and kernels; time limits where it has none.
#include "harness/measure/costs.h"

#include "harness/base/util.h"
#include "harness/stats/centre.h"

enum { BOOTS_ENOUGH = 20 };

struct times {
	VEC(double) builds, boots, runs;
};

static double limit_seconds(const struct command *c)
{
	return c->argv ? (double)c->timeout_ns / 1e9 : 0;
}

static struct job_costs limits(const struct job *job)
{
	double build =
		job->is_kernel ? (double)job->kernel.timeout_ns / 1e9 : limit_seconds(&job->build);
	double start = job->runner == RUNNER_QEMU ? (double)job->qemu.boot_timeout_ns / 1e9 : 0;

	return (struct job_costs){
		.build = {build, false},
		.boot = {start + limit_seconds(&job->setup) + limit_seconds(&job->teardown), false},
		.run = {limit_seconds(&job->run), false},
	};
}

static int add_boot(struct store *store, const struct boot_row *boot, struct times *t,
		    struct err *err)
{
	struct run_row *runs = NULL;
	struct kernel_row kernel = {};
	double rest = boot->seconds;
	size_t n = 0;
	int rc = store_run_list(store, boot->id, &runs, &n, err);

	for (size_t i = 0; i < n; i++) {
		VEC_PUSH(&t->runs, runs[i].seconds);
		rest -= runs[i].seconds;
		run_row_release(&runs[i]);
	}
	free(runs);
	if (rc < 0)
		return rc;
	VEC_PUSH(&t->boots, MAX(rest, 0.0));
	rc = boot->kernel ? store_kernel_get(store, boot->kernel, &kernel, err) : 0;
	if (boot->kernel && rc >= 0 && kernel.build_seconds > 0)
		VEC_PUSH(&t->builds, kernel.build_seconds);
	kernel_row_release(&kernel);
	return MIN(rc, 0);
}

static int add_session(struct store *store, int64_t session, struct times *t, struct err *err)
{
	struct boot_row *boots = NULL;
	size_t n = 0;
	int rc = store_boot_list(store, session, &boots, &n, err);

	for (size_t i = 0; i < n; i++) {
		if (!rc && t->boots.n < BOOTS_ENOUGH && streq(boots[i].status, "ok"))
			rc = add_boot(store, &boots[i], t, err);
		boot_row_release(&boots[i]);
	}
	free(boots);
	return rc;
}

static int add_sessions(struct store *store, const struct job *job, struct times *t,
			struct err *err)
{
	struct session_row *sessions = NULL;
	size_t n = 0;
	int rc = store_session_list(store, &sessions, &n, err);

	for (size_t i = 0; i < n; i++) {
		if (!rc && t->boots.n < BOOTS_ENOUGH && streq(sessions[i].job_name, job->name))
			rc = add_session(store, sessions[i].id, t, err);
		session_row_release(&sessions[i]);
	}
	free(sessions);
	return rc;
}

static void settle(struct job_cost *cost, const double *seconds, size_t n)
{
	if (n)
		*cost = (struct job_cost){centre_value(CENTRE_MEDIAN, 0, seconds, n), true};
}

int job_costs_read(struct store *store, const struct job *job, struct job_costs *ret,
		   struct err *err)
{
	struct job_costs costs = limits(job);
	struct times t = {};
	int rc = store ? add_sessions(store, job, &t, err) : 0;

	settle(&costs.build, t.builds.at, t.builds.n);
	settle(&costs.boot, t.boots.at, t.boots.n);
	settle(&costs.run, t.runs.at, t.runs.n);
	VEC_FREE(&t.builds);
	VEC_FREE(&t.boots);
	VEC_FREE(&t.runs);
	if (!rc)
		*ret = costs;
	return rc;
}

double job_costs_boot(const struct job_costs *costs, size_t cells, size_t runs)
{
	return costs->boot.seconds + (double)cells * (double)runs * costs->run.seconds;
}
