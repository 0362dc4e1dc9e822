// SPDX-License-Identifier: GPL-2.0-or-later
// Two one-sided tests, as an interval within a margin.
#include "harness/stats/equivalence.h"

#include <math.h>

#include "harness/stats/dist.h"
#include "harness/stats/power.h"
#include "harness/stats/shift.h"

static bool within(const struct shift *s, double margin, double alpha)
{
	return interval_reached(&s->interval, 1 - 2 * alpha) &&
	       interval_within(&s->interval, -margin, margin);
}

bool equivalence_shown(const double *a, size_t n_a, const double *b, size_t n_b,
		       double margin, double alpha)
{
	struct shift s = shift_of(a, n_a, b, n_b, 1 - 2 * alpha);

	return within(&s, margin, alpha);
}

bool equivalence_shown_percent(const double *a, size_t n_a, const double *b, size_t n_b,
			       double margin_pct, double alpha)
{
	struct shift s = shift_percent(a, n_a, b, n_b, 1 - 2 * alpha);

	return within(&s, margin_pct, alpha);
}

size_t equivalence_boots(double margin, double sigma, double alpha, double power)
{
	double z = dist_normal_quantile(1 - alpha) + dist_normal_quantile((1 + power) / 2);
	double n = ceil(2 * pow(z * sigma / margin, 2));

	return n >= 0 && n <= POWER_MAX_BOOTS ? (size_t)fmax(n, 2) : 0;
}
