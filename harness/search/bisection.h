// SPDX-License-Identifier: GPL-2.0-or-later
// The inside of a bisection, shared by the files that make it up. Not for other rooms.
#pragma once

#include "harness/measure/subject.h"
#include "harness/search/bisect.h"
#include "harness/search/prune.h"

/* A node of the search in one of its forms: as it is, reverted on top of bad, or rebuilt aligned.
 */
struct slot {
	int node, target; /* target: the reverted culprit of SEARCH_REVERT, else SEARCH_NONE */
	bool aligned;
	bool ready;
	struct subject subject;
};

struct bisection {
	struct lab *lab;
	const struct bisect_spec *spec;
	struct dag dag;
	struct search *search;
	struct prune *prune; /* NULL: nothing is pruned (not a kernel job) */
	bool *pruned;	     /* by candidate */
	bool prior_told;
	VEC(struct slot *) slots; /* each allocated by itself: boots point to their subjects */
	const struct cell *cell;  /* steers */
	const struct cell **all_cells;
	uint32_t runs;
	double sigma;		/* known noise, as fixed when the session began; 0 unknown */
	double build_s, boot_s; /* known costs, likewise */
	bool reuse_told;	/* earlier sessions were asked for their values */
	size_t reused;		/* values that came from them */
	double elapsed_before;	/* in earlier processes */
	int64_t start_ns;
	uint64_t boots; /* of this process, for seeds */
};

/* nodes.c: what a node is */
const char *node_sha(const struct bisection *b, int node);
void node_name(int node, struct buf *out, void *bisection); /* a search_name_fn */
struct slot *node_slot(struct bisection *b, int node, int target, bool aligned);
/* Builds what the slot stands for; what that teaches (costs, equal code, files read) is told and
 * noted. */
int node_prepare(struct bisection *b, struct slot *slot, struct err *err);
void nodes_release(struct bisection *b);

/* journal.c: the engine hears of everything through these, and of an earlier process's part by
 * replay */
int journal_replay(struct bisection *b, struct err *err);
int journal_obs(struct bisection *b, const struct search_obs *obs, int64_t boot, struct err *err);
int journal_check(struct bisection *b, int target, int partner, enum search_check check,
		  enum search_verdict verdict, struct err *err);
int journal_built(struct bisection *b, int node, struct err *err);
int journal_join(struct bisection *b, int a, int c, struct err *err);
/* one prior factor for many candidates */
int journal_prior(struct bisection *b, double factor, const int *nodes, size_t n, struct err *err);

/* actions.c */
double bisection_elapsed_s(const struct bisection *b);
int act(struct bisection *b, const struct search_action *action, struct err *err);

/* reuse.c: once both ends were measured now, values of earlier sessions that agree with them */
int reuse_earlier(struct bisection *b, struct err *err);

/* choose.c: the cell that tells most per second, from a few boots of both ends with all cells */
int choose_cell(struct bisection *b, struct err *err);

/* ending.c: from the engine's result to the bisection's row */
int write_ending(struct bisection *b, enum search_outcome *ret, struct err *err);
/* the cell that steers, or the first where that is still to be chosen: whose noise counts at the
 * beginning */
const struct cell *known_cell(const struct bisection *b);
/* the row as it stands at the beginning, and what an earlier process fixed there */
int open_row(struct bisection *b, struct err *err);
