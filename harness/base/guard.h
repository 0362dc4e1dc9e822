// SPDX-License-Identifier: GPL-2.0-or-later
// Between proc.c and the guard process it forks: what to run, and the two messages that come back.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* All descriptors are 3 or higher and CLOEXEC; all signals are blocked. */
struct guard_job {
	const char *const *argv;
	char *const *envp;
	const char *cwd;	/* or NULL */
	int stdio[3];		/* what becomes 0, 1 and 2 */
	bool lower_priority;
	int control_fd;		/* a byte is a signal for the command's group, end of file kills all */
	int status_fd;		/* the messages below go here */
};

/* First message: the command runs, or which step failed. */
enum guard_step { GUARD_STARTED, GUARD_FORK, GUARD_STDIO, GUARD_CHDIR, GUARD_EXEC };
struct guard_started {
	enum guard_step step;
	int error; /* errno of that step */
	pid_t pid;
};

/* Second message: the command ended, and no descendant of it is left. */
struct guard_ended {
	int status; /* as from wait(2) */
	int64_t wall_ns, max_rss_bytes;
	double user_s, sys_s;
};

_Noreturn void guard_main(const struct guard_job *job);
