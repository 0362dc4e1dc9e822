// SPDX-License-Identifier: GPL-2.0-or-later
// A cell's name, "size=64,test=x", taken apart.
#pragma once

#include <stddef.h>

struct cell_words {
	char **keys, **values; /* n each, owned */
	size_t n;
};
/* A value may hold commas, but no part of it that looks like the next parameter. */
struct cell_words cell_words(const char *name);
void cell_words_release(struct cell_words *w);
