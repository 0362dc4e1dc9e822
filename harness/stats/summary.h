// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptive numbers of one array of values.

/*
 * No values give n = 0 and NaN, never 0. A NaN among the values makes every result NaN:
 * missing values are left out by the caller, not passed in. None of these changes its input
 * except values_sort().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A median absolute deviation times this estimates the standard deviation of a normal. */
#define MAD_TO_SIGMA 1.4826

struct summary {
	size_t n;
	double mean;
	double sd;	/* divisor n - 1; NaN below two values */
	double median;
	double mad;	/* median of |value - median|, not scaled */
	double min, max;
};

struct summary summary_of(const double *v, size_t n);

/* Ascending; NaNs go to the end. */
void values_sort(double *v, size_t n);
/* A sorted copy that the caller frees. */
double *values_sorted(const double *v, size_t n);
bool values_finite(const double *v, size_t n);

double values_mean(const double *v, size_t n);
double values_sd(const double *v, size_t n);
double values_median(const double *v, size_t n);
double values_mad(const double *v, size_t n);
/* Linear between order statistics (R's type 7); p in 0..1. */
double values_quantile(const double *v, size_t n, double p);
/* Harmonic and geometric mean: NaN as soon as one value is zero or negative. */
double values_hmean(const double *v, size_t n);
double values_gmean(const double *v, size_t n);
/* The smallest difference between two values that are not equal; 0 where all are equal. */
double values_resolution(const double *v, size_t n);

/* Logarithms, to be freed by the caller; NULL as soon as one value is zero, negative, not finite. */
double *values_logs(const double *v, size_t n);

/*
 * The standard deviation that two sides share, each around its own median, little moved by
 * outliers: 1.4826 MAD n / (n - 1.2) of all residuals, but no less than rounding alone makes,
 * resolution / sqrt(12). 0 where both sides are constant.
 */
double values_pooled_sigma(const double *a, size_t n_a, const double *b, size_t n_b);

/* Mean and variance of a stream, without keeping it (Welford 1962). Starts as { 0 }. */
struct welford {
	size_t n;
	double mean;
	double m2;	/* sum of squared distances from the mean */
};

void welford_add(struct welford *w, double value);
double welford_mean(const struct welford *w);	/* NaN at n = 0 */
double welford_sd(const struct welford *w);	/* NaN below two values */
