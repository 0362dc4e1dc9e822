// SPDX-License-Identifier: GPL-2.0-or-later
// Means, medians and their spread.
#include "harness/stats/summary.h"

#include <math.h>
#include <stdlib.h>

#include "harness/base/util.h"

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a > b) - (a < b);
}

void values_sort(double *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof(*v), compare_doubles);
}

double *values_sorted(const double *v, size_t n)
{
	double *copy = xmalloc(MAX(n, (size_t)1) * sizeof(*copy));

	if (n)
		memcpy(copy, v, n * sizeof(*copy));
	values_sort(copy, n);
	return copy;
}

bool values_finite(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return false;
	return true;
}

void welford_add(struct welford *w, double value)
{
	double delta = value - w->mean;

	w->n++;
	w->mean += delta / (double)w->n;
	w->m2 += delta * (value - w->mean);
}

double welford_mean(const struct welford *w)
{
	return w->n ? w->mean : NAN;
}

double welford_sd(const struct welford *w)
{
	return w->n > 1 ? sqrt(w->m2 / (double)(w->n - 1)) : NAN;
}

static struct welford welford_of(const double *v, size_t n)
{
	struct welford w = { 0 };

	for (size_t i = 0; i < n; i++)
		welford_add(&w, v[i]);
	return w;
}

double values_mean(const double *v, size_t n)
{
	struct welford w = welford_of(v, n);

	return welford_mean(&w);
}

double values_sd(const double *v, size_t n)
{
	struct welford w = welford_of(v, n);

	return welford_sd(&w);
}

/* sorted puts NaNs last, so looking at the last value finds any. */
static double sorted_quantile(const double *sorted, size_t n, double p)
{
	double place, part, low, high;
	size_t below;

	if (!n || isnan(sorted[n - 1]) || !(p >= 0 && p <= 1))
		return NAN;
	place = p * (double)(n - 1);
	below = (size_t)place;
	part = place - (double)below;
	low = sorted[below];
	high = sorted[MIN(below + 1, n - 1)];
	return part == 0 || low == high ? low : low + part * (high - low);
}

static double sorted_mad(const double *sorted, size_t n, double median)
{
	autofree double *away = values_sorted(sorted, n);

	for (size_t i = 0; i < n; i++)
		away[i] = fabs(sorted[i] - median);
	values_sort(away, n);
	return sorted_quantile(away, n, 0.5);
}

double values_quantile(const double *v, size_t n, double p)
{
	autofree double *sorted = values_sorted(v, n);

	return sorted_quantile(sorted, n, p);
}

double values_median(const double *v, size_t n)
{
	return values_quantile(v, n, 0.5);
}

double values_mad(const double *v, size_t n)
{
	autofree double *sorted = values_sorted(v, n);

	return sorted_mad(sorted, n, sorted_quantile(sorted, n, 0.5));
}

double values_hmean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(v[i] > 0))
			return NAN;
		sum += 1 / v[i];
	}
	return n ? (double)n / sum : NAN;
}

double values_gmean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(v[i] > 0))
			return NAN;
		sum += log(v[i]);
	}
	return n ? exp(sum / (double)n) : NAN;
}

double values_resolution(const double *v, size_t n)
{
	autofree double *sorted = values_sorted(v, n);
	double smallest = 0;

	if (n && isnan(sorted[n - 1]))
		return NAN;
	for (size_t i = 1; i < n; i++) {
		double gap = sorted[i] - sorted[i - 1];

		if (gap > 0 && (smallest == 0 || gap < smallest))
			smallest = gap;
	}
	return smallest;
}

double *values_logs(const double *v, size_t n)
{
	autofree double *logs = xcalloc(MAX(n, (size_t)1), sizeof(*logs));

	for (size_t i = 0; i < n; i++) {
		if (!(v[i] > 0) || !isfinite(v[i]))
			return NULL;
		logs[i] = log(v[i]);
	}
	return take_ptr(&logs);
}

static bool constant(const double *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return false;
	return true;
}

double values_pooled_sigma(const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t n = n_a + n_b;
	autofree double *all = xcalloc(MAX(n, (size_t)1), sizeof(*all));
	double median_a = values_median(a, n_a), median_b = values_median(b, n_b), rounding;

	if (n < 2)
		return NAN;
	if (constant(a, n_a) && constant(b, n_b))
		return 0;
	memcpy(all, a, n_a * sizeof(*all));
	memcpy(all + n_a, b, n_b * sizeof(*all));
	rounding = values_resolution(all, n) / sqrt(12);
	for (size_t i = 0; i < n; i++)
		all[i] = fabs(all[i] - (i < n_a ? median_a : median_b));
	return fmax(MAD_TO_SIGMA * values_median(all, n) * (double)n / ((double)n - 1.2), rounding);
}

struct summary summary_of(const double *v, size_t n)
{
	autofree double *sorted = values_sorted(v, n);
	struct welford w = welford_of(v, n);
	bool usable = n && !isnan(sorted[n - 1]);
	double median = sorted_quantile(sorted, n, 0.5);

	return (struct summary){
		.n = n,
		.mean = welford_mean(&w),
		.sd = welford_sd(&w),
		.median = median,
		.mad = sorted_mad(sorted, n, median),
		.min = usable ? sorted[0] : NAN,
		.max = usable ? sorted[n - 1] : NAN,
	};
}
