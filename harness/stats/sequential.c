// SPDX-License-Identifier: GPL-2.0-or-later
// An e-value that may be looked at after every pair.
#include "harness/stats/sequential.h"

#include <math.h>

void sequential_add(struct sequential *s, double difference)
{
	if (!isfinite(difference))
		return;
	s->n++;
	s->signs += difference != 0;
	s->sum += difference;
	s->sum_squares += difference * difference;
}

double sequential_log_e(const struct sequential *s)
{
	double n = (double)s->n, r = 1 + n, share;

	share = s->sum_squares > 0 ? s->sum * s->sum / (r * s->sum_squares) : 0;
	return -log(r) / 2 - n / 2 * log1p(-share);
}

double sequential_p(const struct sequential *s)
{
	double proved_by_signs = exp2(1 - (double)s->signs);

	return fmin(1, fmax(proved_by_signs, exp(-sequential_log_e(s))));
}

bool sequential_decided(const struct sequential *s, double error, size_t tests)
{
	return sequential_p(s) < error / (double)tests;
}
