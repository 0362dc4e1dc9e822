// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers as programs print them: read whole, or refused with the reason.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The whole text is one number: sign, digits, fraction, exponent; blanks around it are fine. NaN,
 * infinities, separators of thousands, a locale's comma, a point without digits and anything behind
 * the number are refused: false, and *ret_why (owned) says why.
 */
bool number_read(const char *text, size_t len, double *ret, char **ret_why);

/* Bytes start..end of an output, as a pattern captured them. */
struct capture {
	const char *text;
	size_t len;
	size_t start, end;
	bool free_start, free_end; /* the pattern says nothing about what stands before, behind */
	bool knows_commas; /* the pattern itself speaks of commas, so they separate fields */
};

/*
 * As number_read, and what stands around the captured bytes must not belong to the number:
 * `([0-9.]+)` captures 1 out of 1,234, which is refused. A sign before and an exponent behind that
 * the pattern left out are read.
 */
bool number_capture(const struct capture *c, double *ret, char **ret_why);
