// SPDX-License-Identifier: GPL-2.0-or-later
// Rank scan: the split of the last nights whose two sides differ most in rank.
#include "harness/stats/changepoint.h"

#include <math.h>

#include "harness/base/util.h"
#include "harness/stats/summary.h"

struct night {
	double value;
	double rank;
	size_t index;	/* in the caller's series */
};

/* The last CHANGE_WINDOW nights that have a value, oldest first; returns how many. */
static size_t fill_window(struct night *window, const double *values, size_t n)
{
	size_t have = 0, start = n, m = 0;

	while (start > 0 && have < CHANGE_WINDOW)
		have += !isnan(values[--start]);
	for (size_t i = start; i < n; i++)
		if (!isnan(values[i]))
			window[m++] = (struct night){ .value = values[i], .index = i };
	return m;
}

static void rank_window(struct night *window, size_t m)
{
	for (size_t i = 0; i < m; i++) {
		double rank = 0.5;

		for (size_t j = 0; j < m; j++) {
			rank += window[j].value < window[i].value;
			rank += (window[j].value == window[i].value) / 2.0;
		}
		window[i].rank = rank;
	}
}

static double median_between(const struct night *window, size_t from, size_t to)
{
	double values[CHANGE_WINDOW];

	for (size_t i = from; i < to; i++)
		values[i - from] = window[i].value;
	return values_median(values, to - from);
}

struct change change_scan(const double *values, size_t n)
{
	struct night window[CHANGE_WINDOW];
	size_t m = fill_window(window, values, n), split = 0;
	struct change c = { .nights = m, .before = NAN, .after = NAN };
	double rank_sum = 0;

	rank_window(window, m);
	for (size_t t = 1; t + CHANGE_MIN_SIDE <= m; t++) {
		double left = (double)t, right = (double)(m - t), all = (double)m + 1, z;

		rank_sum += window[t - 1].rank;
		z = fabs(rank_sum - left * all / 2) / sqrt(left * right * all / 12);
		if (t >= CHANGE_MIN_SIDE && z > c.z) {
			c.z = z;
			split = t;
		}
	}
	if (!split)
		return c;
	c.state = c.z >= CHANGE_ALARM ? CHANGE_ALARMED :
		  c.z >= CHANGE_WATCH ? CHANGE_WATCHED : CHANGE_NONE;
	c.at = window[split].index;
	c.last_before = window[split - 1].index;
	c.before = median_between(window, 0, split);
	c.after = median_between(window, split, m);
	return c;
}
