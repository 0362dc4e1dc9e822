// SPDX-License-Identifier: GPL-2.0-or-later
// A job while its file is being read: the job, and the parts of the tree that are needed to check
// it.
#pragma once

#include "harness/job/job.h"
#include "harness/job/schema.h"

struct job_file {
	struct job job;
	uint32_t version;
	bool here; /* for this host as it runs: see job_load_here */
	const struct yaml_node *root, *parameters, *exclude, *include;
};

extern const struct schema job_rows[];	  /* of struct job_file */
extern const struct schema metric_rows[]; /* of struct metric */

/* What no single key tells: the runner, the cells, ranges, keys that exclude each other, sources
 * and cycles of metrics. Adds faults. */
void job_settle(struct job_file *f, struct diag *d);
