// SPDX-License-Identifier: GPL-2.0-or-later
// p values adjusted for the number of tests. A NaN p stays NaN and is not counted.
// ret may be the array p itself.
#pragma once

#include <stddef.h>

/* Holm 1979: the chance of any false alarm in the family. */
void holm_adjust(const double *p, size_t n, double *ret);
/* Benjamini and Hochberg 1995: the expected share of false ones among those reported. */
void bh_adjust(const double *p, size_t n, double *ret);
