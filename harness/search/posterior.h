// SPDX-License-Identifier: GPL-2.0-or-later
// How probable each candidate is, given the values: likelihoods t and h over classes of commits.
#pragma once

#include "harness/search/dag.h"
#include "harness/search/grid.h"

/*
 * A question: which commit of `mask` moved the level between node `good` and node `bad`? The whole
 * range is one question; after a culprit is found, the two sides of it are two more. Values of
 * nodes that are neither in mask nor one of the ends tell nothing here and are left out.
 */
struct facts {
	const struct dag *dag;
	const double *prior; /* factor of each candidate */
	const int
		*program;  /* of each node slot: the slot that stands for all nodes of equal code */
	unsigned version;  /* counts changes of prior */
	unsigned programs; /* counts changes of program */
};

static inline size_t dag_slot(const struct dag *d, int node)
{
	return node >= 0 ? (size_t)node : d->n + d->outside + (size_t)(-node - 1);
}

struct post_options {
	double worse; /* +1: higher values are worse, -1: lower */
	bool worse_only;
	double known_sigma; /* of this machine, 0 unknown */
	double hist_share;  /* of likelihood h in the posterior */
	bool binary;	    /* values are 0 or 1, of which the mean counts: likelihood h alone */
};

struct level {
	double mean, var; /* in units of grid.unit from grid.origin */
};

#define T_SCALE_TO_SIGMA 1.1832159566 /* sqrt((nu + 3) / (nu + 1)), nu = 4 */

/* Commits with the same ancestors-or-self relation to everything measured: one likelihood for all.
 */
struct post_class {
	size_t commits;
	double prior; /* sum of the factors */
	size_t top;   /* its last commit in topological order */
	double p;     /* posterior, P(no change) and all classes sum to 1 */
	double log_t, log_h;
	struct level good, bad; /* of the current epoch */
	double log_scale;	/* expected, of ln(scale of a value) */
};

/* What was measured of one program. */
struct post_group {
	int program;		/* as in facts.program */
	int node;		/* one of its nodes: the first measured */
	uint64_t *anc;		/* candidates that make it bad; NULL: good whatever the culprit */
	size_t n;		/* values, all epochs */
	float *tables;		/* likelihood of its values, a table an epoch */
	int (*hist)[HIST_BINS]; /* likewise, counts in the bins of the epoch */
	size_t epochs;		/* room in both */
};

struct post_value {
	int node;
	int epoch;
	double value;
};

struct posterior {
	const struct facts *facts;
	struct post_options options;
	int good, bad;
	uint64_t *mask;

	VEC(struct post_value) values;
	VEC(int) epochs; /* as the caller numbers them, in order of appearance */
	VEC(struct post_group) groups;
	struct grid grid;
	size_t grid_values;	    /* values when the grid was laid; 0: none yet */
	unsigned version, programs; /* of the facts that classes and groups were made with */
	bool classes_stale, stale;

	int *class_of; /* of each candidate, -1 outside of mask */
	VEC(struct post_class) classes;
	bool *class_bad; /* [class][group] */
	double no_change;
	double scale; /* of a value, in grid.unit: exp of its expected logarithm */
	bool bimodal;
	size_t next_screen;   /* values at which to look for two modes again */
	size_t current_epoch; /* index */
};

/* Takes mask (bits_words(n)). */
struct posterior *posterior_new(const struct facts *facts, const struct post_options *options,
				int good, int bad, uint64_t *mask);
void posterior_free(struct posterior *p);

bool posterior_covers(const struct posterior *p,
		      int node); /* in mask, or an end, or the same program as one */
void posterior_add(struct posterior *p, int node, int epoch, double value);
/* Brings classes and probabilities up to date. False: there is no grid yet, that is fewer than
 * POST_FIRST values of an end, or the values of both ends are one constant. */
#define POST_FIRST 3
bool posterior_update(struct posterior *p);

/* All of these after posterior_update. */
double posterior_commit(const struct posterior *p, size_t commit);
bool posterior_is_bad(const struct posterior *p, size_t class, size_t group);
size_t posterior_best(const struct posterior *p); /* index of the most probable class */
const struct post_group *posterior_group(const struct posterior *p, int node); /* or NULL */
/* The values of one program (any: -1) in one epoch (any: -1), into room for all; how many. */
size_t posterior_values(const struct posterior *p, int program, int epoch, double *ret);
/* The step (bad minus good, signed so that worse is positive) in units of a value's standard
 * deviation. */
double posterior_step(const struct posterior *p);
