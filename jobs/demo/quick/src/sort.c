#include "sort.h"

/* below this many keys insertion is faster than another partition */
#define SHORT_RUN 16

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

static void insertion_sort(uint32_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t key = keys[i];
		size_t j = i;

		for (; j > 0 && keys[j - 1] > key; j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
}

/* the median of three, left in the middle */
static uint32_t choose_pivot(uint32_t *keys, size_t n)
{
	uint32_t *low = keys, *mid = keys + n / 2, *high = keys + n - 1;

	if (*mid < *low)
		swap(mid, low);
	if (*high < *mid)
		swap(high, mid);
	if (*mid < *low)
		swap(mid, low);
	return *mid;
}

void sort_keys(uint32_t *keys, size_t n)
{
	while (n > SHORT_RUN) {
		uint32_t pivot = choose_pivot(keys, n);
		size_t i = 0, j = n - 1;

		for (;;) {
			while (keys[i] < pivot)
				i++;
			while (keys[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&keys[i++], &keys[j--]);
		}
		sort_keys(keys + j + 1, n - j - 1);
		n = j + 1;
	}
	insertion_sort(keys, n);
}
