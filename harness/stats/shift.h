// SPDX-License-Identifier: GPL-2.0-or-later
// How far b lies from a: the Hodges-Lehmann shift (the median of all differences b - a) with
// the interval that the exact Mann-Whitney test does not reject. With ties the interval is
// closed and covers at least what it says.

/*
 *	struct shift s = shift_percent(parent, 8, culprit, 8, 0.99);
 *	// s.estimate -24.1, s.interval.low -25.0, s.interval.high -23.2
 */
#pragma once

#include <stddef.h>

#include "harness/stats/interval.h"
#include "harness/stats/ranktest.h"

struct shift {
	double estimate;
	struct interval interval;
};

/* In units. An empty side, NaN or an infinity: NaN. */
struct shift shift_of(const double *a, size_t n_a, const double *b, size_t n_b, double level);

/* On logarithms, as percent of a. NaN as soon as one value is zero or negative. */
struct shift shift_percent(const double *a, size_t n_a, const double *b, size_t n_b,
			   double level);

/*
 * shift_of() on SORTED, finite values with a distribution at hand, for callers that need
 * several levels.
 */
struct shift shift_sorted(const struct rank_null *null, const double *a, const double *b,
			  double level);

/* A shift of natural logarithms as a percentage. */
struct shift shift_to_percent(struct shift logs);

/*
 * The k-th smallest (from 1) of the n_a * n_b differences b[j] - a[i] of two SORTED, finite
 * arrays, in O(n_a + n_b) without building them.
 */
double shift_kth_difference(const double *a, size_t n_a, const double *b, size_t n_b, size_t k);
