// SPDX-License-Identifier: GPL-2.0-or-later
// What a build, a boot and a run of a job take: measured before, else bounded by the job's time
// limits.
#pragma once

#include "db/store.h"
#include "harness/job/job.h"

struct job_cost {
	double seconds;
	bool measured; /* the median of earlier sessions; else the most that the job allows */
};

struct job_costs {
	struct job_cost build;
	struct job_cost boot; /* with setup and teardown, without runs */
	struct job_cost run;
};

/* store may be NULL: then nothing was measured. Earlier sessions of a job of the same name count.
 */
int job_costs_read(struct store *store, const struct job *job, struct job_costs *ret,
		   struct err *err);
/* A boot with its runs: `runs` of each of `cells`. */
double job_costs_boot(const struct job_costs *costs, size_t cells, size_t runs);
