// SPDX-License-Identifier: GPL-2.0-or-later
// Several tasks that mostly wait, side by side.
#pragma once

#include "harness/base/err.h"

#include <poll.h>
#include <stddef.h>

/*
 * The tasks run one at a time, as if they were called one after the other: no data needs a lock of
 * its own. Only where one waits (in crew_poll, which the loop and proc.c do) do the others go on;
 * so whatever a task changes in several steps is changed whole as long as it does not wait between
 * them.
 */
typedef int crew_fn(void *arg, struct err *err);

/*
 * Calls fn for each argument, to its end, and returns the first error in the order of the
 * arguments; what the others said is logged. The first runs in the caller's thread. Not from within
 * a task.
 */
int crew_run(crew_fn *fn, void *const *args, size_t n, struct err *err);

/* poll(2), during which other tasks of the crew go on. */
int crew_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
