// SPDX-License-Identifier: GPL-2.0-or-later
// Kernels side by side: their boots alternate (A B B A ...), so that drift falls on all alike.
#pragma once

#include "harness/measure/plan.h"
#include "harness/measure/series.h"
#include "harness/stats/compare.h"

/* One of the kernels. */
struct side {
	struct subject_spec spec; /* borrows */
	struct subject subject;	  /* side_prepare; SUBJECT_NONE before */
	size_t barren;		  /* boots in a row without a value */
};

struct rounds {
	struct lab *lab;
	struct side *sides;
	size_t n_sides;
	const struct cell *const *cells;
	size_t n_cells;
	const char *purpose; /* of the boots, in the store */
	uint64_t seed;
	uint32_t runs, boots; /* of each cell in a boot; of each side */
	bool together;	      /* a side that cannot be tested ends the whole */
	struct series series; /* what there is, an earlier process's part included */
};

/* Builds a side (or finds it built); what cannot be is left out of the rounds. */
int side_prepare(struct lab *lab, struct side *side, struct err *err);
static inline bool side_is_out(const struct side *s)
{
	return s->subject.untestable || s->barren >= VALUELESS_BOOTS_MAX;
}
/* The first side that can be tested, or NULL. */
struct side *rounds_first(const struct rounds *r);

/* Boots a side, decided once a session by `decide` from the noise of the noisiest KPI (compared
 * with the first side: `tests` comparisons) and noted; runs a boot by plan_runs. Fills runs and
 * boots. */
typedef size_t boots_fn(const struct job *job, const struct noise *noise, size_t tests);
int rounds_plan(struct rounds *r, boots_fn *decide, struct noise *ret_noise, size_t *ret_tests,
		struct err *err);

/*
 * Takes the boots that are still missing. A side whose kernel does not come up, or gives no value
 * in VALUELESS_BOOTS_MAX boots in a row, is out. Errors are those of measure_boot.
 */
int rounds_take(struct rounds *r, struct err *err);
/* Boot values of a side; owned. */
double *rounds_values(const struct rounds *r, size_t side, const struct cell *cell,
		      const struct metric *metric, size_t *ret_n);
/* The metric of side b against side a, by the job's error and smallest effect; the verdict is made
 * by compare_family, with all rows that belong together. */
void rounds_compare(const struct rounds *r, size_t a, size_t b, const struct cell *cell,
		    const struct metric *metric, struct comparison *ret);
void rounds_release(struct rounds *r); /* sides too, but not what their specs borrow */
