// SPDX-License-Identifier: GPL-2.0-or-later
// Ancestor sets of the candidates: a bit for each ancestor, 512 columns at a time.
#include "harness/search/dag.h"

#define BLOCK_BITS  512
#define BLOCK_WORDS (BLOCK_BITS / 64)

struct block {
	uint64_t w[BLOCK_WORDS];
};

void dag_add(struct dag *d, const int *parents, size_t n)
{
	if (d->n + 2 > d->cap) {
		d->cap = d->cap ? 2 * d->cap : 64;
		d->first = xrealloc(d->first, d->cap, sizeof(*d->first));
	}
	if (!d->n)
		d->first[0] = 0;

	size_t end = d->first[d->n];

	if (end + n > d->parents_cap) {
		d->parents_cap = 2 * d->parents_cap + n + 64;
		d->parents = xrealloc(d->parents, d->parents_cap, sizeof(*d->parents));
	}
	for (size_t i = 0; i < n; i++)
		d->parents[end + i] = parents[i];
	d->first[++d->n] = (uint32_t)(end + n);
}

int dag_seal(struct dag *d, size_t outside, struct err *err)
{
	if (!d->n)
		return err_set(err, ERR_USAGE, "no commit lies between good and bad");
	d->outside = outside;
	for (size_t i = 0; i < d->n; i++)
		for (uint32_t j = d->first[i]; j < d->first[i + 1]; j++) {
			int p = d->parents[j];

			if (p <= DAG_OUTSIDE(0) && (size_t)(DAG_OUTSIDE(0) - p) < outside)
				d->parents[j] = (int)d->n + DAG_OUTSIDE(0) - p;
			else if (p < DAG_GOOD || (p >= (int)i && (size_t)p < d->n) ||
				 p >= (int)(d->n + outside))
				return err_set(err, ERR_USAGE,
					       "commit %zu of the range has parent %d, which is "
					       "not before it",
					       i, p);
		}
	return 0;
}

void dag_release(struct dag *d)
{
	free(d->first);
	free(d->parents);
	*d = (struct dag){};
}

struct dag dag_copy(const struct dag *d)
{
	struct dag copy = {.n = d->n, .outside = d->outside};

	copy.cap = d->n + 1;
	copy.first = xcalloc(copy.cap, sizeof(*copy.first));
	memcpy(copy.first, d->first, copy.cap * sizeof(*copy.first));
	copy.parents_cap = d->first[d->n];
	copy.parents = xcalloc(copy.parents_cap + 1, sizeof(*copy.parents));
	if (copy.parents_cap)
		memcpy(copy.parents, d->parents, copy.parents_cap * sizeof(*copy.parents));
	return copy;
}

/* A parent that is a candidate itself. */
static inline bool inside(const struct dag *d, int parent)
{
	return parent >= 0 && (size_t)parent < d->n;
}

void dag_ancestors(const struct dag *d, size_t node, uint64_t *ret_bits)
{
	memset(ret_bits, 0, bits_words(d->n) * sizeof(*ret_bits));
	bits_set(ret_bits, node);
	for (size_t i = node + 1; i-- > 0;) {
		if (!bits_test(ret_bits, i))
			continue;
		for (uint32_t j = d->first[i]; j < d->first[i + 1]; j++)
			if (inside(d, d->parents[j]))
				bits_set(ret_bits, (size_t)d->parents[j]);
	}
}

enum { NO_PARENT = -1, SEVERAL_PARENTS = -2 };

/* The one parent that a commit has in the range. */
static int single_parent(const struct dag *d, size_t i)
{
	int found = NO_PARENT;

	for (uint32_t j = d->first[i]; j < d->first[i + 1]; j++) {
		if (!inside(d, d->parents[j]) || d->parents[j] == found)
			continue;
		if (found >= 0)
			return SEVERAL_PARENTS;
		found = d->parents[j];
	}
	return found;
}

/*
 * Columns are laid out group by group, a group beginning a new block, so that a popcount times the
 * group's weight is the sum. A commit with one parent adds itself to its parent's sum: only merges
 * count bits.
 */
struct sums {
	const struct dag *dag;
	int *single;
	struct block *sets; /* one block of columns, for each commit */
	double *sum;
};

static void sums_of_block(struct sums *s, double weight, const uint32_t *columns, size_t n)
{
	const struct dag *d = s->dag;
	size_t words = bits_words(n), next = 0;

	for (size_t i = columns[0]; i < d->n; i++) {
		struct block *set = &s->sets[i];
		size_t bits = 0;

		memset(set, 0, words * sizeof(uint64_t));
		for (uint32_t j = d->first[i]; j < d->first[i + 1]; j++) {
			int p = d->parents[j];

			if (!inside(d, p) || (uint32_t)p < columns[0])
				continue;
			for (size_t w = 0; w < words; w++)
				set->w[w] |= s->sets[p].w[w];
		}
		if (next < n && columns[next] == i)
			bits_set(set->w, next++);
		if (s->single[i] != SEVERAL_PARENTS)
			continue;
		for (size_t w = 0; w < words; w++)
			bits += (size_t)__builtin_popcountll(set->w[w]);
		s->sum[i] += (double)bits * weight;
	}
}

/* All columns of one group, ascending. */
static size_t columns_of(const struct dag *d, const int *group, int g, uint32_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (group[i] == g)
			ret[n++] = (uint32_t)i;
	return n;
}

static void sums_of_merges(struct sums *s, const int *group, const double *weight, size_t groups)
{
	autofree uint32_t *columns = xcalloc(s->dag->n, sizeof(*columns));

	s->sets = xcalloc(s->dag->n, sizeof(*s->sets));
	for (size_t g = 0; g < groups; g++) {
		if (!(weight[g] > 0))
			continue;

		size_t n = columns_of(s->dag, group, (int)g, columns);

		for (size_t at = 0; at < n; at += BLOCK_BITS)
			sums_of_block(s, weight[g], columns + at, MIN(n - at, (size_t)BLOCK_BITS));
	}
	free(s->sets);
}

void dag_sums(const struct dag *d, const int *group, const double *weight, size_t groups,
	      double *ret_sum)
{
	autofree int *single = xcalloc(d->n, sizeof(*single));
	struct sums s = {.dag = d, .single = single, .sum = ret_sum};
	bool merges = false;

	for (size_t i = 0; i < d->n; i++) {
		ret_sum[i] = 0;
		single[i] = single_parent(d, i);
		merges |= single[i] == SEVERAL_PARENTS;
	}
	if (merges)
		sums_of_merges(&s, group, weight, groups);
	for (size_t i = 0; i < d->n; i++) {
		bool counts = group[i] >= 0 && (size_t)group[i] < groups;

		if (single[i] == SEVERAL_PARENTS)
			continue;
		if (single[i] >= 0)
			ret_sum[i] = ret_sum[single[i]];
		if (counts)
			ret_sum[i] += weight[group[i]];
	}
}

void dag_counts(const struct dag *d, uint32_t *ret)
{
	autofree int *group = xcalloc(d->n, sizeof(*group));
	autofree double *sum = xcalloc(d->n, sizeof(*sum));

	dag_sums(d, group, (const double[]){1}, 1, sum);
	for (size_t i = 0; i < d->n; i++)
		ret[i] = (uint32_t)sum[i];
}
