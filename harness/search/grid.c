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
#define QUADRATURE	   48

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

/* The components in order of their means, empty stretches between them closed. */
static void close_gaps(struct mixture *m, double reach)
{
	for (size_t i = 1; i < m->n; i++)
		for (size_t j = i; j > 0 && m->mean[j] < m->mean[j - 1]; j--) {
			double mean = m->mean[j], var = m->var[j], p = m->p[j];

			m->mean[j] = m->mean[j - 1], m->var[j] = m->var[j - 1],
			m->p[j] = m->p[j - 1];
			m->mean[j - 1] = mean, m->var[j - 1] = var, m->p[j - 1] = p;
		}
	for (size_t i = 1; i < m->n; i++) {
		double excess = m->mean[i] - m->mean[i - 1] - 2 * reach;

		for (size_t j = i; excess > 0 && j < m->n; j++)
			m->mean[j] -= excess;
	}
}

double mixture_entropy(const struct mixture *of)
{
	struct mixture m = *of;
	vfloat density[QUADRATURE / LANES] = {};
	double widest = 0, sum = 0, entropy = 0;

	for (size_t k = 0; k < m.n; k++)
		widest = MAX(widest, sqrt(m.var[k]));

	double reach = 4.5 * widest;

	close_gaps(&m, reach);

	double low = m.mean[0] - reach, step = (m.mean[m.n - 1] + reach - low) / (QUADRATURE - 1);

	for (size_t k = 0; k < m.n; k++) {
		float height = (float)(m.p[k] / sqrt(m.var[k])), half = (float)(0.5 / m.var[k]);

		for (size_t i = 0; i < QUADRATURE / LANES; i++) {
			float at = (float)(low - m.mean[k]),
			      first = at + (float)(step * LANES * (double)i);
			vfloat x = {first, first + (float)step, first + (float)(2 * step),
				    first + (float)(3 * step)};

			density[i] += height * exp_lanes(-x * x * half);
		}
	}
	for (size_t i = 0; i < QUADRATURE; i++) {
		float f = density[i / LANES][i % LANES];

		if (f > 0)
			sum += f, entropy -= f * logf(f);
	}
	/* the density is sum * step, scaled to 1, which also takes out the quadrature's first error
	 */
	return entropy / sum + log(sum * step);
}

double mixture_information(const struct mixture *m)
{
	double parts = 0;

	for (size_t k = 0; k < m->n; k++)
		parts += m->p[k] * 0.5 * log(2 * M_PI * M_E * m->var[k]);
	return MAX(mixture_entropy(m) - parts, 0);
}
