// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that take turns: one lock, which a waiting task leaves.
#include "harness/base/crew.h"

#include "harness/base/log.h"
#include "harness/base/util.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static bool at_work; /* written while there is no other thread */

struct task {
	crew_fn *fn;
	void *arg;
	struct err err;
	int rc;
	pthread_t thread;
	bool started;
};

int crew_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	int rc, saved;

	if (!at_work)
		return poll(fds, n, timeout_ms);
	pthread_mutex_unlock(&turn);
	rc = poll(fds, n, timeout_ms);
	saved = errno;
	pthread_mutex_lock(&turn);
	errno = saved;
	return rc;
}

static void *work(void *arg)
{
	struct task *t = arg;

	pthread_mutex_lock(&turn);
	t->rc = t->fn(t->arg, &t->err);
	pthread_mutex_unlock(&turn);
	return NULL;
}

/* a task without a thread of its own is done by the caller, after its own */
static void work_all(struct task *tasks, size_t n)
{
	at_work = true;
	for (size_t i = 1; i < n; i++)
		tasks[i].started = !pthread_create(&tasks[i].thread, NULL, work, &tasks[i]);
	for (size_t i = 0; i < n; i++)
		if (!tasks[i].started)
			work(&tasks[i]);
	for (size_t i = 1; i < n; i++)
		if (tasks[i].started)
			pthread_join(tasks[i].thread, NULL);
	at_work = false;
}

int crew_run(crew_fn *fn, void *const *args, size_t n, struct err *err)
{
	autofree struct task *tasks = NULL;
	int rc = 0;

	if (n == 1)
		return fn(args[0], err);
	tasks = xcalloc(n, sizeof(*tasks));
	for (size_t i = 0; i < n; i++)
		tasks[i] = (struct task){.fn = fn, .arg = args[i]};
	work_all(tasks, n);
	for (size_t i = 0; i < n; i++) {
		if (tasks[i].rc < 0 && rc == 0) {
			rc = tasks[i].rc;
			err_move(err, &tasks[i].err);
		} else if (tasks[i].rc < 0 && tasks[i].err.code != ERR_INTERRUPTED) {
			log_warn("%s", tasks[i].err.message);
		}
		err_release(&tasks[i].err);
	}
	return rc;
}
