#include "keys.h"

/* xorshift: good enough to make every round the same on every machine */
static uint32_t next_key(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

void keys_fill(uint32_t *keys, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = next_key(seed);
		keys[i] = seed;
	}
}
