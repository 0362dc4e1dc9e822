// SPDX-License-Identifier: GPL-2.0-or-later
// Fisher's exact test of two failure counts.
#include "harness/stats/fisher.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"

struct fisher_test fisher_test(size_t fail_a, size_t runs_a, size_t fail_b, size_t runs_b)
{
	size_t fails = fail_a + fail_b;
	size_t first = fails > runs_a ? fails - runs_a : 0, last = MIN(fails, runs_b);
	struct fisher_test f = { 0 };
	double seen;

	if (fail_a > runs_a || fail_b > runs_b)
		return (struct fisher_test){ NAN, NAN };
	seen = dist_hyper_pmf((double)fail_b, (double)runs_b, (double)runs_a, (double)fails);
	for (size_t x = first; x <= last; x++) {
		double p = dist_hyper_pmf((double)x, (double)runs_b, (double)runs_a, (double)fails);

		/* Tables as probable as this one must count in spite of rounding. */
		if (p <= seen * (1 + 1e-7))
			f.p += p;
		if (x >= fail_b)
			f.p_greater += p;
	}
	return (struct fisher_test){ fmin(1, f.p), fmin(1, f.p_greater) };
}
