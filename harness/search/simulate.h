// SPDX-License-Identifier: GPL-2.0-or-later
// The same search on made-up histories: how often it is right, and what it costs.
#pragma once

#include "harness/base/util.h"
#include "harness/base/err.h"
#include "harness/search/search.h"

#define SIM_STEPS_MAX  16
#define SIM_MODES_MAX  8
#define SIM_RUNS_MAX   1000
#define SIM_ANYWHERE   (-1)
#define SIM_TRIALS_MAX 10000000

struct sim_mode {
	double share, shift; /* a boot falls into it with this chance; shift in sigma */
};

struct sim_step {
	double delta; /* in sigma, positive is worse */
	int at;	      /* index of the commit, or SIM_ANYWHERE */
};

/* Lower values are better: a positive delta is a step to the worse. */
struct sim_model {
	bool dag;    /* with side branches, one for each merge */
	int commits; /* candidates, bad included */
	int merges;

	double sigma, sigma_boot; /* of a run, and between boots */
	double outliers; /* share of runs that sigma * (outlier_size + 5 Exp(1)) is added to */
	double outlier_size;
	double drift;	     /* amplitude of a sine over boots, in sigma */
	double drift_period; /* boots */
	double round;	     /* values come in multiples of this, in sigma; 0: they do not */
	double missing;	     /* share of boots that give no value */
	bool known;	     /* the machine's noise is known beforehand */
	struct sim_mode modes[SIM_MODES_MAX];
	int n_modes;

	int runs; /* in a boot; its value is their median */
	struct sim_step steps[SIM_STEPS_MAX];
	int n_steps;

	double untestable;     /* share of commits */
	double untestable_run; /* mean length of a block of them */

	double cost_build, cost_boot, cost_run;
	double error;
	int ends_max;
	bool confirm;
};
struct sim_model sim_model_default(void); /* what an empty file says: no step, the other defaults */
double sim_untestable_max(double run); /* the largest rate that blocks of this mean length reach */
int sim_model_check(const struct sim_model *m, struct err *err); /* ERR_USAGE */

struct sim_spread {
	double mean, p95;
};

struct sim_report {
	int trials;
	int right;  /* any planted step named (none planted: nothing named) */
	int wrong;  /* a commit named that is no planted step */
	int in_set; /* a planted step named or in the reported set */
	int all;    /* every planted step named */
	int outcomes[OUTCOME_BUDGET + 1];
	struct sim_spread boots, builds, cost;
	double set_size;	      /* mean, where a set was reported */
	double wrong_low, wrong_high; /* 95% limits of the rate of wrong names */
};

/* The same seed gives the same report whatever jobs is. Forks jobs workers (1: none), shows
 * progress, and ends with ERR_INTERRUPTED when a stop signal comes. */
int simulate(const struct sim_model *m, int trials, uint64_t seed, int jobs, struct sim_report *ret,
	     struct err *err);
