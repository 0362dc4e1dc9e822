// SPDX-License-Identifier: GPL-2.0-or-later
// One boot with its runs: started, identified, measured, recorded.
#pragma once

#include "harness/measure/subject.h"

struct boot_result;

struct boot_plan {
	struct subject *subject;
	const char *side, *purpose;	 /* for the store; see boot_row */
	const struct cell *const *cells; /* what is run, in an order drawn from seed */
	size_t n_cells;
	uint32_t runs;	   /* of each cell */
	uint32_t runs_max; /* over `runs`: goes on until the job's interval is reached, at most so
			      many */
	uint64_t seed;
	bool first_try; /* a boot that does not reach its agent is not tried once more */
	/* Called when a boot came to an end that counts (OK, FAILED), in the transaction that ends
	 * its row: what is derived from a boot is there exactly when the boot is. NULL: nothing is
	 * derived. */
	int (*record)(void *arg, const struct boot_result *result, struct err *err);
	void *record_arg;
};

enum boot_end {
	BOOT_OK,	 /* at least one value */
	BOOT_UNTESTABLE, /* twice no way to the agent, where a kernel known to be good comes up */
	BOOT_FAILED,	 /* the test itself gave nothing, or the kernel died in it */
};

/* One metric of one cell in one boot: centre of its runs. */
struct boot_value {
	const struct cell *cell;
	const struct metric *metric;
	double value;
	size_t runs;
};

struct boot_result {
	enum boot_end end;
	int64_t boot;	/* row of the last attempt */
	char *message;	/* why it did not go well; NULL if it did */
	double seconds; /* of that boot, all in all */
	bool reached;	/* the agent answered and was what it should be; what fails after is not the
			   lab's */
	size_t failed_runs; /* that ended badly, or gave no number */
	double run_seconds; /* of them, in its runs; by this host's clock */
	VEC(struct boot_value) values;
};
void boot_result_release(struct boot_result *r);
double boot_result_value(const struct boot_result *r, const struct cell *cell,
			 const struct metric *metric);

/* So many boots of one kernel in a row without any value, and it is untestable for this job. */
#define VALUELESS_BOOTS_MAX 3

/*
 * Takes one boot. A boot that does not reach its agent is tried once more; trouble of the lab is
 * tried three times and then an error (ERR_INFRA), since it says nothing of the commit. Every
 * attempt has its row. Errors are only what ends the session: ERR_INFRA, ERR_INTERRUPTED,
 * ERR_DISK_FULL, the store.
 */
int measure_boot(struct lab *lab, const struct boot_plan *plan, struct boot_result *ret,
		 struct err *err);

/* How many boots may be taken side by side on the lab's machine, without one feeling another. */
size_t boots_abreast(const struct lab *lab);
/* Takes n boots (at most boots_abreast) side by side and fills ret[0..n), each by its plan. On an
 * error, which is the first in their order, those that ended are recorded all the same and ret is
 * empty. */
int measure_boots(struct lab *lab, const struct boot_plan *plans, size_t n,
		  struct boot_result *ret, struct err *err);
