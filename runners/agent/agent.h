// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the agent: facts about the machine, running commands, being a guest's first process.
#pragma once

#include "runners/agent/proto.h"

#include <sys/types.h>

/* --- hello.c --- */
/* Appends a HELLO that says which kernel runs here and on what. */
void hello_add(struct buf *out, uint32_t seq);

/* --- facts.c, also used on the host --- */
/* What numbers depend on beside the code: "cpu_model", "governor", "thp", ... One call each. A fact is
 * the machine's, or one that the kernel decides, and which may differ between two that are compared. */
enum fact_of { FACT_OF_MACHINE, FACT_OF_KERNEL };
typedef void fact_fn(void *arg, enum fact_of of, const char *name, const char *value);
void facts_each(fact_fn *fn, void *arg);
/* First line of a small file, without its end; "" where there is none. Owned. */
char *fact_line(const char *path);

/* --- guest.c --- */
struct guest {
	int port_fd; /* to culprit */
	bool spin;   /* wait for requests busily */
};
/* Mounts, loopback, host name, and the port named on the kernel command line. false: said why on
 * the console. */
bool guest_init(struct guest *ret);
_Noreturn void guest_end(void); /* QEMU takes the reboot for the end */

/* --- exec.c --- */
/*
 * One command at a time. It leads a session of its own, its output comes through a pipe. When it
 * ends, everything that it started is killed: orphans come to the agent (the first process of the
 * guest, or a subreaper), and each that neither was there before the run nor is in a session led or
 * joined by one that was is the run's. A run with PROTO_KEEP (a job's setup) leaves its children
 * be, so they are older than later runs. What was there may fork and detach as daemons do; only
 * what its new children fork into sessions of their own and then orphan is taken for the run's.
 */
struct run {
	pid_t pid; /* 0: nothing runs */
	uint32_t seq;
	bool keep, expired;
	int output_fd;
	int64_t start_ns, deadline_ns;
	uint64_t output_max, output_kept, output_total;
	struct buf output; /* kept, not sent yet */
	VEC(pid_t) older;  /* processes and sessions that were there before */
	VEC(int) kept_fds; /* of what a setup left running: read and dropped, so it never blocks */
};

/* Starts it, or appends the EXIT that says why not. */
void run_start(struct run *run, const struct proto_run *request, uint32_t seq, struct buf *out);
void run_read_output(struct run *run, struct buf *out); /* output_fd is readable */
void run_read_kept(struct run *run);			/* one of kept_fds is */
void run_expire(struct run *run);			/* the deadline has passed */
/* After SIGCHLD; appends EXIT when the run is over. */
void run_reap(struct run *run, struct buf *out);
void run_refuse(uint32_t seq, int error, struct buf *out);
void run_release(struct run *run); /* kills everything below the agent */
