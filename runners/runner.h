// SPDX-License-Identifier: GPL-2.0-or-later
// Where a kernel boots: one ops struct for each kind, the same agent protocol behind all of them.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/json.h"
#include "harness/job/job.h"

/* What is to be started. Borrowed; must live as long as the boot. */
struct boot_spec {
	const struct job *job;
	const char *image;     /* bzImage; NULL for the local runner */
	const char *initrd;    /* file; NULL for the local runner */
	const char *workdir;   /* local runner: the commit's worktree */
	const char *cmdline;   /* added to what the runner needs */
	const char *console_log; /* path the kernel console is written to */
	const char *scratch;   /* empty directory for sockets and the like */
};

/* What the agent said of itself: proves which kernel runs. */
struct agent_hello {
	uint32_t protocol;
	char *release, *version, *boot_id, *cmdline, *machine;
	char *notes;	 /* build-ids as lines: "vmlinux <hex>", then "<module> <hex>" by name */
	uint32_t cpus;
	uint64_t memory_bytes;
	/* Flat object: cpu_model, governor, smt ... of the machine; "kernel.thp", "kernel.mitigations" ...
	 * are what this kernel decides, and may differ between kernels that are compared. */
	struct json *environment;
};

struct boot; /* one started kernel with its agent */

struct run_request {
	const char *const *argv;
	const char *const *env;	 /* "NAME=value", complete besides PATH, HOME, LANG=C */
	const char *cwd;	 /* NULL: the agent's default */
	int64_t timeout_ns;
	bool keep_children;	 /* setup: what it leaves running lives until the boot ends */
	size_t output_max;	 /* bytes of stdout+stderr kept; what is beyond is only counted */
};

enum run_end { RUN_EXITED, RUN_SIGNALED, RUN_DEADLINE, RUN_NOT_STARTED };

struct run_reply {
	enum run_end end;
	int code;	/* exit status, signal, errno */
	double seconds, user_s, sys_s; /* by the guest's clock */
	int64_t voluntary_switches, involuntary_switches, max_rss_bytes;
	struct buf output; /* stdout and stderr as they came */
	uint64_t output_total;
};
void run_reply_release(struct run_reply *r);

/*
 * Errors of start and run carry the phase ("power", "boot", "identity", "run") and mean:
 * ERR_UNTESTABLE panic, early exit, hang or no agent at boot (the caller may try again),
 * ERR_INFRA the lab failed (qemu does not start, agent vanished without a panic),
 * ERR_INTERRUPTED a stop signal. Guest or kernel death during a run is ERR_FAILED, phase "run".
 */
struct runner_ops {
	const char *name; /* "local", "qemu" */
	/* mandatory */
	int (*start)(const struct boot_spec *spec, struct boot **ret, struct err *err);
	void (*stop)(struct boot *boot); /* kills and frees whatever is there; NULL is fine */
	/* name of the machine class that results are comparable in: "local", "qemu-kvm", "qemu-tcg",
	 * "qemu-tcg-icount" */
	int (*machine)(const struct job *job, char **ret, struct err *err);
	/* optional */
	void (*describe)(const struct job *job, struct json *fingerprint); /* host side facts */
	int (*parallel_boots)(const struct job *job); /* how many do not disturb each other; NULL: 1 */
};
/* What the runner says of it, at least 1. */
size_t runner_parallel_boots(const struct runner_ops *runner, const struct job *job);

const struct runner_ops *runner_for(const struct job *job); /* NULL where no runner serves it */
extern const struct runner_ops runner_local, runner_qemu;

/* The same for every runner once started. */
const struct agent_hello *boot_hello(const struct boot *boot);
/* Asks the agent again, for modules that a setup loaded; what boot_hello gave before is gone. */
int boot_refresh_hello(struct boot *boot, struct err *err);
int boot_run(struct boot *boot, const struct run_request *req, struct run_reply *ret,
	     struct err *err);
/* The last lines of the console, made safe, for messages. Owned. */
char *boot_console_tail(const struct boot *boot, size_t max_bytes);
double boot_seconds(const struct boot *boot); /* from start to hello */

/* KVM proved by booting a tiny guest with it: 1 works, 0 not (why, owned, says so). Asked once. */
int qemu_kvm_works(char **ret_why);
/* Path of the static agent: beside the binary in build/, or installed in libexec. ERR_NOT_FOUND. */
int agent_path(char **ret, struct err *err);
