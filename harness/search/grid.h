// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers below the posterior: a grid of levels and scales, and likelihoods as tables over it.
#pragma once

#include <stddef.h>

#define GRID_LEVELS 112
#define GRID_SCALES 12
#define GRID_CELLS  (GRID_LEVELS * GRID_SCALES)

/*
 * Values are standardised, x = (value - origin) / unit, so that float tables serve any metric. The
 * prior is flat over levels (weight sums to 1: cells may be of unequal width) and over ln scale,
 * with a normal bump around a noise that is known from before.
 */
struct grid {
	double origin, unit;
	float level[GRID_LEVELS];
	float weight[GRID_LEVELS];
	double scale[GRID_SCALES];
	double log_prior[GRID_SCALES];
};

/* Where the levels are expected, in the metric's unit. */
struct grid_shape {
	double low, high;   /* the lower and the upper median of the two ends */
	double sigma;	    /* scale of one value, > 0 */
	double half_width;  /* the grid goes so many sigma beyond low and high */
	double scale_below; /* the smallest scale is sigma / scale_below */
	double scale_above;
	double known_sigma; /* of this machine, in the metric's unit; 0 unknown */
};
void grid_init(struct grid *g, const struct grid_shape *shape);

/* Adds ln t_nu((value - level) / scale) to each cell of table, nu = 4. */
void grid_add_value(const struct grid *g, double value, float *table);
void grid_add(float *to, const float *table);

/* One side (good or bad) at one scale: ln of its marginal likelihood, and its level. */
struct grid_side {
	double log_sum;
	double mean, var;
};
/* Sums over the levels of a row (GRID_LEVELS cells of a table at one scale). */
struct grid_side grid_row(const struct grid *g, const float *row);

/* ln of the Dirichlet-multinomial likelihood of counts in so many bins, 0.5 each (likelihood h). */
#define HIST_BINS 4
double hist_side(const int *counts, size_t bins);

/* A mixture of normals; weights sum to 1. */
#define MIXTURE_MAX 32
struct mixture {
	size_t n;
	double p[MIXTURE_MAX], mean[MIXTURE_MAX], var[MIXTURE_MAX];
};
/*
 * What an observation tells of which component it came from, in nats: the mean over the components
 * of ln(density of the component / density of the mixture), each by Gauss-Hermite quadrature over
 * that component's own width, so that a narrow one beside a wide one is seen. Never above the
 * entropy of the weights.
 */
double mixture_information(const struct mixture *m);
