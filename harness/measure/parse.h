// SPDX-License-Identifier: GPL-2.0-or-later
// From a program's output to numbers, as the job's metrics describe.
#pragma once

#include "harness/job/job.h"

struct parsed_value {
	const struct metric *metric;
	bool present; /* false: optional and absent, or an error */
	double value;
	char *why; /* what went wrong, owned; NULL if fine */
};

struct parsed {
	struct parsed_value *values; /* one for each metric of the job, in its order */
	size_t n;
	size_t n_errors;
};

/*
 * Reads every metric from one run's output. ANSI escapes are stripped first, NaN and infinities,
 * thousands separators and a locale's comma are errors, a metric that is not found is an error
 * unless optional, never a zero. An error here is only for a broken pattern; what the output lacks
 * is in ret->values[].why. cell may be NULL: what is derived from a parameter then has no value.
 */
int parse_output(const struct job *job, const struct cell *cell, const char *output, size_t len,
		 struct parsed *ret, struct err *err);
void parsed_release(struct parsed *p);
