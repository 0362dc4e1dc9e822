// SPDX-License-Identifier: GPL-2.0-or-later
// The judgement of one metric on two kernels, and of a whole table of them.

/*
 *	compare_values(a, n_a, b, n_b, &options, &row);		// for each row
 *	compare_family(rows, n_rows);				// then all at once
 *
 * A verdict exists only after compare_family(), because it depends on how many tests there
 * were: Holm over the KPI rows, Benjamini-Hochberg over the others.
 *
 * The values are boot values, whose number was fixed beforehand. percent is the change of b
 * against a whatever direction is better; only the verdict looks at the direction.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "harness/stats/modes.h"
#include "harness/stats/shift.h"
#include "harness/stats/spread.h"
#include "harness/stats/summary.h"

enum verdict {
	VERDICT_INCONCLUSIVE,
	VERDICT_REGRESSION,
	VERDICT_IMPROVEMENT,
	VERDICT_NO_REGRESSION,
	VERDICT_TOO_FEW_BOOTS,
	VERDICT_BIMODAL,
};

/* "regression", "no-regression", ... as in the JSON. */
const char *verdict_name(enum verdict v);

struct compare_options {
	bool higher_is_better;
	bool kpi;
	double min_effect_pct;	 /* smaller changes are none; 3 is 3% */
	double min_effect_units; /* the same for values without a percentage; 0: from pct */
	double error;		 /* 0.01 */
	double level;		 /* of the interval; 0: 1 - error */
};

/* What the job gives (percent), else (0) the larger of 1% and the spread of boots that is known;
 * NaN: none. */
double compare_min_effect_pct(double given_pct, double known_spread_pct);

struct comparison {
	struct compare_options options;
	struct summary a, b;
	size_t missing_a, missing_b; /* values that were not finite: left out */

	/* Hodges-Lehmann in percent; NaN where a value is zero or negative. */
	struct shift percent;
	struct shift difference; /* Hodges-Lehmann in units, always */
	double centre_pct;	 /* change of the medians, percent; NaN at a zero baseline */
	double level;		 /* of both intervals, as far as the boots reach */

	double p;	      /* exact Mann-Whitney, two-sided; NaN on an empty side */
	bool exact;	      /* false: normal approximation, very many boots */
	double p_adjusted;    /* by compare_family() */
	double welch_p;	      /* second opinion; NaN where tails forbid it */
	struct spread spread; /* did the noise between boots change; see spread_verdict() */
	struct modes modes_a, modes_b;
	bool equivalent; /* both one-sided tests at 5% within min_effect */
	double sigma;	 /* of one boot value, robust; in percent where percent is one */

	enum verdict verdict; /* by compare_family() */
	size_t needs_boots;   /* see below */
};

void compare_values(const double *a, size_t n_a, const double *b, size_t n_b,
		    const struct compare_options *options, struct comparison *ret);

/*
 * rows of one table: adjusts p, sets verdicts and needs_boots, which is the boots a side that
 * a verdict takes (too-few-boots) or takes in nine of ten cases if the change is what it was
 * estimated to be (inconclusive); 0 where a verdict stands or no number of boots will do.
 * Rows without p are not counted as tests.
 */
void compare_family(struct comparison *const *rows, size_t n);
