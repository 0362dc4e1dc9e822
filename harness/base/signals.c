// SPDX-License-Identifier: GPL-2.0-or-later
// The stop signal: a flag, and a descriptor that stays readable once it was set.
#include "harness/base/signals.h"

#include "harness/base/util.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>

static volatile sig_atomic_t pending;
static int stop_fd = -1;

static void on_stop(int sig)
{
	uint64_t one = 1;
	int saved = errno;

	/* Whoever asks twice is not kept waiting; guards end the children. */
	if (pending)
		_exit(128 + sig);
	pending = sig;
	if (write(stop_fd, &one, sizeof(one)) < 0)
		_exit(128 + sig);
	errno = saved;
}

void signals_init(void)
{
	struct sigaction stop = {.sa_handler = on_stop}, ignore = {.sa_handler = SIG_IGN};

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

int signals_fd(void)
{
	return stop_fd;
}

int signals_pending(void)
{
	return pending;
}

int signals_check(struct err *err)
{
	if (!pending)
		return 0;
	return err_set(err, ERR_INTERRUPTED, "stopped by %s",
		       pending == SIGINT ? "Ctrl-C" : "signal 15 (Terminated)");
}
