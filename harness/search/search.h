// SPDX-License-Identifier: GPL-2.0-or-later
// The search engine: which commit to measure next, when to stop, and what may be said at the end.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/search/dag.h"

/*
 * A state machine without database, processes or git. What it knows is a pure function of what it
 * was told, in order: config, dag, facts (search_prior, search_built, search_join, search_check)
 * and the append-only log of observations. To resume, make a new one and tell it the same again;
 * search_next only reads. The driver's loop:
 *
 *	struct search *s = NULL;
 *	if (search_new(&config, &dag, &s, &err) < 0)
 *		return ...;
 *	for each row of the journal: search_add(s, &obs), search_check(...)
 *	for (;;) {
 *		search_next(s, &action);
 *		switch (action.kind) {
 *		case SEARCH_MEASURE: up to action.boots times: boot action.node, search_add
 *		case SEARCH_BUILD:   build action.node; search_built, or search_add as untestable
 *		case SEARCH_COMPARE: compare code and config; search_check twice
 *		case SEARCH_DONE:    search_result
 *		}
 *	}
 *
 * After any number of observations (fewer than asked for too) search_next may be asked again.
 * An action that is not answered is asked again.
 *
 * Nodes: 0..n-1 are candidates (n-1 is bad); n..n+outside-1 are parents of candidates that are
 * reachable from good (measured only to prove a culprit whose parent they are).
 */
enum {
	SEARCH_GOOD = -1,   /* the good end; with config.has_base the merge base */
	SEARCH_REVERT = -2, /* bad with action.target reverted on top */
	SEARCH_AHEAD = -3,  /* with config.has_base: the good the user named, no ancestor of bad */
	SEARCH_NONE = -9,
};

enum search_purpose {
	SEARCH_END,	 /* an end: is there a step at all, and has the machine drifted */
	SEARCH_STEP,	 /* narrows the candidates down */
	SEARCH_CONFIRM,	 /* parent against culprit, fresh boots */
	SEARCH_REVERTED, /* bad against bad without the culprit */
	SEARCH_ALIGNED,	 /* parent against culprit, both rebuilt with aligned functions */
	SEARCH_PURPOSES,
};

enum search_status {
	SEARCH_OK,	   /* value holds */
	SEARCH_UNTESTABLE, /* does not build or boot: this node cannot be tested */
	SEARCH_FAILED,	   /* booted, but gave no value for this metric */
};

/* One boot, or one attempt at it. What the lab broke (infra) is not told: it says nothing. */
struct search_obs {
	int node;
	enum search_purpose purpose; /* both as in the action that asked for it */
	int target; /* likewise; SEARCH_NONE except for CONFIRM, REVERTED, ALIGNED */
	enum search_status status;
	double value;	/* the boot value; NaN unless OK */
	double boot_s;	/* what the boot with its runs took, 0 unknown */
	double build_s; /* what building took, if this boot was the first of a new build; else 0 */
	double elapsed_s; /* since the bisection began, for the budget; 0 unknown */
	int epoch;	  /* machine and environment: levels are only compared within one */
	bool old;	  /* of an earlier search: a level like others, but no boot of this one */
};

enum search_better { SEARCH_HIGHER, SEARCH_LOWER };

struct search_config {
	double error;	   /* of the whole search; 0.01 */
	double min_effect; /* fraction of good's level below which nobody cares; 0.03 is 3% */
	enum search_better better;
	bool worse_only; /* an improvement is no step; the default of the product */
	bool fix;     /* good is the worse end, and what made it better is looked for: "worse" means
			 better in all of this */
	bool binary;  /* values are 0 or 1 (a boot went well or failed), their mean is the level */
	int ends_min; /* boots of each end before the first look; 5, less where noise is known */
	int ends_max; /* boots of each end before giving up; 120 */
	bool confirm; /* prove the culprit on fresh boots (off only in simulations) */
	bool revert;  /* SEARCH_REVERT can be asked for; search_check(REVERT, NA) takes it back */
	bool align;   /* ask for SEARCH_ALIGNED boots */
	bool second;  /* after a culprit look for further steps on both sides of it */
	bool has_base;		/* good is no ancestor of bad: SEARCH_GOOD is their merge base */
	double build_s, boot_s; /* first guesses of what a build and a boot cost; learned later */
	double budget_s;	/* 0: none */
	double sigma;  /* noise of a boot value known from this machine, in the metric's unit; 0
			  unknown */
	uint64_t seed; /* breaks ties of equally good choices */
};

/* {error 1%, ends 5..120, worse only, confirm, second; build 60 s, boot 10 s}. */
struct search_config search_config_default(void);

struct search;
/* Keeps pointers to neither. ERR_USAGE: no candidates, parents out of order, numbers out of range.
 */
int search_new(const struct search_config *config, const struct dag *dag, struct search **ret,
	       struct err *err);
void search_free(struct search *s);
static inline void cleanup_search(struct search **s)
{
	search_free(*s);
}
#define autosearch __attribute__((cleanup(cleanup_search)))

/* Facts. All may be told at any time and again. */
void search_prior(struct search *s, int commit,
		  double factor); /* 0.001: cannot change the binary; 1 takes it back */
void search_built(struct search *s, int node); /* in the artefact store: costs no build */
void search_join(struct search *s, int a,
		 int b); /* equal code: one program, shares samples, blames neither */
void search_skip(struct search *s, int node); /* untestable by a person's word */
bool search_is_built(const struct search *s, int node);

enum search_check {
	CHECK_ENDS,
	CHECK_PARENT,
	CHECK_REVERT,
	CHECK_SAME_CODE,
	CHECK_CONFIG,
	CHECK_ALIGNMENT,
	CHECK_REACHED,
	CHECKS
};
enum search_verdict { CHECK_NOT_RUN, CHECK_PASS, CHECK_FAIL, CHECK_NA };

/*
 * The driver's answer on a culprit. SAME_CODE and CONFIG answer COMPARE (partner = action.partner);
 * same code (FAIL) joins the two. REVERT NA: does not apply or does not build. ALIGNMENT and
 * REACHED may come at any time, after DONE too; partner is SEARCH_NONE for these.
 */
void search_check(struct search *s, int target, int partner, enum search_check check,
		  enum search_verdict verdict);

void search_add(struct search *s, const struct search_obs *obs);

enum search_kind { SEARCH_MEASURE, SEARCH_BUILD, SEARCH_COMPARE, SEARCH_DONE };

struct search_action {
	enum search_kind kind;
	int node;  /* MEASURE, BUILD: which; COMPARE: the culprit */
	int boots; /* MEASURE: at most so many before asking again; alternation asks for 1 or 2 at a
		      time */
	enum search_purpose purpose;
	int target;  /* the culprit to prove, or SEARCH_NONE; goes into the observation */
	int partner; /* COMPARE: the parent; MEASURE of two sides in turn: the other one; else
			SEARCH_NONE */
	/* Why, for --explain and progress. */
	double information; /* bits expected */
	double cost_s;	    /* of this action as it is estimated */
	double p_buildable;
	double no_change; /* P(there is no step) */
	int live;	  /* candidates whose probability is above 1e-4 */
	int boots_left; /* a guess at what is still to come, for the progress line; builds likewise
			 */
	int builds_left;
};
void search_next(const struct search *s, struct search_action *ret);

/* The leading candidates and why this action comes next, some lines of text. name writes a node's
 * name ("1a2b3c4d subject", "good", ...). */
typedef void search_name_fn(int node, struct buf *out, void *arg);
void search_explain(const struct search *s, const struct search_action *action,
		    search_name_fn *name, void *arg, struct buf *out);

enum search_outcome {
	OUTCOME_NONE, /* not done yet */
	OUTCOME_CULPRIT,
	OUTCOME_RANGE,
	OUTCOME_MERGE,
	OUTCOME_SEVERAL,
	OUTCOME_NOT_MONOTONE,
	OUTCOME_NOT_REPRODUCED,
	OUTCOME_UNTESTABLE,
	OUTCOME_BUDGET,
};
const char *
search_outcome_name(enum search_outcome o);	    /* "culprit", "not-monotone", ... as in JSON */
const char *search_check_name(enum search_check c); /* "ends", "same_code", ... */
const char *search_verdict_name(enum search_verdict v); /* "not-run", "pass", "fail", "na" */
const char *
search_purpose_name(enum search_purpose p); /* "end", "step", "confirm", "revert", "aligned" */

struct search_candidate {
	int commit;
	double probability;
};

/* From confirmation boots only. percent is the raw change of the value, NaN where it has no
 * meaning. */
struct search_effect {
	double percent, low, high; /* Hodges-Lehmann with its exact interval at 1 - error */
	double good, bad;	   /* centres, in the metric's unit */
	int boots;		   /* a side; 0: never confirmed, all NaN */
};

#define TRIAL_EARLY_ALPHA 0.001 /* what the look after three boots a side must show */

struct search_culprit {
	int commit;
	double probability;
	bool merge; /* a merge all of whose parents are good */
	struct search_effect effect;
	enum search_verdict checks[CHECKS];
	double p_value;	   /* of the confirmation, the largest over the parents */
	bool proved_early; /* by a first look after three boots a side, with the search's noise */
	double regained;   /* share of the effect that the revert takes back, NaN not measured */
};

struct search_result {
	enum search_outcome outcome;
	const char *reason;		 /* one line, never NULL; static */
	struct search_culprit *culprits; /* in order of discovery; the first is the answer */
	size_t n_culprits;
	struct search_candidate *candidates; /* smallest set of mass >= 1 - error, and untestable
						neighbours; largest first */
	size_t n_candidates;
	double probability;	   /* of the first candidate, or of the first culprit */
	double no_change;	   /* P(there is no step) */
	struct search_effect ends; /* good end against bad end, all their boots */
	double visible;	    /* the smallest change of the value these end boots would have shown,
			       metric's unit */
	double visible_pct; /* the same in percent of good's level, NaN where that has no meaning */
	int boots, builds;  /* boots told, and nodes that were built */
};
/* What is known now, DONE or not (then the outcome is NONE or what it would be if stopped: BUDGET).
 */
void search_result(const struct search *s, struct search_result *ret);
void search_result_release(struct search_result *r);

/* Of one candidate, by the question about the whole range; NaN while there is none. */

/* What a search will cost before anything is measured. */
struct search_forecast {
	double builds, boots, seconds;
	double visible; /* smallest change that ends_max boots can show, in units of the noise
			   (sigma) */
};
/* step: the expected step in units of the noise of a boot value, 0: unknown (2 is assumed). */
void search_forecast(const struct search_config *config, size_t candidates, double step,
		     struct search_forecast *ret);
