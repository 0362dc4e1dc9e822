// SPDX-License-Identifier: GPL-2.0-or-later
// Commits that cannot change the binary: none of the files they edit was read by any build.
#pragma once

#include "harness/kernel/repo.h"

/*
 * On the safe side: only edits of .c .h .S .rst .txt .md files that are there before and after
 * count, merges never, and every kernel built widens what is known to be read.
 */
struct prune;
int prune_new(struct repo *repo, const struct repo_range *range, struct prune **ret,
	      struct err *err);
void prune_free(struct prune *p);
/* The sorted list of files that one build read (artefact.sources). */
int prune_read(struct prune *p, const char *sources_path, struct err *err);
/* False: whatever this commit edits, no build so far has read it. Nothing read yet: everything
 * matters. */
bool prune_matters(const struct prune *p, size_t commit);
