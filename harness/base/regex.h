// SPDX-License-Identifier: GPL-2.0-or-later
// Regular expressions (PCRE2) with limits, so that no pattern and no output can hang us.
#pragma once

#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct regex;
/* Multi-line (^ and $ at lines), UTF off (outputs may hold any byte). ERR_USAGE names the position. */
int regex_new(const char *pattern, struct regex **ret, struct err *err);
void regex_free(struct regex *re);
static inline void cleanup_regex(struct regex **re)
{
	regex_free(*re);
}
#define autoregex __attribute__((cleanup(cleanup_regex)))
struct regex_match {
	size_t start, end;	       /* of the whole match */
	size_t group_start, group_end; /* of the first group that took part, else the whole match */
};
/* Searches from offset `from`. 1 found, 0 not, negative: match limit reached (ERR_FAILED). */
int regex_next(struct regex *re, const char *text, size_t len, size_t from, struct regex_match *ret,
	       struct err *err);
bool regex_is_match(struct regex *re, const char *text);
