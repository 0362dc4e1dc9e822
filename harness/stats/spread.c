// SPDX-License-Identifier: GPL-2.0-or-later
// Bonett's interval for a ratio of standard deviations.
#include "harness/stats/spread.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"
#include "harness/stats/summary.h"

/* The mean without the share 1 / (2 sqrt(n - 4)) of values at either end. */
static double trimmed_mean(const double *v, size_t n)
{
	autofree double *sorted = values_sorted(v, n);
	size_t cut = (size_t)((double)n / (2 * sqrt((double)n - 4)));

	cut = MIN(cut, (n - 1) / 2);
	return values_mean(sorted + cut, n - 2 * cut);
}

static double fourth_powers(const double *v, size_t n)
{
	double centre = trimmed_mean(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pow(v[i] - centre, 4);
	return sum;
}

struct spread spread_compare(const double *a, size_t n_a, const double *b, size_t n_b, double level)
{
	double count_a = (double)n_a, count_b = (double)n_b, sd_a, sd_b, kurtosis, error, z, centre;

	if (n_a < SPREAD_MIN_VALUES || n_b < SPREAD_MIN_VALUES || !values_finite(a, n_a) ||
	    !values_finite(b, n_b) || !(level > 0 && level < 1))
		return (struct spread){NAN, {NAN, NAN, 0}};
	sd_a = values_sd(a, n_a);
	sd_b = values_sd(b, n_b);
	if (sd_a == 0)
		return (struct spread){NAN, {NAN, NAN, 0}};
	kurtosis = (count_a + count_b) * (fourth_powers(a, n_a) + fourth_powers(b, n_b)) /
		   pow((count_a - 1) * sd_a * sd_a + (count_b - 1) * sd_b * sd_b, 2);
	error = sqrt((kurtosis - (count_a - 3) / count_a) / (count_a - 1) +
		     (kurtosis - (count_b - 3) / count_b) / (count_b - 1));
	z = dist_normal_quantile((1 + level) / 2);
	/* The factor that makes unequal numbers of values fair: Bonett's c. */
	centre = log(sd_b / sd_a) + log(count_b / (count_b - z) * (count_a - z) / count_a) / 2;
	return (struct spread){
		.ratio = sd_b / sd_a,
		.interval = {exp(centre - z * error / 2), exp(centre + z * error / 2), level},
	};
}

const char *spread_verdict(const struct spread *s)
{
	if (isnan(s->interval.low) || isnan(s->interval.high))
		return NULL;
	return s->interval.low > 1 ? "wider" : s->interval.high < 1 ? "narrower" : "same";
}
