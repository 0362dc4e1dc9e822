// SPDX-License-Identifier: GPL-2.0-or-later
// Does a metric fall into two modes? A mean says nothing then.

/*
 * Two normals are fitted by EM and believed only if all of these hold: 10 values or more,
 * BIC better by more than 6 than that of one normal, Ashman's D of 3 or more, and the minor
 * mode holds at least max(2.5, n / 10) values. Two neighbouring values of a rounded metric
 * are no modes: no mode is taken to be narrower than half of the smallest gap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MODES_MIN_VALUES 10

struct mode {
	double centre;
	double sd;
	double share;	/* 0..1 */
};

struct modes {
	bool two;		/* the verdict; the rest is NaN under 10 values and where all are equal */
	struct mode low, high;	/* low.centre <= high.centre */
	double dbic;		/* BIC of one normal - BIC of two */
	double ashman_d;
};

struct modes modes_screen(const double *v, size_t n);
