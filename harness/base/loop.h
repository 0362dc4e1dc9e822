// SPDX-License-Identifier: GPL-2.0-or-later
// A small event loop over poll(2): descriptors, timers, and the stop signal.
#pragma once

#include "harness/base/err.h"

#include <stdint.h>

/*
 *	struct loop *loop = loop_new();
 *	loop_add_fd(loop, fd, POLLIN, on_data, client);
 *	while (!client->done && loop_run_once(loop, deadline_ns, &err) > 0)
 *		;
 *	loop_free(loop);
 *
 * Callbacks may add and remove anything, themselves too. Descriptors stay the caller's: remove
 * before closing.
 */
struct loop;
typedef void loop_fd_fn(int fd, short revents, void *arg);
typedef void loop_timer_fn(void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *loop);
static inline void cleanup_loop(struct loop **loop)
{
	loop_free(*loop);
}
#define autoloop __attribute__((cleanup(cleanup_loop)))

/* Adds a descriptor, or changes what one that is already there is watched for (POLLIN, POLLOUT). */
void loop_add_fd(struct loop *loop, int fd, short events, loop_fd_fn *fn, void *arg);
void loop_remove(struct loop *loop, int fd); /* absent is fine */
/* Calls fn once at an absolute monotonic time; the number returned (from 1) cancels it. */
int loop_timer(struct loop *loop, int64_t at_ns, loop_timer_fn *fn, void *arg);
void loop_timer_cancel(struct loop *loop, int timer); /* one that fired is fine */
/* Waits until at least one callback ran: 1. 0: the deadline passed first. Negative: a stop signal
 * (ERR_INTERRUPTED) or the system refused. The progress line is kept fresh while waiting. */
int loop_run_once(struct loop *loop, int64_t deadline_ns, struct err *err);
