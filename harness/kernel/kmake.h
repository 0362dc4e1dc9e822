// SPDX-License-Identifier: GPL-2.0-or-later
// Running the kernel's make: arguments, environment, deadline, and what its failure means.
#pragma once

#include "harness/job/job.h"
#include "harness/kernel/toolchain.h"

/* One commit's build; all borrowed. */
struct kmake {
	const char *cache_dir; /* absolute; what is built lies below it, so its disk counts */
	const char *src;       /* the checked out tree */
	const char *obj;       /* the object directory of the build itself */
	const char *conf;      /* another one, for configuring */
	const struct toolchain *tools;
	const struct kernel_options *options;
	const char *log_path;
	int64_t deadline_ns;
	bool diagnosed; /* the last failure was one of the sources (see buildlog.h) */
};

/*
 * `make O=out ARGS...`, output appended to the log. ERR_UNTESTABLE (phase build) with the last
 * error lines, or where the deadline passed; ERR_DISK_FULL, ERR_INFRA, ERR_INTERRUPTED say nothing
 * of the commit.
 */
int kmake_run(struct kmake *k, const char *out, const char *const *args, struct err *err);
bool kmake_deadline_passed(const struct kmake *k);
