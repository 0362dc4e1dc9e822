// SPDX-License-Identifier: GPL-2.0-or-later
// The noise of one commit against itself: between runs, boots, and builds with another layout.
#pragma once

#include "db/store.h"
#include "harness/job/job.h"

#define AA_KIND	   "aa" /* of the session */
#define AA_PURPOSE "aa" /* of its boots */
/* Its sides: the commit as it is, and rebuilt with functions aligned to 64 bytes. */
#define AA_PLAIN   "plain"
#define AA_ALIGNED "aligned"

/* A standard deviation in the metric's unit and in percent of the centre; NaN where not known. */
struct aa_level {
	double sd, pct;
	size_t n; /* runs, boots, builds that gave a value */
};

struct aa_noise {
	double centre;	       /* median boot value of the commit as it is */
	struct aa_level run;   /* inside a boot */
	struct aa_level boot;  /* without run noise; with it where a boot has one run */
	struct aa_level build; /* without that of boots */
	struct aa_level value; /* of one boot value as a comparison takes it, in one build */
	double spread_pct;     /* of boot values of any build; NaN from fewer than three to spare */
};

/* From an `aa` session's boots, as far as it got; voided boots do not count. */
int aa_estimate(struct store *store, int64_t session, const struct cell *cell,
		const struct metric *metric, struct aa_noise *ret, struct err *err);
/* The smallest change that so many boots a side show in one test; NaN where the noise is not known,
 * infinite where so few boots show none. In the metric's unit. */
double aa_visible(const struct aa_noise *noise, size_t boots, double error);
