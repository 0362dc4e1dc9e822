// SPDX-License-Identifier: GPL-2.0-or-later
// Likelihood h: how often values fall into few bins on either side, and levels of binary values.
#include "harness/search/histogram.h"

#include <math.h>

#include "harness/stats/summary.h"

#define BINARY_BINS 2 /* zeros and ones */

/* How many bins likelihood h has, and where they are parted: at the quantiles of an epoch's values.
 */
static size_t part_bins(const struct posterior *p, size_t epoch, double *room,
			double cut[HIST_BINS - 1])
{
	size_t n = posterior_values(p, -1, p->epochs.at[epoch], room);

	if (p->options.binary) {
		cut[0] = 0.5;
		return BINARY_BINS;
	}
	values_sort(room, n);
	for (size_t b = 0; b < HIST_BINS - 1; b++)
		cut[b] = values_quantile(room, n, (double)(b + 1) / HIST_BINS);
	return HIST_BINS;
}

void histogram_count(const struct posterior *p, size_t epoch, double *room)
{
	double cut[HIST_BINS - 1];
	size_t bins = part_bins(p, epoch, room, cut);

	for (size_t g = 0; g < p->groups.n; g++)
		if (p->groups.at[g].epochs > epoch)
			memset(p->groups.at[g].hist[epoch], 0, sizeof(p->groups.at[g].hist[epoch]));
	for (size_t i = 0; i < p->values.n; i++) {
		const struct post_value *v = &p->values.at[i];
		size_t bin = 0;

		if (v->epoch != p->epochs.at[epoch])
			continue;
		while (bin < bins - 1 && v->value > cut[bin])
			bin++;
		posterior_group(p, v->node)->hist[epoch][bin]++;
	}
}

/* The counts of an epoch's good and bad side under class k; k beyond: of one side. */
static void side_counts(const struct posterior *p, size_t k, size_t epoch, int ret[2][HIST_BINS])
{
	for (size_t g = 0; g < p->groups.n; g++) {
		bool bad = k < p->classes.n && posterior_is_bad(p, k, g);

		if (p->groups.at[g].epochs > epoch)
			for (size_t b = 0; b < HIST_BINS; b++)
				ret[bad][b] += p->groups.at[g].hist[epoch][b];
	}
}

double histogram_log(const struct posterior *p, size_t k)
{
	size_t bins = p->options.binary ? BINARY_BINS : HIST_BINS;
	double sum = 0;

	for (size_t e = 0; e < p->epochs.n; e++) {
		int counts[2][HIST_BINS] = {};

		side_counts(p, k, e, counts);
		sum += hist_side(counts[0], bins) + hist_side(counts[1], bins);
	}
	return sum;
}

/* The share of ones, by Jeffreys' prior. */
static struct level share_level(const struct posterior *p, const int *counts, double *ret_variance)
{
	double n = counts[0] + counts[1], share = (counts[1] + 0.5) / (n + 1);

	*ret_variance = share * (1 - share);
	return (struct level){
		.mean = (share - p->grid.origin) / p->grid.unit,
		.var = *ret_variance / (n + 2) / (p->grid.unit * p->grid.unit),
	};
}

void histogram_shares(const struct posterior *p, size_t k)
{
	struct post_class *class = &p->classes.at[k];
	int counts[2][HIST_BINS] = {};
	double good, bad;

	side_counts(p, k, p->current_epoch, counts);
	class->good = share_level(p, counts[0], &good);
	class->bad = share_level(p, counts[1], &bad);
	class->log_scale = log(sqrt((good + bad) / 2) / p->grid.unit / T_SCALE_TO_SIGMA);
}
