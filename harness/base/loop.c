// SPDX-License-Identifier: GPL-2.0-or-later
// The poll(2) loop: a handful of descriptors and timers, so plain arrays do.
#include "harness/base/loop.h"

#include "harness/base/clock.h"
#include "harness/base/crew.h"
#include "harness/base/progress.h"
#include "harness/base/signals.h"
#include "harness/base/util.h"

#include <errno.h>

struct watch {
	int fd;
	short events;
	loop_fd_fn *fn;
	void *arg;
};

struct timer {
	int id;
	int64_t at_ns;
	loop_timer_fn *fn;
	void *arg;
};

struct loop {
	VEC(struct watch) watches;
	VEC(struct timer) timers;
	int last_timer;
};

struct loop *loop_new(void)
{
	return xcalloc(1, sizeof(struct loop));
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	VEC_FREE(&loop->watches);
	VEC_FREE(&loop->timers);
	free(loop);
}

static struct watch *find_watch(struct loop *loop, int fd)
{
	for (size_t i = 0; i < loop->watches.n; i++)
		if (loop->watches.at[i].fd == fd)
			return &loop->watches.at[i];
	return NULL;
}

void loop_add_fd(struct loop *loop, int fd, short events, loop_fd_fn *fn, void *arg)
{
	struct watch *old = find_watch(loop, fd);
	struct watch watch = {.fd = fd, .events = events, .fn = fn, .arg = arg};

	if (old)
		*old = watch;
	else
		VEC_PUSH(&loop->watches, watch);
}

void loop_remove(struct loop *loop, int fd)
{
	struct watch *watch = find_watch(loop, fd);

	if (watch)
		*watch = loop->watches.at[--loop->watches.n];
}

int loop_timer(struct loop *loop, int64_t at_ns, loop_timer_fn *fn, void *arg)
{
	struct timer timer = {.id = ++loop->last_timer, .at_ns = at_ns, .fn = fn, .arg = arg};

	VEC_PUSH(&loop->timers, timer);
	return timer.id;
}

static void drop_timer(struct loop *loop, size_t i)
{
	loop->timers.at[i] = loop->timers.at[--loop->timers.n];
}

void loop_timer_cancel(struct loop *loop, int timer)
{
	for (size_t i = 0; i < loop->timers.n; i++)
		if (loop->timers.at[i].id == timer) {
			drop_timer(loop, i);
			return;
		}
}

/* The earliest timer, or NULL. */
static struct timer *next_timer(struct loop *loop)
{
	struct timer *next = NULL;

	for (size_t i = 0; i < loop->timers.n; i++)
		if (!next || loop->timers.at[i].at_ns < next->at_ns)
			next = &loop->timers.at[i];
	return next;
}

/* Fires what was due when it began; a timer set meanwhile waits for the next round. */
static int fire_timers(struct loop *loop)
{
	int64_t now = clock_now_ns();
	int newest = loop->last_timer, fired = 0;

	for (size_t i = 0; i < loop->timers.n;) {
		struct timer timer = loop->timers.at[i];

		if (timer.at_ns > now || timer.id > newest) {
			i++;
			continue;
		}
		drop_timer(loop, i);
		timer.fn(timer.arg);
		fired = 1;
		i = 0; /* the callback may have changed the array */
	}
	return fired;
}

/* A callback may have removed or replaced the watch of a descriptor that is still to be told. */
static int call_watches(struct loop *loop, const struct pollfd *fds, size_t n)
{
	int called = 0;

	for (size_t i = 0; i < n; i++) {
		struct watch *watch = fds[i].revents ? find_watch(loop, fds[i].fd) : NULL;

		if (watch && (fds[i].revents & (watch->events | POLLERR | POLLHUP | POLLNVAL))) {
			watch->fn(watch->fd, fds[i].revents, watch->arg);
			called = 1;
		}
	}
	return called;
}

/* One poll of at most a second, so that the progress line lives. */
static int loop_poll(struct loop *loop, int64_t deadline_ns, struct err *err)
{
	const struct timer *timer = next_timer(loop);
	size_t n = loop->watches.n;
	autofree struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));
	int64_t until = MIN(deadline_ns, clock_deadline_ns(NS_PER_S));

	if (timer)
		until = MIN(until, timer->at_ns);
	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = loop->watches.at[i].fd,
					 .events = loop->watches.at[i].events};
	fds[n] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
	if (crew_poll(fds, n + 1, clock_poll_timeout_ms(until)) < 0 && errno != EINTR)
		return err_errno(err, "cannot wait");
	if (signals_check(err))
		return -ERR_INTERRUPTED;
	return call_watches(loop, fds, n) | fire_timers(loop);
}

int loop_run_once(struct loop *loop, int64_t deadline_ns, struct err *err)
{
	for (;;) {
		int rc = loop_poll(loop, deadline_ns, err);

		if (rc)
			return rc;
		if (clock_now_ns() >= deadline_ns)
			return 0;
		progress_tick();
	}
}
