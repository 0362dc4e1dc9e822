// SPDX-License-Identifier: GPL-2.0-or-later
// Did the noise itself change? The ratio of the two sides' standard deviations between boots.

/*
 * The interval is Bonett's (2006), which corrects for tails by the pooled kurtosis: the
 * classical F interval misses far more often than it says as soon as one boot in fifty is an
 * outlier.
 */
#pragma once

#include <stddef.h>

#include "harness/stats/interval.h"

#define SPREAD_MIN_VALUES 5

struct spread {
	double ratio;		  /* sd(b) / sd(a) */
	struct interval interval; /* of the ratio */
};

/* "wider", "narrower" where the interval lies beside 1, else "same"; NULL where it is not known. */
const char *spread_verdict(const struct spread *s);

/* NaN under five values a side, for values that are not finite, or where a is constant. */
struct spread spread_compare(const double *a, size_t n_a, const double *b, size_t n_b,
			     double level);
