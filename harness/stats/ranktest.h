// SPDX-License-Identifier: GPL-2.0-or-later
// The Mann-Whitney test, exact with and without ties.

/*
 * The null distribution is that of the rank sum over all ways to share the observed midranks
 * between the two sides, so equal values need no correction. Above RANK_EXACT_PAIRS pairs a
 * normal approximation with tie and continuity correction takes over and `exact` is false.
 */
#pragma once

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
 * The distribution of U where no two values are equal. It depends on the numbers of values
 * alone, so one serves every test and interval of a table row.
 */
struct rank_null {
	size_t n_a, n_b;
	double *at_most; /* P(U <= u), u = 0 .. n_a n_b / 2; NULL above RANK_EXACT_PAIRS */
};

void rank_null_init(struct rank_null *null, size_t n_a, size_t n_b);
void rank_null_release(struct rank_null *null);
#define RANK_NULL_CLEANUP __attribute__((cleanup(rank_null_release)))

/* rank_test() with a distribution at hand, made for the same n_a and n_b. */
struct rank_test rank_test_with(const struct rank_null *null, const double *a, const double *b);

/*
 * The largest c with P(U < c) <= alpha, 0 if there is none: the c-th smallest and the c-th
 * largest pair difference limit a shift interval of level 1 - 2 alpha.
 */
size_t rank_null_critical(const struct rank_null *null, double alpha);
