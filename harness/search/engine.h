// SPDX-License-Identifier: GPL-2.0-or-later
// The inside of the engine, shared by the files that make it up. Not for others.
#pragma once

#include "harness/search/choice.h"
#include "harness/search/confirm.h"
#include "harness/search/search.h"

#define NO_CHANGE_MAX 0.05 /* while P(no change) is above, the ends are measured */

/*
 * A question to the range (see posterior.h), and how it stands. The first is the whole range; a
 * culprit that is found opens one for each side of it.
 */
struct stage {
	struct posterior *posterior;
	int proof_boots;  /* beside a culprit: what its proof took, a side; 0: the whole range */
	int steps;	  /* boots spent on narrowing down */
	int tries;	  /* proofs that failed */
	int culprit;	  /* found and proved, or SEARCH_NONE */
	double culprit_p; /* its probability when it was found */
};

struct answer {
	int target, partner;
	enum search_check check;
	enum search_verdict verdict;
};

/* Levels are compared within an epoch; a machine that drifts begins a new one. */
struct epoch {
	int driver; /* as the driver numbers it */
	int index;  /* as the posterior does */
};

/* An end that looks as if it moved is measured three times more before its values count. */
#define RECHECK_BOOTS 4
struct recheck {
	int node; /* SEARCH_NONE: none is going on */
	double values[RECHECK_BOOTS];
	size_t n;
};

struct search {
	struct search_config config;
	struct dag dag;
	double worse; /* +1: higher values are worse */

	/* what is known of nodes, by slot */
	size_t slots;
	bool *built, *untestable;
	int *valued, *failed; /* boots with and without a value */
	int *program;	      /* facts.program */
	double *prior;	      /* of candidates: as told */
	double *weight;	      /* facts.prior: 0 where the commit would have to part two nodes of one
				 program */
	struct facts facts;

	VEC(struct post_value) values; /* all that counts for levels, in order */
	VEC(struct epoch) epochs;
	int n_epochs;
	struct recheck recheck;
	int since_end; /* boots since an end was measured */

	VEC(struct stage) stages;
	VEC(struct trial) trials;
	VEC(struct answer) answers;

	double build_s, boot_s; /* means of what was told, of builds without the longest */
	double built_s, longest_build_s;
	int n_build_s, n_boot_s;
	double elapsed_s;
	int boots;
};

static inline int bad_end(const struct search *s)
{
	return (int)s->dag.n - 1;
}
static inline bool is_candidate(const struct search *s, int node)
{
	return node >= 0 && (size_t)node < s->dag.n;
}

/* nodes.. of search.c */
bool node_untestable(const struct search *s, int node);
int node_program(const struct search *s, int node);
size_t node_count(const struct search *s, int node,
		  int epoch); /* values that count for levels; epoch -1: all */
size_t node_values(const struct search *s, int node, int epoch,
		   double *ret); /* ret: room for s->values.n */
int current_epoch(const struct search *s);
enum search_verdict find_answer(const struct search *s, int target, int partner,
				enum search_check check);
/* The parents of a candidate as nodes, each once; ret has room for all dag_parents. */
size_t culprit_parents(const struct search *s, int commit, int *ret);
struct choice_view stage_view(const struct search *s, const struct stage *st);

/* stage.c: how a question stands */
enum stage_state {
	STAGE_WANTS,	  /* an action */
	STAGE_FOUND,	  /* stage.culprit */
	STAGE_NO_CHANGE,  /* the ends do not differ */
	STAGE_SAME_CODE,  /* the ends are one program */
	STAGE_UNTESTABLE, /* an end is */
	STAGE_RANGE,	  /* nothing tells the candidates apart any further */
	STAGE_NOT_PROVED, /* as often as one was named, fresh boots did not show it */
};
enum stage_state stage_look(const struct search *s, const struct stage *st,
			    struct search_action *ret);
/* The only commit of the most probable class that has any weight, or SEARCH_NONE. */
int stage_single(const struct search *s, const struct stage *st);

/* trials.c: the proofs of culprits */
void trials_open(struct search *s,
		 const struct search_obs *obs); /* if this is the first boot of one */
void trials_add(struct search *s, const struct search_obs *obs, bool ok);
struct trial *trial_find(const struct search *s, enum search_purpose purpose,
			 int target); /* the last one, or NULL */
/* The boot that the proof of this culprit waits for; opens nothing. False: it is closed. */
bool trial_wants(const struct search *s, enum search_purpose purpose, int target,
		 struct search_action *ret);
/* Revert and alignment of a culprit that was found. */
bool culprit_wants(const struct search *s, int culprit, struct search_action *ret);
/* How much of the effect a revert takes back, NaN where that was not measured. */
double culprit_regained(const struct search *s, int culprit);
enum search_verdict culprit_check(const struct search *s, int culprit, enum search_check check);
/* From all boots of all trials of this purpose; against the parent with the smallest effect. */
struct search_effect trials_effect(const struct search *s, enum search_purpose purpose, int target);
/* Of some boots against others: their shift in percent, or of binary values the two shares. */
struct search_effect effect_between(const struct search *s, const double *good, size_t n_good,
				    const double *bad, size_t n_bad);

/* monotone.c: does it go bad, good, bad along one line? */
bool find_zigzag(const struct search *s, int ret[3]);
/* A measured node that contradicts what is about to be named, with too few boots to tell. */
int find_contradiction(const struct search *s, const struct stage *st);
