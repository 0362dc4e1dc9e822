// SPDX-License-Identifier: GPL-2.0-or-later
// A comparison column: [NAME=]REV[+FILE...][-COMMIT...], patches on top, commits reverted on top.
#pragma once

#include "harness/kernel/repo.h"
#include "harness/measure/subject.h"

struct column {
	char *name;	/* as given, or the text of the column */
	char *sha;	/* 40 hex */
	char **patches; /* absolute paths */
	char **reverts; /* 40 hex */
};

/* The revision is the longest prefix that git resolves, so that v6.1-rc1 is a tag and v3.3-518cd623
 * is not. */
int column_parse(struct repo *repo, const char *text, struct column *ret, struct err *err);
void column_release(struct column *c);
struct subject_spec column_subject(const struct column *c); /* borrows */
