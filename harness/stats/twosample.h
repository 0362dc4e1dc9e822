// SPDX-License-Identifier: GPL-2.0-or-later
// Second opinions beside the exact rank test: Welch's t (means, unequal variances) and
// Brunner-Munzel (ranks, unequal spreads). Results are NaN where the test is not defined.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/stats/interval.h"

struct mean_test {
	double difference;	/* mean(b) - mean(a) */
	double t, df;
	double p;		/* two-sided */
	double p_greater;	/* one-sided: mean(b) above mean(a) */
	struct interval interval;
};

/*
 * At least two finite values a side. Where both sides are constant the standard error is 0:
 * equal means give p = 1, different ones p = 0 (no noise was seen, not that there is none).
 */
struct mean_test welch_test(const double *a, size_t n_a, const double *b, size_t n_b,
			    double level);

/* Welch assumes tame tails: true when no value lies beyond 4 MAD of its side's median. */
bool welch_applies(const double *a, size_t n_a, const double *b, size_t n_b);

#define BRUNNER_MUNZEL_MIN 15	/* below this its error rate is not what it says */

struct brunner_munzel {
	double effect;	/* P(b > a) + P(b = a) / 2 */
	double t, df;
	double p;	/* two-sided */
};

struct brunner_munzel brunner_munzel_test(const double *a, size_t n_a,
					  const double *b, size_t n_b);
