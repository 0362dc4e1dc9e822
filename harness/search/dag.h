// SPDX-License-Identifier: GPL-2.0-or-later
// The candidates' history: who is whose ancestor, as bit sets.
#pragma once

#include "harness/base/err.h"
#include "harness/base/util.h"

/*
 * n candidates: the commits reachable from bad and not from good, in topological order, ancestors
 * first, so that bad is n-1. A commit's parents are indices below its own; parents that are
 * reachable from good are n..n+outside-1 where the caller numbers them, or DAG_GOOD where the
 * parent is good itself.
 *
 *	struct dag dag = {};
 *	for each commit, ancestors first: dag_add(&dag, parents, n_parents);
 *	dag_seal(&dag, outside, &err)
 */
struct dag {
	size_t n;
	size_t outside;
	uint32_t *first; /* n + 1 offsets into parents */
	int32_t *parents;
	size_t cap, parents_cap;
};

#define DAG_GOOD (-1)
/* Outside parents cannot be numbered before n is known: pass DAG_OUTSIDE(k), k from 0. */
#define DAG_OUTSIDE(k) (-100 - (int)(k))

void dag_add(struct dag *d, const int *parents, size_t n);
int dag_seal(struct dag *d, size_t outside,
	     struct err *err); /* ERR_USAGE: a parent that is not there */
void dag_release(struct dag *d);
struct dag dag_copy(const struct dag *d);

static inline size_t dag_parents(const struct dag *d, size_t i, const int32_t **ret)
{
	*ret = d->parents + d->first[i];
	return d->first[i + 1] - d->first[i];
}

/* Bit sets over the candidates. */
static inline size_t bits_words(size_t n)
{
	return (n + 63) / 64;
}
static inline bool bits_test(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}
static inline void bits_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= 1ULL << (i % 64);
}

/* Ancestors of a candidate and itself, into bits_words(n) words; one pass. */
void dag_ancestors(const struct dag *d, size_t node, uint64_t *ret_bits);
/*
 * For each commit the sum of weight over itself and its ancestors. weight takes few different
 * values: group[i] numbers them from 0, -1 stands for weight 0. Sets are built in blocks of 512
 * columns, so memory is 64 bytes a commit however many there are.
 */
void dag_sums(const struct dag *d, const int *group, const double *weight, size_t groups,
	      double *ret_sum);
/* Ancestor counts, itself included. */
void dag_counts(const struct dag *d, uint32_t *ret);
