// SPDX-License-Identifier: GPL-2.0-or-later
// Intervals of a mean and a median, and the stopping rule.
#include "harness/stats/interval.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"
#include "harness/stats/summary.h"

static const struct interval undefined = { NAN, NAN, 0 };

static bool level_valid(double level)
{
	return level > 0 && level < 1;
}

bool interval_reached(const struct interval *i, double level)
{
	return i->level >= level && !isnan(i->low) && !isnan(i->high);
}

bool interval_within(const struct interval *i, double low, double high)
{
	return i->low >= low && i->high <= high;
}

bool interval_excludes(const struct interval *i, double point)
{
	return i->low > point || i->high < point;
}

double interval_width_pct(const struct interval *i, double centre)
{
	double width = i->high - i->low;

	return width == 0 ? 0 : 100 * width / fabs(centre);
}

struct interval interval_t(size_t n, double mean, double sd, double level)
{
	double half;

	if (n < 2 || !isfinite(mean) || !isfinite(sd) || !level_valid(level))
		return undefined;
	half = dist_t_quantile((1 + level) / 2, (double)(n - 1)) * sd / sqrt((double)n);
	return (struct interval){ mean - half, mean + half, level };
}

struct interval interval_always_valid(size_t n, double mean, double sd, double level)
{
	double count = (double)n, r = 1 + count, k, half;

	if (!n || !isfinite(mean) || !level_valid(level))
		return undefined;
	k = pow(sqrt(r) / (1 - level), 2 / count);
	if (n < 2 || k >= r)
		return (struct interval){ -INFINITY, INFINITY, level };
	if (!isfinite(sd))
		return undefined;
	half = sd / sqrt(count) * sqrt((count - 1) * (k - 1) / (1 - k / r));
	return (struct interval){ mean - half, mean + half, level };
}

struct interval interval_median(const double *v, size_t n, double level)
{
	autofree double *sorted = values_sorted(v, n);
	double alpha = (1 - level) / 2;
	size_t k;

	if (!n || isnan(sorted[n - 1]) || !level_valid(level))
		return undefined;
	/* The median lies below the k-th value with P(Binomial(n, 1/2) < k) < alpha. */
	k = (size_t)dist_binomial_quantile(alpha, (double)n, 0.5);
	if (!k)
		return (struct interval){ sorted[0], sorted[n - 1], 1 - pow(0.5, (double)n - 1) };
	return (struct interval){ sorted[k - 1], sorted[n - k], level };
}

bool stats_converged(size_t n, double mean, double sd, const struct stats_goal *goal)
{
	struct interval i = interval_t(n, mean, sd, goal->level);
	double wanted = fmax(goal->width_pct / 100 * fabs(mean), goal->floor);

	return i.high - i.low <= wanted;
}
