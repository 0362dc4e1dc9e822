// SPDX-License-Identifier: GPL-2.0-or-later
// A seeded random generator (xoshiro256**), so that every order and simulation can be repeated.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed); /* splitmix64 fills the state */
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* unbiased, n > 0 */
double rng_uniform(struct rng *r);	       /* in (0, 1) */
double rng_normal(struct rng *r);
double rng_exp(struct rng *r);
void rng_shuffle(struct rng *r, size_t *index, size_t n);
