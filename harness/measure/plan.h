// SPDX-License-Identifier: GPL-2.0-or-later
// How many runs a boot, how many boots a side: fixed before the boots that are judged.
#pragma once

#include "harness/measure/boot.h"
#include "harness/measure/learned.h"

/* What is known of the noise of one cell and metric before anything new is measured. */
struct noise {
	bool known;
	double sigma_pct;	/* of one boot value, percent of its level */
	double sigma;		/* the same in the metric's unit, at the median level */
	size_t boots;		/* that it was learned from */
	double min_effect_pct;	/* of this cell and metric: learned_min_effect_pct */
	struct learned learned; /* by `culprit aa` */
};

/* From all sessions of the same job on the same machine, each kernel against its own level. */
int plan_noise(struct lab *lab, const struct cell *cell, const struct metric *metric,
	       struct noise *ret, struct err *err);

/*
 * Runs per boot (levels_runs_per_boot), within the job's iterate.min..max:
 * fixed where min equals max, else from a pilot of 4 boots x 3 runs of this subject, once a
 * session.
 */
int plan_runs(struct lab *lab, struct subject *subject, const struct cell *const *cells,
	      size_t n_cells, uint32_t *ret, struct err *err);

/* Boots a side that show the noise's min_effect_pct in a family of `tests`, within boots.min..max.
 */
size_t plan_boots(const struct job *job, const struct noise *noise, size_t tests);

/* Boots a side that can also show that nothing beyond min_effect happened; within boots.min..max.
 */
size_t plan_boots_to_clear(const struct job *job, const struct noise *noise, size_t tests);

/* "sees changes of 1.2% and more", or what is not known yet, and what `culprit aa` knows; for the
 * line before a long command. */
char *plan_sight(const struct job *job, const struct noise *noise, size_t boots, size_t tests);
