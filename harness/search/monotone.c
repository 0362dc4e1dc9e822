// SPDX-License-Identifier: GPL-2.0-or-later
// Bad, good, bad along one line: broken, mended and broken again.
#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/summary.h"

#define ALPHA		0.01 /* as for a proof, shared by all pairs that are looked at */
#define ENOUGH		8    /* boots with which a contradiction stands or falls */
#define CONTRADICTION_Z 4.0

/* One measured program, in the current epoch. */
struct point {
	const struct post_group *group;
	double *values;
	size_t n;
	double centre;
};

struct points {
	size_t n;
	struct point *at;
};

static void points_release(struct points *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->at[i].values);
	free(p->at);
}

static struct points get_points(const struct search *s, const struct posterior *p)
{
	struct points points = {.n = p->groups.n,
				.at = xcalloc(p->groups.n + 1, sizeof(*points.at))};

	for (size_t g = 0; g < p->groups.n; g++) {
		struct point *point = &points.at[g];

		point->group = &p->groups.at[g];
		point->values = xcalloc(p->groups.at[g].n + 1, sizeof(double));
		point->n = node_values(s, p->groups.at[g].node, current_epoch(s), point->values);
		point->centre = !point->n	   ? NAN
				: s->config.binary ? values_mean(point->values, point->n)
						   : values_median(point->values, point->n);
	}
	return points;
}

/* Is a an ancestor of b? */
static bool before(const struct search *s, const struct point *a, const struct point *b)
{
	return a != b && a->group->anc && b->group->anc && is_candidate(s, a->group->node) &&
	       bits_test(b->group->anc, (size_t)a->group->node);
}

/* b is worse than a by half of the step, beyond chance. */
static bool is_worse(const struct search *s, const struct point *a, const struct point *b,
		     double half_step, double alpha)
{
	struct rank_test test;

	if (!(s->worse * (b->centre - a->centre) > half_step) ||
	    rank_test_min_p(a->n, b->n) > alpha)
		return false;
	test = rank_test(a->values, a->n, b->values, b->n);
	return (s->worse > 0 ? test.p_greater : test.p_less) < alpha;
}

bool find_zigzag(const struct search *s, int ret[3])
{
	struct posterior *p = s->stages.at[0].posterior;
	__attribute__((cleanup(points_release))) struct points points = {};
	double half_step, alpha;

	if (!posterior_update(p))
		return false;
	points = get_points(s, p);
	alpha = ALPHA / (double)(points.n * points.n);
	half_step = fabs(posterior_step(p)) * p->scale * T_SCALE_TO_SIGMA * p->grid.unit / 2;
	for (size_t y = 0; y < points.n; y++)
		for (size_t x = 0; x < points.n; x++) {
			if (!before(s, &points.at[x], &points.at[y]) ||
			    !is_worse(s, &points.at[y], &points.at[x], half_step, alpha))
				continue;
			for (size_t z = 0; z < points.n; z++) {
				if (!before(s, &points.at[y], &points.at[z]) ||
				    !is_worse(s, &points.at[y], &points.at[z], half_step, alpha))
					continue;
				ret[0] = points.at[x].group->node;
				ret[1] = points.at[y].group->node;
				ret[2] = points.at[z].group->node;
				return true;
			}
		}
	return false;
}

int find_contradiction(const struct search *s, const struct stage *st)
{
	const struct posterior *p = st->posterior;
	size_t best = posterior_best(p);
	const struct post_class *class = &p->classes.at[best];
	__attribute__((cleanup(points_release))) struct points points = get_points(s, p);
	double sigma = p->scale * T_SCALE_TO_SIGMA;

	for (size_t g = 0; g < points.n; g++) {
		const struct point *point = &points.at[g];
		bool bad = posterior_is_bad(p, best, g);
		double at = (point->centre - p->grid.origin) / p->grid.unit;
		double own = fabs(at - (bad ? class->bad : class->good).mean);
		double other = fabs(at - (bad ? class->good : class->bad).mean);

		if (point->n && point->n < ENOUGH && own > other &&
		    own * sqrt((double)point->n) > CONTRADICTION_Z * sigma &&
		    !node_untestable(s, point->group->node))
			return point->group->node;
	}
	return SEARCH_NONE;
}
