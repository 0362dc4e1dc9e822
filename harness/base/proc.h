// SPDX-License-Identifier: GPL-2.0-or-later
// Child processes: an argv vector, a deadline, a group of their own, and nothing left behind.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <sys/types.h>

/*
 * Every child runs below a small guard process of ours (a fork without exec) that is a subreaper and
 * watches a pipe from us: when we die, in whatever way, or when the child ends, the guard kills all
 * descendants that are left, however they detached themselves, and goes. So kill -9 of culprit
 * leaves no compiler, QEMU or benchmark behind.
 */
struct proc_spec {
	const char *const *argv; /* argv[0] is searched along PATH */
	const char *cwd;	 /* NULL: ours */
	const char *const *env;	 /* "NAME=value" on top of our environment; "NAME" removes; NULL: none */
	int stdin_fd;		 /* 0 means /dev/null, else this descriptor (stays the caller's) */
	int stdout_fd, stderr_fd; /* 0: /dev/null for proc_start; captured by proc_run where asked */
	const char *log_path;	 /* stdout and stderr appended here instead (a build log), or NULL */
	int64_t deadline_ns;	 /* absolute, required: clock_deadline_ns(...) or NO_DEADLINE */
	const char *what;	 /* for messages: "git", "make", "qemu" */
	bool lower_priority;	 /* nice 10 and idle I/O */
	bool despite_stop;	 /* clean-up work, which a stop signal does not end */
};

/* The four ends of a child. */
enum proc_end { PROC_NOT_STARTED, PROC_EXITED, PROC_SIGNALED, PROC_DEADLINE };

struct proc_result {
	enum proc_end end;
	int code; /* exit status, signal number, or errno of the failed exec */
	double user_s, sys_s;
	int64_t wall_ns;       /* PROC_DEADLINE: the time it was given */
	int64_t max_rss_bytes; /* of the largest process */
	uint64_t dropped;      /* proc_run: bytes of output beyond max_bytes */
};

/* A running child. */
struct proc {
	pid_t pid;	 /* the command's process, also its group */
	pid_t guard_pid; /* its guard, our direct child */
	int guard_pidfd;
	int control_fd; /* closing it makes the guard kill everything */
	int status_fd;	/* readable when the child ended; add it to the loop */
	int64_t deadline_ns, start_ns;
	bool despite_stop;
	char *what;
};

/* Exec failure comes back here, as an error of the parent (ERR_NOT_FOUND for a missing program). */
int proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err);
/* Waits until it ended, its deadline passed, or a stop signal came (then kills it: ERR_INTERRUPTED). */
int proc_wait(struct proc *p, struct proc_result *ret, struct err *err);
int proc_signal(struct proc *p, int sig); /* to the command's process group; -errno if it is gone */
void proc_kill(struct proc *p); /* kills the whole tree, reaps, releases; safe on a finished one */

/* The common case: run to the end, capture output up to max bytes each (NULL: not wanted).
 * What it printed beyond is read and dropped. */
int proc_run(const struct proc_spec *spec, struct buf *ret_out, struct buf *ret_err, size_t max_bytes,
	     struct proc_result *ret, struct err *err);
/* As proc_run, and anything but exit 0 (or output beyond max_bytes) is an error with code, naming the
 * end and the last lines of stderr. */
int proc_run_ok(const struct proc_spec *spec, struct buf *ret_out, size_t max_bytes, enum err_code code,
		struct err *err);
/* "exited with 2", "was killed by signal 9 (Killed)", "did not end within 10m", into buf. */
const char *proc_describe(const struct proc_result *r, char buf[96]);
/* Kills every descendant of this process (a subreaper or pid 1) until none is left. */
void proc_kill_descendants(void);
