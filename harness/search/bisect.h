// SPDX-License-Identifier: GPL-2.0-or-later
// A bisection: the search engine joined to repository, builds, boots and the journal.
#pragma once

#include "harness/kernel/repo.h"
#include "harness/measure/lab.h"
#include "harness/search/search.h"

struct bisect_spec {
	const struct repo_range *range;
	const char *good; /* as the user resolved it; differs from range->good where that is the
			     merge base */
	const struct metric *metric;
	const struct cell *cell; /* the one that steers; NULL: the job has several, choose */
	uint64_t seed;
	int64_t budget_ns; /* 0: none */
	bool explain;	   /* each step's reasons on stderr */
	bool fresh;	   /* nothing known from earlier sessions is used */
	bool failures; /* a boot's value is 1 where it or one of its runs failed, else 0; metric is
			  bisect_failures */
	bool fix;      /* good is the slow end: which commit made it fast again */
};

/* The metric that counts failed boots. */
extern const struct metric bisect_failures;

/*
 * Runs the session's bisection to its end, or goes on with it: everything it learns is in the
 * journal first, and the engine is told the journal. Leaves the bisection's row with outcome,
 * candidates, effect and checks. Errors are what stops it on the way (ERR_INTERRUPTED, ERR_INFRA,
 * ERR_DISK_FULL, the store); an outcome of any kind is none.
 */
int bisect_run(struct lab *lab, const struct bisect_spec *spec, enum search_outcome *ret,
	       struct err *err);
int bisect_exit_code(const char *outcome); /* 0 culprit, merge, several; 125 untestable; else 1 */
