// SPDX-License-Identifier: GPL-2.0-or-later
// Showing that nothing changed: two one-sided tests against a margin.

/*
 * The tests are exact rank tests, inverted: both reject at alpha exactly when the
 * Hodges-Lehmann interval of level 1 - 2 alpha lies within the margin. "Not significant" is
 * no evidence of equality; this is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Is b - a shown to lie within -margin..margin (in units)? */
bool equivalence_shown(const double *a, size_t n_a, const double *b, size_t n_b,
		       double margin, double alpha);

/* The same for the percentage by which b differs from a; false where none is defined. */
bool equivalence_shown_percent(const double *a, size_t n_a, const double *b, size_t n_b,
			       double margin_pct, double alpha);

/*
 * Boots a side to show it with probability `power` where nothing changed:
 * 2 (z(1 - alpha) + z(1 - (1 - power) / 2))^2 / (margin / sigma)^2. 0: no number will do.
 */
size_t equivalence_boots(double margin, double sigma, double alpha, double power);
