// SPDX-License-Identifier: GPL-2.0-or-later
// Which commit to measure next: the most information per second.
#pragma once

#include "harness/search/posterior.h"

struct choice_view {
	const struct posterior *posterior; /* up to date */
	const bool *built;		   /* of each node slot */
	const bool *untestable;		   /* likewise */
	double build_s, boot_s;		   /* what they cost by what is known */
};

struct choice {
	int node;
	int boots;
	double information; /* bits, of `boots` boots */
	double cost_s;
	double p_buildable;
	double p_bad;
};

/* False: no measurement can tell more. */
bool choice_next(const struct choice_view *view, struct choice *ret);

/*
 * True where no commit that can be tested splits the class any further: it holds a single commit,
 * or none of the others can be built.
 */
bool choice_is_terminal(const struct choice_view *view, size_t class);

/*
 * Chance that a commit builds and boots: 0.9 far from those that do not, 1 - 0.75 * 0.75^(r-1) at r
 * commits from one along a line. ret: one for each candidate.
 */
void choice_buildable(const struct choice_view *view, double *ret);
