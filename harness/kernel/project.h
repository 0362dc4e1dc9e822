// SPDX-License-Identifier: GPL-2.0-or-later
// The local runner's build: a commit of any git project, built once by the job's command and kept.
#pragma once

#include "harness/base/err.h"
#include "harness/kernel/repo.h"

struct project_spec {
	struct repo *repo;
	const char *cache_dir;
	const char *sha;	    /* 40 hex */
	const char *const *patches; /* files on top; NULL-terminated or NULL */
	const char *const *reverts; /* 40 hex commits, reverted on top; or NULL */
	char *const *command;	    /* argv, run in the worktree with CULPRIT_COMMIT set; NULL: no build */
	int64_t timeout_ns;
	const char *log_path; /* the build's output is appended there */
};

/*
 * The built worktree of this repository, commit, what is on top and command; its absolute path is
 * owned by the caller. It lies in CACHE/worktrees/project-KEY, and a finished build is told by
 * project-KEY.built beside it (the seconds it took). ERR_UNTESTABLE: does not apply (phase checkout),
 * or does not build or not in time (phase build), with the last lines of the log.
 */
int project_build(const struct project_spec *spec, char **ret_dir, double *ret_seconds,
		  bool *ret_from_cache, struct err *err);
