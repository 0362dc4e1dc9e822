#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "keys.h"
#include "sort.h"
#include "table.h"

#define ROUNDS 25

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void check_sorted(const uint32_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (keys[i - 1] > keys[i]) {
			fprintf(stderr, "not sorted at %zu\n", i);
			exit(1);
		}
	}
}

/* seconds of one round of our work */
static double time_ours(uint32_t *keys, size_t n)
{
	double start;

	keys_fill(keys, n, 2463534242u);
	start = cpu_seconds();
	if (!table_distinct(keys, n))
		exit(1);
	sort_keys(keys, n);
	return cpu_seconds() - start;
}

/* and of what the C library needs to sort the same keys */
static double time_qsort(uint32_t *keys, size_t n)
{
	double start;

	keys_fill(keys, n, 2463534242u);
	start = cpu_seconds();
	qsort(keys, n, sizeof(*keys), compare);
	return cpu_seconds() - start;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	uint32_t *keys = malloc(n * sizeof(*keys));
	double ours = 0, theirs = 0;

	if (!keys || !n)
		return 1;
	/* in turn, so that both see the same machine */
	for (int i = 0; i < ROUNDS; i++) {
		theirs += time_qsort(keys, n);
		ours += time_ours(keys, n);
		check_sorted(keys, n);
	}
	printf("rate=%.0f\n", 1000 * theirs / ours);
	free(keys);
	return 0;
}
