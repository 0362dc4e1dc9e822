// SPDX-License-Identifier: GPL-2.0-or-later
// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
#include "harness/base/rng.h"

#include <math.h>

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		r->s[i] = z ^ z >> 31;
	}
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	/* Numbers under 2^64 mod n are thrown away, so that every remainder is equally likely. */
	uint64_t threshold = -n % n, x;

	do
		x = rng_next(r);
	while (x < threshold);
	return x % n;
}

double rng_uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 12) + 0.5) * 0x1p-52;
}

double rng_normal(struct rng *r)
{
	/* Box and Muller 1958; the second value is not kept, so that the state is r alone. */
	double radius = sqrt(-2 * log(rng_uniform(r)));

	return radius * cos(2 * M_PI * rng_uniform(r));
}

double rng_exp(struct rng *r)
{
	return -log(rng_uniform(r));
}

void rng_shuffle(struct rng *r, size_t *index, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = rng_below(r, i), t = index[i - 1];

		index[i - 1] = index[j];
		index[j] = t;
	}
}
