// SPDX-License-Identifier: GPL-2.0-or-later
// LKP jobs (lkp-tests, 0-day) as jobs of ours, as far as they have a counterpart.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/util.h"

/* A key that has no counterpart here. */
struct lkp_left {
	unsigned line;
	char *key, *why;
};

struct lkp_job {
	struct buf yaml; /* the job, with what is left in comments at its top */
	VEC(struct lkp_left) left;
	size_t parts; /* of the file: documents parted by "---" */
};

/*
 * The part of a file (0, the first, is the base of the others) as a job: scalars and lists become
 * parameters, whose product is LKP's matrix; those of a program's mapping, too, by their own names;
 * "50%" stays the share of CPUs that it is in both; iterations and runtime become iterate and the
 * timeout. The program runs with its parameters in the environment, as LKP's do, and its metrics
 * are `key` lines of the names that LKP reports, where they are known.
 *
 * ERR_USAGE: no YAML that can be read (LKP's templates are none), no program, no such part.
 */
int lkp_read(const char *path, size_t part, struct lkp_job *ret, struct err *err);
void lkp_job_release(struct lkp_job *j);
