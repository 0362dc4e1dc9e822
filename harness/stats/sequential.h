// SPDX-License-Identifier: GPL-2.0-or-later
// A comparison that may be looked at after every pair: an e-value on pair differences.

/*
 * Pairs are one boot of each side, interleaved. E = r^(-1/2) (1 - S^2 / (r V))^(-n/2) with
 * r = 1 + n, S and V the sum and the sum of squares of the n differences: a t test against
 * a normal mixture of effects (g = 1). Under "no difference" E ever exceeds 1/error with
 * probability at most error, whenever one stops.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Starts as { 0 }. */
struct sequential {
	size_t n;
	size_t signs;	/* differences that are not 0 */
	double sum;
	double sum_squares;
};

/* difference = value of b - value of a (or of their logarithms). Not finite: ignored. */
void sequential_add(struct sequential *s, double difference);

double sequential_log_e(const struct sequential *s);
/*
 * min(1, 1 / E), but never below 2^(1 - signs), which is all that the signs of the differences
 * can prove: E takes the differences for normal, and those of a rounded metric are not.
 */
double sequential_p(const struct sequential *s);
/* True once p < error / tests. */
bool sequential_decided(const struct sequential *s, double error, size_t tests);
