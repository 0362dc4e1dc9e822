// SPDX-License-Identifier: GPL-2.0-or-later
// A good end for a bisection where nobody named one.
#pragma once

#include "harness/measure/lab.h"

/*
 * Walks back over the release tags before `bad`: the newest, the second, the fourth, the eighth
 * ..., and takes the first against which bad is a regression (each side boots.min times, the exact
 * test at the job's error). A tag that cannot be tested is passed over. The session's journal keeps
 * what was tried, and a finished session is only read. The bisection measures both ends anew.
 *
 * ERR_USAGE: no release tag before bad, or none that is better.
 */
int auto_good(struct lab *lab, const char *bad, const struct cell *cell,
	      const struct metric *metric, uint64_t seed, char **ret_good, struct err *err);
