// SPDX-License-Identifier: GPL-2.0-or-later
// Files that describe made-up histories, for `culprit simulate`.
#pragma once

#include "harness/search/simulate.h"

/*
 *	history: {shape: dag, commits: 256, merges: 20}
 *	steps: [{delta: 2}]
 *
 * A key that is absent has its default, an empty file is all defaults. ERR_USAGE tells all faults
 * of the file, each with line and column; what it returns passes sim_model_check.
 */
int sim_model_load(const char *path, struct sim_model *ret, struct err *err);
/* The same of a text that a NUL follows; file is what faults call it. */
int sim_model_parse(const char *text, size_t len, const char *file, struct sim_model *ret,
		    struct err *err);
