// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of likelihoods over levels and scales, and the sums over them.
#include "harness/search/grid.h"

#include <math.h>
#include <string.h>

#include "harness/base/util.h"
#include "harness/stats/dist.h"

#define NU		   4.0 /* degrees of freedom: one-sided outliers of 2% then cost next to nothing */
#define KNOWN_SIGMA_SPREAD 0.2 /* of ln sigma, where the machine's noise is known */
#define LANES		   4
#define QUADRATURE	   (2 * LANES) /* points for each component of a mixture */

typedef float vfloat __attribute__((vector_size(4 * LANES)));
/* the same, wherever it lies in an array of float */
typedef float vfloat_in_memory __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int vint __attribute__((vector_size(4 * LANES)));

/* Levels beyond this many sigma between the ends are laid out in two windows and a thin bridge. */
#define WIDE_GAP      14.0
#define BRIDGE_LEVELS 16

/* n levels from first to last; each stands for the width around it. */
static void lay_levels(struct grid *g, size_t at, size_t n, double first, double last, bool open)
{
	double step = (last - first) / (double)(open ? n + 1 : n - 1);

	for (size_t i = 0; i < n; i++) {
		g->level[at + i] = (float)(first + step * (double)(open ? i + 1 : i));
		g->weight[at + i] = (float)step;
	}
}

static void grid_levels(struct grid *g, double gap, double half)
{
	const size_t window = (GRID_LEVELS - BRIDGE_LEVELS) / 2;
	double sum = 0;

	if (gap <= WIDE_GAP || gap <= 2 * half) {
		lay_levels(g, 0, GRID_LEVELS, -half, gap + half, false);
	} else {
		lay_levels(g, 0, window, -half, half, false);
		lay_levels(g, window, BRIDGE_LEVELS, half, gap - half, true);
		lay_levels(g, window + BRIDGE_LEVELS, window, gap - half, gap + half, false);
	}
	for (size_t i = 0; i < GRID_LEVELS; i++)
		sum += g->weight[i];
	for (size_t i = 0; i < GRID_LEVELS; i++)
		g->weight[i] /= (float)sum;
}

void grid_init(struct grid *g, const struct grid_shape *shape)
{
	g->origin = shape->low;
	g->unit = shape->sigma;
	grid_levels(g, (shape->high - shape->low) / shape->sigma, shape->half_width);

	double low = -log(shape->scale_below), high = log(shape->scale_above);

	for (size_t i = 0; i < GRID_SCALES; i++) {
		double ln = low + (high - low) * (double)i / (GRID_SCALES - 1);

		g->scale[i] = exp(ln);
		g->log_prior[i] = 0;
		if (shape->known_sigma > 0) {
			double off =
				(ln - log(shape->known_sigma / shape->sigma)) / KNOWN_SIGMA_SPREAD;

			g->log_prior[i] = -off * off / 2;
		}
	}
}

void grid_add_value(const struct grid *g, double value, float *table)
{
	double x = (value - g->origin) / g->unit;

	for (size_t s = 0; s < GRID_SCALES; s++) {
		float ln_scale = (float)log(g->scale[s]), at = (float)x;
		float k = (float)(1 / (NU * g->scale[s] * g->scale[s]));
		float *row = table + s * GRID_LEVELS;

		for (size_t i = 0; i < GRID_LEVELS; i++) {
			float off = at - g->level[i];

			row[i] -= ln_scale + (float)((NU + 1) / 2) * logf(1 + off * off * k);
		}
	}
}

void grid_add(float *to, const float *table)
{
	for (size_t i = 0; i < GRID_CELLS; i++)
		to[i] += table[i];
}

/* e^x for x <= 0 to seven digits: 2^n by the exponent bits, the rest by a polynomial on [-1/2,
 * 1/2]. */
static inline vfloat exp_lanes(vfloat x)
{
	vint low = x < -80.0f;
	vfloat t = (vfloat)((vint)(x * 1.44269504f) & ~low);
	vint n = __builtin_convertvector(t - 0.5f, vint);
	vfloat f = (t - __builtin_convertvector(n, vfloat)) * 0.693147181f;
	vfloat e =
		1 + f * (1 + f * (1.0f / 2 +
				  f * (1.0f / 6 + f * (1.0f / 24 + f * (1.0f / 120 + f / 720)))));
	vint bits = (vint)e + (n << 23);

	return (vfloat)(bits & ~low);
}

static inline float sum_lanes(vfloat v)
{
	return (v[0] + v[1]) + (v[2] + v[3]);
}

static float row_max(const float *row)
{
	float max = row[0];

	for (size_t i = 1; i < GRID_LEVELS; i++)
		max = row[i] > max ? row[i] : max;
	return max;
}

struct grid_side grid_row(const struct grid *g, const float *row)
{
	const vfloat_in_memory *cells = (const vfloat_in_memory *)row;
	const vfloat_in_memory *level = (const vfloat_in_memory *)g->level;
	const vfloat_in_memory *weight = (const vfloat_in_memory *)g->weight;
	float max = row_max(row);
	vfloat sum = {}, first = {}, second = {};

	for (size_t i = 0; i < GRID_LEVELS / LANES; i++) {
		vfloat e = weight[i] * exp_lanes(cells[i] - max);
		vfloat el = e * level[i];

		sum += e;
		first += el;
		second += el * level[i];
	}

	double total = sum_lanes(sum), mean = sum_lanes(first) / total;

	return (struct grid_side){
		.log_sum = max + log(total),
		.mean = mean,
		.var = MAX(sum_lanes(second) / total - mean * mean, 1e-6),
	};
}

double hist_side(const int *counts, size_t bins)
{
	const double a = 0.5, ln_gamma_a = 0.57236494292470008707; /* ln(sqrt(pi)) */
	double n = 0, sum = 0;

	for (size_t b = 0; b < bins; b++) {
		if (!counts[b])
			continue;
		n += counts[b];
		sum += dist_lgamma(a + counts[b]) - ln_gamma_a;
	}
	return sum - dist_lgamma((double)bins * a + n) + dist_lgamma((double)bins * a);
}

/* Components that no observation tells apart become one: as many as most decisions have. */
#define SAME_MEAN 0.02 /* standard deviations between their means */
#define SAME_VAR  1.05 /* the greater variance to the smaller */

static void join_equals(struct mixture *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		size_t at = 0;

		for (; at < n; at++) {
			double least = MIN(m->var[i], m->var[at]),
			       most = MAX(m->var[i], m->var[at]);

			if (fabs(m->mean[i] - m->mean[at]) <= SAME_MEAN * sqrt(least) &&
			    most <= SAME_VAR * least)
				break;
		}

		double before = at < n ? m->p[at] : 0, p = before + m->p[i];

		m->mean[at] = (before * m->mean[at] + m->p[i] * m->mean[i]) / p;
		m->var[at] = (before * m->var[at] + m->p[i] * m->var[i]) / p;
		m->p[at] = p;
		n += at == n;
	}
	m->n = n;
}

/* Gauss-Hermite: points in standard deviations (the other half by symmetry), and their weights. */
static const float hermite_at[QUADRATURE / 2] = {0.5390798f, 1.6365190f, 2.8024859f, 4.1445472f};
static const float hermite_weight[QUADRATURE / 2] = {0.3730122583f, 0.1172399077f, 0.0096352201f,
						     0.0001126145f};

/* ln of the density of the mixture to that of its component k, both without 1/sqrt(2 pi). */
static double information_of(const struct mixture *m, size_t k)
{
	const double s = sqrt(m->var[k]);
	const vfloat z = {hermite_at[0], hermite_at[1], hermite_at[2], hermite_at[3]};
	vfloat above = {}, below = {};
	double sum = 0;

	for (size_t j = 0; j < m->n; j++) {
		float off = (float)(m->mean[k] - m->mean[j]), half = (float)(0.5 / m->var[j]);
		float height = (float)(m->p[j] * s / sqrt(m->var[j]));
		vfloat up = off + (float)s * z, down = off - (float)s * z;

		above += height * exp_lanes(-up * up * half);
		below += height * exp_lanes(-down * down * half);
	}
	for (size_t i = 0; i < QUADRATURE / 2; i++) {
		double own = -(double)(z[i] * z[i]) / 2;
		/* the component itself is in the mixture: no point tells more than ln 1/p */
		double floor = m->p[k] * exp(own);

		sum += hermite_weight[i] * (2 * own - log(MAX((double)above[i], floor)) -
					    log(MAX((double)below[i], floor)));
	}
	return sum;
}

double mixture_information(const struct mixture *of)
{
	struct mixture m = *of;
	double sum = 0;

	join_equals(&m);
	for (size_t k = 0; k < m.n && m.n > 1; k++)
		sum += m.p[k] * information_of(&m, k);
	return MAX(sum, 0);
}
