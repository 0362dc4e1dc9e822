// SPDX-License-Identifier: GPL-2.0-or-later
// Proofs on fresh boots: sides in turn (A B B A), a number fixed before, an exact test after.
#pragma once

#include "harness/search/search.h"

/* One side of a trial: a node and its boots in this trial alone. */
struct trial_side {
	int node;
	VEC(double) values;
};

/*
 * The last side is the one expected to be worse: the culprit against each of its parents, or bad
 * against bad without the culprit.
 */
struct trial {
	enum search_purpose purpose;
	int target;
	double worse; /* +1: higher values are worse, -1: lower */
	int boots;    /* a side */
	double sigma; /* of one boot, as it was known at the beginning */
	VEC(struct trial_side) sides;
	bool closed; /* all boots are there, or a side cannot be tested */
	bool passed;
	bool broken; /* a side cannot be tested */
	int failed;  /* boots without a value */
	double p;    /* the largest over the sides before the last */
};

/*
 * n = 2 (3.97 / d)^2 + 1, 5..60: 3.97 = z(0.99) + z(0.95), so that a step of d passes at 0.01 in 19
 * of 20 cases. Where 5 are enough, a look after 3 a side may end it at 0.001: a step of 5 and more
 * is plain by then.
 */
int trial_boots(double d);

void trial_init(struct trial *t, enum search_purpose purpose, int target, double worse, int boots,
		double sigma, const int *nodes, size_t n);
void trial_release(struct trial *t);
bool trial_has(const struct trial *t, int node);
void trial_add(struct trial *t, int node, double value); /* closes it with the last boot */
void trial_break(struct trial *t);			 /* a side turned out to be untestable */
/* Whose turn it is, and how many boots in a row (1 or 2). False: closed. */
bool trial_next(const struct trial *t, int *ret_node, int *ret_boots);

/*
 * A B B A A B B A ...: the side whose turn it is when `have` boots of each side are there and
 * `want` are wanted of each; -1 when all have them. ret_boots: how many in a row.
 */
int turn(const size_t *have, size_t sides, size_t want, int *ret_boots);
