// SPDX-License-Identifier: GPL-2.0-or-later
// Hodges-Lehmann: order statistics of all pair differences, without making the pairs.
#include "harness/stats/shift.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/summary.h"

static const struct shift undefined = { NAN, { NAN, NAN, 0 } };

/*
 * Doubles as integers in the same order, so that halving the distance between two of them
 * ends after 64 steps, exactly. -0 and 0 become one.
 */
static int64_t order_of(double x)
{
	int64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of(int64_t order)
{
	int64_t bits = order < 0 ? INT64_MIN - order : order;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* How many differences are at most x: the border moves one way only, as both are sorted. */
static size_t count_at_most(const double *a, size_t n_a, const double *b, size_t n_b, double x)
{
	size_t count = 0, above = 0;

	for (size_t j = 0; j < n_b; j++) {
		while (above < n_a && b[j] - a[above] > x)
			above++;
		count += n_a - above;
	}
	return count;
}

double shift_kth_difference(const double *a, size_t n_a, const double *b, size_t n_b, size_t k)
{
	int64_t low, high;

	if (!k || !n_a || !n_b || (k - 1) / n_a >= n_b)
		return NAN;
	low = order_of(b[0] - a[n_a - 1]);
	high = order_of(b[n_b - 1] - a[0]);
	while (low < high) {
		int64_t middle = (low & high) + ((low ^ high) >> 1);

		if (count_at_most(a, n_a, b, n_b, value_of(middle)) >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return value_of(low);
}

struct shift shift_sorted(const struct rank_null *null, const double *a, const double *b,
			  double level)
{
	size_t n_a = null->n_a, n_b = null->n_b, pairs = n_a * n_b, c;
	struct shift s;

	if (!pairs || !(level > 0 && level < 1))
		return undefined;
	c = rank_null_critical(null, (1 - level) / 2);
	s.interval.level = c ? level : 1 - 2 * rank_test_min_p(n_a, n_b);
	c = MAX(c, (size_t)1);
	s.interval.low = shift_kth_difference(a, n_a, b, n_b, c);
	s.interval.high = shift_kth_difference(a, n_a, b, n_b, pairs + 1 - c);
	s.estimate = (shift_kth_difference(a, n_a, b, n_b, (pairs + 1) / 2) +
		      shift_kth_difference(a, n_a, b, n_b, pairs / 2 + 1)) / 2;
	return s;
}

struct shift shift_of(const double *a, size_t n_a, const double *b, size_t n_b, double level)
{
	autofree double *sorted_a = NULL, *sorted_b = NULL;
	RANK_NULL_CLEANUP struct rank_null null = { 0 };

	if (!values_finite(a, n_a) || !values_finite(b, n_b))
		return undefined;
	sorted_a = values_sorted(a, n_a);
	sorted_b = values_sorted(b, n_b);
	rank_null_init(&null, n_a, n_b);
	return shift_sorted(&null, sorted_a, sorted_b, level);
}

struct shift shift_to_percent(struct shift logs)
{
	return (struct shift){
		.estimate = 100 * expm1(logs.estimate),
		.interval = {
			.low = 100 * expm1(logs.interval.low),
			.high = 100 * expm1(logs.interval.high),
			.level = logs.interval.level,
		},
	};
}

struct shift shift_percent(const double *a, size_t n_a, const double *b, size_t n_b,
			   double level)
{
	autofree double *logs_a = values_logs(a, n_a), *logs_b = values_logs(b, n_b);

	if (!logs_a || !logs_b)
		return undefined;
	return shift_to_percent(shift_of(logs_a, n_a, logs_b, n_b, level));
}
