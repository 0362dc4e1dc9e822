// SPDX-License-Identifier: GPL-2.0-or-later
// Holm and Benjamini-Hochberg: walk the sorted p values from one end.
#include "harness/stats/multiple.h"

#include <math.h>

#include "harness/base/util.h"

struct place {
	double p;
	size_t at;
};

static int compare_places(const void *pa, const void *pb)
{
	double a = ((const struct place *)pa)->p, b = ((const struct place *)pb)->p;

	return (a > b) - (a < b);
}

/* The p values that are numbers, ascending; the caller frees them. */
static struct place *sort_places(const double *p, size_t n, size_t *ret_n)
{
	struct place *places = xcalloc(MAX(n, (size_t)1), sizeof(*places));

	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			places[(*ret_n)++] = (struct place){ p[i], i };
	qsort(places, *ret_n, sizeof(*places), compare_places);
	return places;
}

void holm_adjust(const double *p, size_t n, double *ret)
{
	size_t m;
	autofree struct place *places = sort_places(p, n, &m);
	double largest = 0;

	memmove(ret, p, n * sizeof(*ret));
	for (size_t i = 0; i < m; i++) {
		largest = fmax(largest, places[i].p * (double)(m - i));
		ret[places[i].at] = fmin(1, largest);
	}
}

void bh_adjust(const double *p, size_t n, double *ret)
{
	size_t m;
	autofree struct place *places = sort_places(p, n, &m);
	double smallest = 1;

	memmove(ret, p, n * sizeof(*ret));
	for (size_t i = m; i-- > 0;) {
		smallest = fmin(smallest, places[i].p * (double)m / (double)(i + 1));
		ret[places[i].at] = smallest;
	}
}
