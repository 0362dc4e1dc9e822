// SPDX-License-Identifier: GPL-2.0-or-later
// Bayes over classes of commits: who is good and who is bad under each, and how well the values
// fit.
#include "harness/search/posterior.h"

#include <math.h>

#include "harness/search/histogram.h"
#include "harness/search/search.h"
#include "harness/stats/dist.h"
#include "harness/stats/modes.h"
#include "harness/stats/summary.h"

#define NO_CHANGE_PRIOR 0.5

struct posterior *posterior_new(const struct facts *facts, const struct post_options *options,
				int good, int bad, uint64_t *mask)
{
	struct posterior *p = xcalloc(1, sizeof(*p));

	*p = (struct posterior){
		.facts = facts,
		.options = *options,
		.good = good,
		.bad = bad,
		.mask = mask,
		.version = facts->version,
		.class_of = xcalloc(facts->dag->n, sizeof(*p->class_of)),
		.no_change = NO_CHANGE_PRIOR,
		.next_screen = MODES_MIN_VALUES,
		.classes_stale = true,
		.stale = true,
	};
	return p;
}

static void groups_clear(struct posterior *p)
{
	for (size_t i = 0; i < p->groups.n; i++) {
		free(p->groups.at[i].anc);
		free(p->groups.at[i].tables);
		free(p->groups.at[i].hist);
	}
	VEC_FREE(&p->groups);
}

void posterior_free(struct posterior *p)
{
	if (!p)
		return;
	groups_clear(p);
	VEC_FREE(&p->values);
	VEC_FREE(&p->epochs);
	VEC_FREE(&p->classes);
	free(p->mask);
	free(p->class_of);
	free(p->class_bad);
	free(p);
}

static int program_of(const struct posterior *p, int node)
{
	return p->facts->program[dag_slot(p->facts->dag, node)];
}

bool posterior_covers(const struct posterior *p, int node)
{
	if (node >= 0 && (size_t)node < p->facts->dag->n && bits_test(p->mask, (size_t)node))
		return true;
	return program_of(p, node) == program_of(p, p->good) ||
	       program_of(p, node) == program_of(p, p->bad);
}

static struct post_group *find_group(const struct posterior *p, int program)
{
	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.at[i].program == program)
			return &p->groups.at[i];
	return NULL;
}

const struct post_group *posterior_group(const struct posterior *p, int node)
{
	return find_group(p, program_of(p, node));
}

/* The candidates of the question that make this node bad; NULL for the good end. */
static uint64_t *ancestors_in_question(const struct posterior *p, int node)
{
	size_t words = bits_words(p->facts->dag->n);
	uint64_t *bits;

	if (program_of(p, node) == program_of(p, p->good))
		return NULL;
	bits = xcalloc(words, sizeof(*bits));
	dag_ancestors(p->facts->dag, (size_t)node, bits);
	for (size_t w = 0; w < words; w++)
		bits[w] &= p->mask[w];
	return bits;
}

static struct post_group *get_group(struct posterior *p, int node)
{
	int program = program_of(p, node);
	struct post_group *group = find_group(p, program);

	if (group)
		return group;
	p->classes_stale = true;
	VEC_PUSH(&p->groups, (struct post_group){
				     .program = program,
				     .node = node,
				     .anc = ancestors_in_question(p, node),
			     });
	return &p->groups.at[p->groups.n - 1];
}

static size_t get_epoch(struct posterior *p, int epoch)
{
	for (size_t e = 0; e < p->epochs.n; e++)
		if (p->epochs.at[e] == epoch)
			return e;
	VEC_PUSH(&p->epochs, epoch);
	return p->epochs.n - 1;
}

static void group_reserve(struct post_group *group, size_t epochs)
{
	if (group->epochs >= epochs)
		return;
	group->tables = xrealloc(group->tables, epochs, GRID_CELLS * sizeof(*group->tables));
	group->hist = xrealloc(group->hist, epochs, sizeof(*group->hist));
	memset(group->tables + group->epochs * GRID_CELLS, 0,
	       (epochs - group->epochs) * GRID_CELLS * sizeof(*group->tables));
	memset(group->hist + group->epochs, 0, (epochs - group->epochs) * sizeof(*group->hist));
	group->epochs = epochs;
}

static void table_value(struct posterior *p, const struct post_value *v)
{
	struct post_group *group = find_group(p, program_of(p, v->node));
	size_t epoch = get_epoch(p, v->epoch);

	group_reserve(group, epoch + 1);
	grid_add_value(&p->grid, v->value, group->tables + epoch * GRID_CELLS);
}

size_t posterior_values(const struct posterior *p, int program, int epoch, double *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < p->values.n; i++) {
		const struct post_value *v = &p->values.at[i];

		if ((program < 0 || program_of(p, v->node) == program) &&
		    (epoch < 0 || v->epoch == epoch))
			ret[n++] = v->value;
	}
	return n;
}

/* Where the two ends lie: over epochs the lowest and the highest of their medians. */
static void ends_extent(const struct posterior *p, double *room, double *ret_low, double *ret_high)
{
	const int ends[] = {program_of(p, p->good), program_of(p, p->bad)};

	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		for (size_t e = 0; e < p->epochs.n; e++) {
			size_t n = posterior_values(p, ends[i], p->epochs.at[e], room);

			if (!n)
				continue;

			double median = values_median(room, n);

			*ret_low = fmin(*ret_low, median);
			*ret_high = fmax(*ret_high, median);
		}
}

/* The scale of one value as the ends show it; both constant: a twentieth of their difference. */
static double ends_sigma(const struct posterior *p, double *room, double difference)
{
	size_t n_good = posterior_values(p, program_of(p, p->good), -1, room);
	size_t n_bad = posterior_values(p, program_of(p, p->bad), -1, room + n_good);
	double sigma = values_pooled_sigma(room, n_good, room + n_good, n_bad);

	return sigma > 0 ? sigma : difference / 20;
}

static struct grid_shape shape_of_ends(const struct posterior *p, double *room)
{
	struct grid_shape shape = {.half_width = 6, .scale_below = 4, .scale_above = 6};
	double known = p->options.known_sigma / T_SCALE_TO_SIGMA;

	ends_extent(p, room, &shape.low, &shape.high);
	shape.sigma = known > 0 ? known : ends_sigma(p, room, shape.high - shape.low);
	shape.known_sigma = known;
	return shape;
}

/* Closer around the scale that is known by now. */
static struct grid_shape shape_of_posterior(const struct posterior *p, double *room)
{
	size_t n = p->values.n;
	struct grid_shape shape = {
		.sigma = p->scale * p->grid.unit,
		.half_width = n < 40	? 6
			      : n < 150 ? 4.5
					: 3.5,
		.scale_below = n < 40	 ? 3.5
			       : n < 150 ? 2.5
					 : 2,
		.scale_above = n < 40	 ? 3.5
			       : n < 150 ? 2.5
					 : 2,
		.known_sigma = p->options.known_sigma / T_SCALE_TO_SIGMA,
	};

	ends_extent(p, room, &shape.low, &shape.high);
	return shape;
}

/* Shares lie between 0 and 1: the grid is only the unit that levels are told in. */
static struct grid_shape shape_of_binary(void)
{
	return (struct grid_shape){
		.high = 1, .sigma = 0.25, .half_width = 1, .scale_below = 2, .scale_above = 2};
}

static void lay_grid(struct posterior *p)
{
	autofree double *room = xcalloc(p->values.n + 1, sizeof(*room));
	bool again = p->grid_values > 0 && posterior_update(p);
	struct grid_shape shape = p->options.binary ? shape_of_binary()
				  : again	    ? shape_of_posterior(p, room)
						    : shape_of_ends(p, room);

	if (!(shape.sigma > 0))
		return;
	grid_init(&p->grid, &shape);
	p->grid_values = p->values.n;
	p->stale = true;
	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.at[i].tables)
			memset(p->groups.at[i].tables, 0,
			       p->groups.at[i].epochs * GRID_CELLS *
				       sizeof(*p->groups.at[i].tables));
	for (size_t i = 0; i < p->values.n; i++)
		table_value(p, &p->values.at[i]);
}

static bool ends_ready(const struct posterior *p)
{
	const struct post_group *good = posterior_group(p, p->good),
				*bad = posterior_group(p, p->bad);

	return good && bad && good != bad && good->n >= POST_FIRST && bad->n >= POST_FIRST;
}

/* Are there two modes around the levels? Looked at again with every third more values, however
 * often anything was asked in between. */
static void screen_modes(struct posterior *p)
{
	autofree double *room = NULL;
	size_t n = 0;

	if (p->values.n < p->next_screen || p->options.binary)
		return;
	room = xcalloc(p->values.n, sizeof(*room));
	p->next_screen = p->values.n + p->values.n / 3;
	for (size_t g = 0; g < p->groups.n; g++)
		for (size_t e = 0; e < p->epochs.n; e++) {
			size_t k = posterior_values(p, p->groups.at[g].program, p->epochs.at[e],
						    room + n);
			double median = k >= POST_FIRST ? values_median(room + n, k) : 0;

			for (size_t i = 0; k >= POST_FIRST && i < k; i++)
				room[n++] -= median;
		}
	p->bimodal = modes_screen(room, n).two;
}

static void take_value(struct posterior *p, const struct post_value *v)
{
	get_group(p, v->node)->n++;
	p->current_epoch = get_epoch(p, v->epoch);
	p->stale = true;
	screen_modes(p);
	if (!p->grid_values) {
		if (ends_ready(p))
			lay_grid(p);
		return;
	}
	table_value(p, v);
	if (p->values.n >= 2 * p->grid_values)
		lay_grid(p);
}

/* Programs were joined: everything anew, as if that had been known from the beginning. */
static void regroup(struct posterior *p)
{
	struct posterior old = *p;

	groups_clear(p);
	p->values.at = NULL;
	p->values.n = p->values.cap_ = 0;
	p->epochs.n = 0;
	p->grid_values = 0;
	p->next_screen = MODES_MIN_VALUES;
	p->programs = p->facts->programs;
	p->version = p->facts->version;
	p->classes_stale = p->stale = true;
	for (size_t i = 0; i < old.values.n; i++) {
		VEC_PUSH(&p->values, old.values.at[i]);
		take_value(p, &old.values.at[i]);
	}
	free(old.values.at);
}

void posterior_add(struct posterior *p, int node, int epoch, double value)
{
	struct post_value v = {.node = node, .epoch = epoch, .value = value};

	if (p->programs != p->facts->programs)
		regroup(p);
	VEC_PUSH(&p->values, v);
	take_value(p, &v);
}

/* Splits every class by one more measured program. */
static void refine(struct posterior *p, const uint64_t *anc, int (*child)[2], size_t *n_classes)
{
	size_t n = 0;

	for (size_t k = 0; k < 2 * *n_classes; k++)
		child[k / 2][k % 2] = -1;
	for (size_t i = 0; i < p->facts->dag->n; i++) {
		if (p->class_of[i] < 0)
			continue;

		int *to = &child[p->class_of[i]][bits_test(anc, i)];

		if (*to < 0)
			*to = (int)n++;
		p->class_of[i] = *to;
	}
	*n_classes = n;
}

static void count_classes(struct posterior *p)
{
	for (size_t i = 0; i < p->facts->dag->n; i++) {
		if (p->class_of[i] < 0)
			continue;

		struct post_class *class = &p->classes.at[p->class_of[i]];

		class->commits++;
		class->prior += p->facts->prior[i];
		class->top = i;
	}
	p->class_bad =
		xrealloc(p->class_bad, p->classes.n * p->groups.n + 1, sizeof(*p->class_bad));
	for (size_t k = 0; k < p->classes.n; k++)
		for (size_t g = 0; g < p->groups.n; g++) {
			const uint64_t *anc = p->groups.at[g].anc;

			p->class_bad[k * p->groups.n + g] =
				anc && bits_test(anc, p->classes.at[k].top);
		}
}

static void make_classes(struct posterior *p)
{
	size_t n = p->facts->dag->n, classes = 1;
	autofree int(*child)[2] = xcalloc(n + 1, sizeof(*child));

	for (size_t i = 0; i < n; i++)
		p->class_of[i] = bits_test(p->mask, i) ? 0 : -1;
	for (size_t g = 0; g < p->groups.n; g++)
		if (p->groups.at[g].anc)
			refine(p, p->groups.at[g].anc, child, &classes);
	p->classes.n = 0;
	for (size_t k = 0; k < classes; k++)
		VEC_PUSH(&p->classes, (struct post_class){});
	count_classes(p);
	p->classes_stale = false;
}

/* Room for one class: its tables of the good and the bad side, an epoch at a time. */
struct work {
	float good[GRID_CELLS], bad[GRID_CELLS];
	double log_row[GRID_SCALES];
	struct grid_side good_row[GRID_SCALES], bad_row[GRID_SCALES]; /* of the current epoch */
};

/* The sum of the tables of all programs that are on one side under class k; k beyond: of all. */
static void side_table(const struct posterior *p, size_t k, bool bad, size_t epoch, float *ret)
{
	memset(ret, 0, GRID_CELLS * sizeof(*ret));
	for (size_t g = 0; g < p->groups.n; g++) {
		const struct post_group *group = &p->groups.at[g];

		if (group->epochs <= epoch ||
		    (k < p->classes.n && posterior_is_bad(p, k, g) != bad))
			continue;
		grid_add(ret, group->tables + epoch * GRID_CELLS);
	}
}

/* Weights of the scales from their log likelihoods; returns ln of the sum. */
static double softmax(const double *log_row, double *ret)
{
	double max = -INFINITY, sum = 0;

	for (size_t s = 0; s < GRID_SCALES; s++)
		max = fmax(max, log_row[s]);
	for (size_t s = 0; s < GRID_SCALES; s++)
		sum += ret[s] = exp(log_row[s] - max);
	for (size_t s = 0; s < GRID_SCALES; s++)
		ret[s] /= sum;
	return max + log(sum);
}

static struct level mix_level(const struct grid_side *rows, const double *q)
{
	struct level l = {};

	for (size_t s = 0; s < GRID_SCALES; s++)
		l.mean += q[s] * rows[s].mean;
	for (size_t s = 0; s < GRID_SCALES; s++)
		l.var += q[s] * (rows[s].var + (rows[s].mean - l.mean) * (rows[s].mean - l.mean));
	return l;
}

static double mix_scale(const struct posterior *p, const double *q)
{
	double sum = 0;

	for (size_t s = 0; s < GRID_SCALES; s++)
		sum += q[s] * log(p->grid.scale[s]);
	return sum;
}

/* P(bad is worse than good) under one class, from the two levels of the current epoch. */
static double log_worse(const struct posterior *p, const struct post_class *class)
{
	double step = p->options.worse * (class->bad.mean - class->good.mean);
	double z = step / sqrt(class->bad.var + class->good.var);

	if (!p->options.worse_only || z > 6)
		return 0;
	return log(fmax(dist_normal_cdf(z), 1e-300));
}

/* L_k = sum over scales of the product over epochs of both sides' sums over levels. */
static void class_t(const struct posterior *p, size_t k, struct work *w)
{
	struct post_class *class = &p->classes.at[k];
	double q[GRID_SCALES];

	memcpy(w->log_row, p->grid.log_prior, sizeof(w->log_row));
	for (size_t e = 0; e < p->epochs.n; e++) {
		side_table(p, k, false, e, w->good);
		side_table(p, k, true, e, w->bad);
		for (size_t s = 0; s < GRID_SCALES; s++) {
			struct grid_side good = grid_row(&p->grid, w->good + s * GRID_LEVELS);
			struct grid_side bad = grid_row(&p->grid, w->bad + s * GRID_LEVELS);

			w->log_row[s] += good.log_sum + bad.log_sum;
			if (e == p->current_epoch)
				w->good_row[s] = good, w->bad_row[s] = bad;
		}
	}
	class->log_t = softmax(w->log_row, q);
	class->good = mix_level(w->good_row, q);
	class->bad = mix_level(w->bad_row, q);
	class->log_scale = mix_scale(p, q);
	class->log_t += log_worse(p, class);
}

/* The same with one level for everything: nothing changed. */
static double no_change_t(const struct posterior *p, struct work *w, double *ret_log_scale)
{
	double q[GRID_SCALES], log_sum;

	memcpy(w->log_row, p->grid.log_prior, sizeof(w->log_row));
	for (size_t e = 0; e < p->epochs.n; e++) {
		side_table(p, SIZE_MAX, false, e, w->good);
		for (size_t s = 0; s < GRID_SCALES; s++)
			w->log_row[s] += grid_row(&p->grid, w->good + s * GRID_LEVELS).log_sum;
	}
	log_sum = softmax(w->log_row, q);
	*ret_log_scale = mix_scale(p, q);
	return log_sum;
}

/* Probabilities of no change (index n) and of the classes from ln(prior * likelihood), in place. */
static void normalise(double *log_p, size_t n)
{
	double max = -INFINITY, sum = 0;

	for (size_t i = 0; i < n; i++)
		max = fmax(max, log_p[i]);
	for (size_t i = 0; i < n; i++)
		sum += log_p[i] = isinf(log_p[i]) ? 0 : exp(log_p[i] - max);
	for (size_t i = 0; i < n; i++)
		log_p[i] /= sum;
}

static void mix_likelihoods(struct posterior *p, double no_change_log_t)
{
	size_t n = p->classes.n;
	autofree double *t = xcalloc(2 * (n + 1), sizeof(*t));
	double *h = t + n + 1, total = 0,
	       share = p->bimodal || p->options.binary ? 1 : p->options.hist_share;

	for (size_t k = 0; k < n; k++)
		total += p->classes.at[k].prior;
	for (size_t k = 0; k < n; k++) {
		const struct post_class *class = &p->classes.at[k];
		double log_prior = class->prior > 0
					   ? log((1 - NO_CHANGE_PRIOR) * class->prior / total)
					   : -INFINITY;

		t[k] = log_prior + class->log_t;
		h[k] = log_prior + histogram_log(p, k) + log_worse(p, class);
	}
	t[n] = log(NO_CHANGE_PRIOR) + no_change_log_t;
	h[n] = log(NO_CHANGE_PRIOR) + histogram_log(p, SIZE_MAX);
	normalise(t, n + 1);
	normalise(h, n + 1);
	for (size_t k = 0; k < n; k++)
		p->classes.at[k].p = (1 - share) * t[k] + share * h[k];
	p->no_change = (1 - share) * t[n] + share * h[n];
}

static void evaluate(struct posterior *p)
{
	autofree double *room = xcalloc(p->values.n + 1, sizeof(*room));
	autofree struct work *work = xmalloc(sizeof(*work));
	double log_scale, log_t = no_change_t(p, work, &log_scale);

	for (size_t e = 0; e < p->epochs.n; e++)
		histogram_count(p, e, room);
	for (size_t k = 0; k < p->classes.n; k++) {
		class_t(p, k, work);
		if (p->options.binary)
			histogram_shares(p, k);
	}
	mix_likelihoods(p, log_t);
	if (p->options.binary) /* what the classes say holds without a change, too */
		log_scale = p->classes.at[posterior_best(p)].log_scale;
	log_scale *= p->no_change;
	for (size_t k = 0; k < p->classes.n; k++)
		log_scale += p->classes.at[k].p * p->classes.at[k].log_scale;
	p->scale = exp(log_scale);
	p->stale = false;
}

bool posterior_update(struct posterior *p)
{
	if (p->programs != p->facts->programs)
		regroup(p);
	if (p->version != p->facts->version) {
		p->version = p->facts->version;
		p->classes_stale = true;
	}
	if (!p->grid_values)
		return false;
	if (p->classes_stale) {
		make_classes(p);
		p->stale = true;
	}
	if (p->stale)
		evaluate(p);
	return true;
}

bool posterior_is_bad(const struct posterior *p, size_t class, size_t group)
{
	return p->class_bad[class * p->groups.n + group];
}

double posterior_commit(const struct posterior *p, size_t commit)
{
	const struct post_class *class;

	if (p->class_of[commit] < 0)
		return 0;
	class = &p->classes.at[p->class_of[commit]];
	return class->prior > 0 ? class->p * p->facts->prior[commit] / class->prior : 0;
}

size_t posterior_best(const struct posterior *p)
{
	size_t best = 0;

	for (size_t k = 1; k < p->classes.n; k++)
		if (p->classes.at[k].p > p->classes.at[best].p)
			best = k;
	return best;
}

double posterior_step(const struct posterior *p)
{
	const struct post_class *class = &p->classes.at[posterior_best(p)];

	return p->options.worse * (class->bad.mean - class->good.mean) /
	       (exp(class->log_scale) * T_SCALE_TO_SIGMA);
}
