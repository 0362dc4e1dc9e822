// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Mann-Whitney test, exact with and without ties.
 *
 * The null distribution is that of the rank sum over all ways to share the observed midranks
 * between the two sides, so equal values need no correction. Above RANK_EXACT_PAIRS pairs a
 * normal approximation with tie and continuity correction takes over and `exact` is false.
 */
#ifndef STATS_RANKTEST_H
#define STATS_RANKTEST_H

#include <stdbool.h>
#include <stddef.h>

#define RANK_EXACT_PAIRS 10000	/* 100 boots a side */

struct rank_test {
	double u;		/* pairs in which b is above a, equal ones count one half */
	double p_less;		/* one-sided: b tends to be below a */
	double p_greater;	/* one-sided: b tends to be above a */
	double p;		/* two-sided: twice the smaller one, at most 1 */
	bool exact;
};

/* NaN or an empty side: all numbers NaN. Infinities rank like any value. */
struct rank_test rank_test(const double *a, size_t n_a, const double *b, size_t n_b);

/* The smallest one-sided p that these numbers of values can give: 1 / C(n_a + n_b, n_a). */
double rank_test_min_p(size_t n_a, size_t n_b);

/*
 * Fewest boots a side with which one of `tests` two-sided tests can come out at all:
 * 2 / C(2n, n) <= error / tests. 0 for an error that is not in 0..1.
 */
size_t rank_test_boots(double error, size_t tests);

/*
 * Without ties: the largest c with P(U < c) <= alpha, where U counts pairs; 0 if there is
 * none. The c-th smallest and c-th largest pair differences are then the limits of a shift
 * interval of level 1 - 2 alpha. *ret_tail = P(U < max(c, 1)).
 */
size_t rank_test_critical(size_t n_a, size_t n_b, double alpha, double *ret_tail);

#endif
