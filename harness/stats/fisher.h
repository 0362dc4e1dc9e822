// SPDX-License-Identifier: GPL-2.0-or-later
// Fisher's exact test on failures of two sides: fail_a of runs_a against fail_b of runs_b.
#pragma once

#include <stddef.h>

struct fisher_test {
	double p;		/* two-sided: all tables no more probable than this one */
	double p_greater;	/* one-sided: b fails more often */
};

/* More failures than runs: NaN. No runs on a side: 1. */
struct fisher_test fisher_test(size_t fail_a, size_t runs_a, size_t fail_b, size_t runs_b);
