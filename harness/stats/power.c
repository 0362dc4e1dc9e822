// SPDX-License-Identifier: GPL-2.0-or-later
// Planning: boots for a change, change for a number of boots.
#include "harness/stats/power.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"
#include "harness/stats/ranktest.h"

/* The rank test needs pi / 3 times the boots of a t test on normal values. */
static const double efficiency = 3 / M_PI;

double power_detectable(double sigma, size_t n, double error, double power)
{
	double df = 2 * (double)n - 2, quantiles;

	if (!(sigma >= 0) || !(error > 0 && error < 1) || !(power > 0 && power < 1))
		return NAN;
	if (n < MAX(rank_test_boots(error, 1), (size_t)2))
		return INFINITY;
	quantiles = dist_t_quantile(1 - error / 2, df) + dist_t_quantile(power, df);
	return sigma * quantiles * sqrt(2 / (((double)n - 1) * efficiency));
}

size_t power_boots(double delta, double sigma, double error, double power)
{
	size_t low = MAX(rank_test_boots(error, 1), (size_t)2), high = POWER_MAX_BOOTS;

	delta = fabs(delta);
	if (!(power_detectable(sigma, high, error, power) <= delta) || delta == 0)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (power_detectable(sigma, middle, error, power) <= delta)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
