// SPDX-License-Identifier: GPL-2.0-or-later
// Information per second: compares every measured commit, and the best unmeasured ones of each
// class.
#include "harness/search/choice.h"

#include <math.h>

#define LIVE_P	     1e-4	       /* classes below this do not matter for the choice */
#define LIVE_MAX     (MIXTURE_MAX / 2) /* a commit may split each into a good and a bad part */
#define FRESH_MAX    12		       /* unmeasured commits that are looked at closely */
#define PRUNED_PRIOR 0.5	       /* a factor below this: thought not to change the binary */
#define LEAST_BITS   1e-7

static const int batch_sizes[] = {1, 2, 3, 5, 8, 13, 21, 34};

struct live {
	size_t n;
	size_t class[LIVE_MAX];
	double p[LIVE_MAX]; /* given that there is a step */
	double total;
};

static struct live live_classes(const struct posterior *p)
{
	struct live live = {};

	for (size_t k = 0; k < p->classes.n; k++) {
		size_t at = live.n;

		if (!(p->classes.at[k].p > LIVE_P))
			continue;
		if (live.n == LIVE_MAX && p->classes.at[k].p <= live.p[live.n - 1])
			continue;
		if (live.n < LIVE_MAX)
			live.n++;
		else
			at--;
		for (; at > 0 && live.p[at - 1] < p->classes.at[k].p; at--) {
			live.p[at] = live.p[at - 1];
			live.class[at] = live.class[at - 1];
		}
		live.p[at] = p->classes.at[k].p;
		live.class[at] = k;
	}
	for (size_t l = 0; l < live.n; l++)
		live.total += live.p[l];
	for (size_t l = 0; l < live.n; l++)
		live.p[l] /= live.total;
	return live;
}

static double binary_entropy(double p)
{
	return p > 0 && p < 1 ? -p * log2(p) - (1 - p) * log2(1 - p) : 0;
}

/* Commits from the nearest untestable one along a line, up or down; n where there is none. */
static void distances(const struct choice_view *view, uint32_t *ret)
{
	const struct dag *d = view->posterior->facts->dag;
	uint32_t far = (uint32_t)d->n;
	autofree uint32_t *down = xcalloc(d->n, sizeof(*down));

	for (size_t i = 0; i < d->n; i++) {
		const int32_t *parents;
		size_t n = dag_parents(d, i, &parents);

		ret[i] = view->untestable[i] ? 0 : far;
		down[i] = ret[i];
		for (size_t j = 0; j < n; j++)
			if (parents[j] >= 0 && (size_t)parents[j] < d->n)
				ret[i] = MIN(ret[i], ret[parents[j]] + 1);
	}
	for (size_t i = d->n; i-- > 0;) {
		const int32_t *parents;
		size_t n = dag_parents(d, i, &parents);

		for (size_t j = 0; j < n; j++)
			if (parents[j] >= 0 && (size_t)parents[j] < d->n)
				down[parents[j]] = MIN(down[parents[j]], down[i] + 1);
	}
	for (size_t i = 0; i < d->n; i++)
		ret[i] = MIN(ret[i], down[i]);
}

void choice_buildable(const struct choice_view *view, double *ret)
{
	const size_t n = view->posterior->facts->dag->n;
	autofree uint32_t *distance = xcalloc(n, sizeof(*distance));

	distances(view, distance);
	for (size_t i = 0; i < n; i++) {
		double near = 1 - 0.75 * pow(0.75, (double)distance[i] - 1);

		ret[i] = view->untestable[i] ? 0 : view->built[i] ? 1 : fmin(0.9, near);
	}
}

/* P(bad) of every candidate, by classes that matter; within a class in proportion to the prior. */
static void p_bad_of_all(const struct posterior *p, const struct live *live, double *ret)
{
	const size_t n = p->facts->dag->n;
	autofree int *group = xcalloc(n, sizeof(*group));
	autofree int *rank = xcalloc(p->classes.n, sizeof(*rank));
	VEC(double) weight = {};
	VEC(double) prior = {};
	VEC(int) of = {};

	for (size_t k = 0; k < p->classes.n; k++)
		rank[k] = -1;
	for (size_t l = 0; l < live->n; l++)
		rank[live->class[l]] = (int)l;
	for (size_t i = 0; i < n; i++) {
		int l = p->class_of[i] >= 0 ? rank[p->class_of[i]] : -1;
		size_t g = 0;

		group[i] = -1;
		if (l < 0 || !(p->facts->prior[i] > 0))
			continue;
		while (g < of.n && (of.at[g] != l || prior.at[g] != p->facts->prior[i]))
			g++;
		if (g == of.n) {
			double total = p->classes.at[live->class[l]].prior;

			VEC_PUSH(&of, l);
			VEC_PUSH(&prior, p->facts->prior[i]);
			VEC_PUSH(&weight, live->p[l] * p->facts->prior[i] / total);
		}
		group[i] = (int)g;
	}
	dag_sums(p->facts->dag, group, weight.at, weight.n, ret);
	VEC_FREE(&weight);
	VEC_FREE(&prior);
	VEC_FREE(&of);
}

/* A commit that was not measured yet, and how well it would split what is left. */
struct fresh {
	int node;
	double worth;
	double p_buildable;
};

static void keep_best(struct fresh *best, size_t *n, struct fresh f)
{
	size_t at = *n;

	if (*n == FRESH_MAX && f.worth <= best[*n - 1].worth)
		return;
	if (*n < FRESH_MAX)
		++*n;
	else
		at--;
	for (; at > 0 && best[at - 1].worth < f.worth; at--)
		best[at] = best[at - 1];
	best[at] = f;
}

/* In each class that matters the best commit that is built, and the best that is not. */
static size_t fresh_commits(const struct choice_view *view, const struct live *live,
			    struct fresh *ret)
{
	const struct posterior *p = view->posterior;
	const size_t n = p->facts->dag->n;
	autofree double *p_bad = xcalloc(n, sizeof(*p_bad));
	autofree double *buildable = xcalloc(n, sizeof(*buildable));
	autofree struct fresh(*best)[2] = xcalloc(p->classes.n, sizeof(*best));
	size_t found = 0;

	p_bad_of_all(p, live, p_bad);
	choice_buildable(view, buildable);
	for (size_t i = 0; i < n; i++) {
		double worth = buildable[i] * binary_entropy(p_bad[i]);

		if (p->class_of[i] < 0 || !(worth > 0))
			continue;
		if (p->facts->prior[i] < PRUNED_PRIOR)
			worth *= 0.98;

		struct fresh *of_class = &best[p->class_of[i]][view->built[i]];

		if (worth > of_class->worth && !posterior_group(p, (int)i))
			*of_class = (struct fresh){(int)i, worth, buildable[i]};
	}
	for (size_t l = 0; l < live->n; l++)
		for (int built = 0; built < 2; built++)
			if (best[live->class[l]][built].worth > 0)
				keep_best(ret, &found, best[live->class[l]][built]);
	return found;
}

static void add_part(struct mixture *m, double p, const struct level *level)
{
	if (!(p > 1e-9))
		return;
	m->p[m->n] = p;
	m->mean[m->n] = level->mean;
	m->var[m->n++] = level->var;
}

/* Which share of each live class makes a commit bad. */
static void shares_bad(const struct posterior *p, const struct live *live, int node, double *ret)
{
	const size_t n = p->facts->dag->n;
	autofree uint64_t *anc = xcalloc(bits_words(n), sizeof(*anc));
	autofree double *sum = xcalloc(p->classes.n, sizeof(*sum));

	dag_ancestors(p->facts->dag, (size_t)node, anc);
	for (size_t i = 0; i <= (size_t)node; i++)
		if (bits_test(anc, i) && p->class_of[i] >= 0)
			sum[p->class_of[i]] += p->facts->prior[i];
	for (size_t l = 0; l < live->n; l++) {
		const struct post_class *class = &p->classes.at[live->class[l]];

		ret[l] = class->prior > 0 ? fmin(sum[live->class[l]] / class->prior, 1) : 0;
	}
}

/* The levels that a commit may turn out to have: those of its side under each live class. */
static struct mixture levels_of(const struct posterior *p, const struct live *live,
				const double *share_bad)
{
	struct mixture m = {};

	for (size_t l = 0; l < live->n; l++) {
		const struct post_class *class = &p->classes.at[live->class[l]];

		add_part(&m, live->p[l] * share_bad[l], &class->bad);
		add_part(&m, live->p[l] * (1 - share_bad[l]), &class->good);
	}
	return m;
}

/* Bits that m boots tell; a level that is not well known adds its variance to the noise. */
static double information(const struct posterior *p, const struct mixture *levels, int boots)
{
	double sigma = p->scale * T_SCALE_TO_SIGMA;
	struct mixture m = *levels;

	for (size_t i = 0; i < m.n; i++)
		m.var[i] += sigma * sigma / boots;
	return m.n > 1 ? mixture_information(&m) / M_LN2 : 0;
}

struct contest {
	const struct choice_view *view;
	struct choice best;
	double best_rate;
};

static void compete(struct contest *c, const struct mixture *levels, struct choice entry,
		    double build_s)
{
	const struct posterior *p = c->view->posterior;
	size_t sizes = build_s > 0 ? ARRAY_SIZE(batch_sizes) : 1;
	double rate_before = 0;

	for (size_t b = 0; b < sizes; b++) {
		double bits = information(p, levels, batch_sizes[b]);
		double cost = build_s + batch_sizes[b] * c->view->boot_s;
		double rate = entry.p_buildable * bits / cost;

		if (bits > LEAST_BITS && rate > c->best_rate) {
			c->best_rate = rate;
			c->best = entry;
			c->best.information = bits;
			c->best.cost_s = cost;
		}
		if (rate <= rate_before)
			break;
		rate_before = rate;
	}
}

/* One boot, then think again; small steps are not worth thinking about after each. */
static int boots_at_once(const struct posterior *p)
{
	double d = fabs(posterior_step(p));

	return d < 0.8 ? (int)fmin(8, ceil(0.5 / (d * d + 0.01))) : 1;
}

bool choice_next(const struct choice_view *view, struct choice *ret)
{
	const struct posterior *p = view->posterior;
	struct live live = live_classes(p);
	struct contest contest = {.view = view};
	struct fresh fresh[FRESH_MAX];
	double share[LIVE_MAX];

	for (size_t g = 0; g < p->groups.n; g++) {
		double p_bad = 0;

		if (view->untestable[dag_slot(p->facts->dag, p->groups.at[g].node)])
			continue;
		for (size_t l = 0; l < live.n; l++) {
			share[l] = posterior_is_bad(p, live.class[l], g);
			p_bad += live.p[l] * share[l];
		}

		struct mixture levels = levels_of(p, &live, share);

		compete(&contest, &levels,
			(struct choice){
				.node = p->groups.at[g].node, .p_buildable = 1, .p_bad = p_bad},
			0);
	}
	for (size_t f = fresh_commits(view, &live, fresh); f-- > 0;) {
		bool built = view->built[fresh[f].node];
		double p_bad = 0;

		shares_bad(p, &live, fresh[f].node, share);
		for (size_t l = 0; l < live.n; l++)
			p_bad += live.p[l] * share[l];

		struct mixture levels = levels_of(p, &live, share);
		struct choice entry = {fresh[f].node, .p_buildable = fresh[f].p_buildable,
				       .p_bad = p_bad};

		compete(&contest, &levels, entry,
			built ? 0 : fmax(view->build_s, 2 * view->boot_s));
	}
	if (!(contest.best_rate > 0))
		return false;
	contest.best.boots = boots_at_once(p);
	*ret = contest.best;
	return true;
}

bool choice_is_terminal(const struct choice_view *view, size_t class)
{
	const struct posterior *p = view->posterior;
	const struct dag *d = p->facts->dag;
	const size_t top = p->classes.at[class].top;
	autofree uint64_t *anc = xcalloc(bits_words(d->n), sizeof(*anc));

	dag_ancestors(d, top, anc);
	for (size_t i = 0; i <= top; i++) {
		if (p->class_of[i] != (int)class || !(p->facts->prior[i] > 0))
			continue;

		bool testable = !view->untestable[i] && !posterior_group(p, (int)i);

		/* one below the top splits by itself, one beside it is split off by the top */
		if (testable && i != top)
			return false;
		if (!bits_test(anc, i) && !view->untestable[top] && !posterior_group(p, (int)top))
			return false;
	}
	return true;
}
