// SPDX-License-Identifier: GPL-2.0-or-later
// EM of two normals, started from the split that leaves the least variance inside its halves.
#include "harness/stats/modes.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/summary.h"

enum { EM_STEPS = 200 };

static const double bic_gain = 6, ashman_limit = 3, em_gain = 1e-3;

static double minor_limit(size_t n)
{
	return fmax(2.5, 0.1 * (double)n);
}

/* Without the factor 1 / sqrt(2 pi), here as in fit_one(). */
static double density(const struct mode *m, double x)
{
	double z = (x - m->centre) / m->sd;

	return m->share / m->sd * exp(-z * z / 2);
}

/* Refits one mode to values that belong to it with the given weights. */
static void fit(struct mode *m, const double *v, const double *weight, size_t n, double floor)
{
	double total = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		total += weight[i];
		sum += weight[i] * v[i];
	}
	m->share = total / (double)n;
	m->centre = sum / total;
	for (size_t i = 0; i < n; i++)
		squares += weight[i] * (v[i] - m->centre) * (v[i] - m->centre);
	m->sd = fmax(sqrt(squares / total), floor);
}

/* The best place to cut sorted values in two so that each part could be a mode. */
static size_t best_split(const double *sorted, size_t n)
{
	size_t smallest = (size_t)ceil(minor_limit(n)), best = smallest;
	double sum = 0, mean = values_mean(sorted, n), most = -1;

	for (size_t i = 0; i + smallest < n; i++) {
		double left = (double)(i + 1), right = (double)n - left, between;

		sum += sorted[i] - mean;
		between = sum * sum * (1 / left + 1 / right);
		if (i + 1 >= smallest && between > most) {
			most = between;
			best = i + 1;
		}
	}
	return best;
}

/* One E and M step; returns the log likelihood before it. */
static double em_step(struct modes *m, const double *v, double *in_low, double *in_high, size_t n,
		      double floor)
{
	double log_likelihood = 0;

	for (size_t i = 0; i < n; i++) {
		double low = density(&m->low, v[i]), high = density(&m->high, v[i]);
		double both = fmax(low + high, 1e-300);

		in_low[i] = low / both;
		in_high[i] = high / both;
		log_likelihood += log(both);
	}
	fit(&m->low, v, in_low, n, floor);
	fit(&m->high, v, in_high, n, floor);
	return log_likelihood;
}

static double fit_two(struct modes *m, const double *sorted, size_t n, double floor)
{
	autofree double *in_low = xcalloc(n, sizeof(double)), *in_high = xcalloc(n, sizeof(double));
	size_t split = best_split(sorted, n);
	double now = -INFINITY, before;

	for (size_t i = 0; i < n; i++) {
		in_low[i] = i < split;
		in_high[i] = i >= split;
	}
	fit(&m->low, sorted, in_low, n, floor);
	fit(&m->high, sorted, in_high, n, floor);
	for (int step = 0; step < EM_STEPS; step++) {
		before = now;
		now = em_step(m, sorted, in_low, in_high, n, floor);
		if (!(now - before > em_gain))
			break;
	}
	return now;
}

static double fit_one(const double *v, size_t n, double floor)
{
	double count = (double)n, mean = values_mean(v, n), sum = 0, sd;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	sd = fmax(sqrt(sum / count), floor);
	return -count * log(sd) - sum / (2 * sd * sd);
}

struct modes modes_screen(const double *v, size_t n)
{
	struct mode unknown = { NAN, NAN, NAN };
	struct modes m = { false, unknown, unknown, NAN, NAN };
	autofree double *sorted = NULL;
	double floor;

	if (n < MODES_MIN_VALUES || !values_finite(v, n))
		return m;
	sorted = values_sorted(v, n);
	floor = values_resolution(sorted, n) / 2;
	if (floor == 0)
		return m;
	m.dbic = 2 * (fit_two(&m, sorted, n, floor) - fit_one(sorted, n, floor)) -
		 3 * log((double)n);
	if (m.low.centre > m.high.centre) {
		struct mode t = m.low;

		m.low = m.high;
		m.high = t;
	}
	m.ashman_d = M_SQRT2 * (m.high.centre - m.low.centre) / hypot(m.low.sd, m.high.sd);
	m.two = m.dbic > bic_gain && m.ashman_d >= ashman_limit &&
		fmin(m.low.share, m.high.share) * (double)n >= minor_limit(n);
	return m;
}
