// SPDX-License-Identifier: GPL-2.0-or-later
// Faults of the files that people write: all of them collected, each with its place, told at once.
#pragma once

#include "harness/base/err.h"
#include "harness/base/util.h"

/* Where something stands; line and column count from 1, 0 means the file as a whole is meant. */
struct place {
	const char *file; /* borrowed from the diag that the file was read with */
	unsigned line, column;
};

struct fault {
	struct place at;
	char *text; /* "key 'x': what is wrong, and what was meant" */
};

/* `autodiag d = {};` has no faults. It owns the names of the files read with it. */
struct diag {
	VEC(struct fault) faults;
	VEC(char *) files;
	size_t dropped; /* faults beyond the most that anybody reads */
};
void diag_release(struct diag *d);
#define autodiag __attribute__((cleanup(diag_release))) struct diag

/* The same name for the same file, as long as the diag lives. */
const char *diag_file(struct diag *d, const char *path);
/* key NULL: the fault belongs to no key. Text that came from the file is made safe for a terminal.
 */
void diag_add(struct diag *d, struct place at, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* 0 without faults, else ERR_USAGE: a line that names the file, then one for each fault, in the
 * order of files, lines and columns, as editors read them. */
int diag_err(struct diag *d, struct err *err);
