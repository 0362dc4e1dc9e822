// SPDX-License-Identifier: GPL-2.0-or-later
// The repository under test, read only: revisions, commits, ranges.
#pragma once

#include "harness/base/err.h"
#include "harness/base/util.h"

#include <stdint.h>

/* libgit2 reads revisions and commits; git itself is spawned where libgit2 1.5 is slow or lacks the
 * feature (rev-list of a range, renames). Nothing here writes to the repository. */
struct repo;

/* NULL: found from the current directory. */
int repo_open(const char *path, struct repo **ret, struct err *err);
void repo_close(struct repo *repo);
const char *repo_path(const struct repo *repo);	   /* top of the work tree, or the bare directory; absolute */
const char *repo_git_dir(const struct repo *repo); /* where objects and refs are */
bool repo_is_shallow(const struct repo *repo);

/* Any revision git knows, to 40 hex of a commit. ERR_NOT_FOUND with the nearest name as hint. */
int repo_resolve(struct repo *repo, const char *rev, char **ret_sha, struct err *err);

/* Texts as they stand in the commit: hostile until made safe for where they go. */
struct repo_commit {
	char *subject, *message;
	char *author_name, *author_email;
	int64_t author_time, committer_time; /* seconds since 1970 */
	char *tree;			     /* 40 hex */
	char **parents;			     /* 40 hex each; NULL-terminated, NULL for a root */
};
int repo_commit(struct repo *repo, const char *sha, struct repo_commit *ret, struct err *err);
void repo_commit_release(struct repo_commit *c);

/* Names of the release tags (no -rc, alpha, beta) among a commit's ancestors, the newest first; NULL-
 * terminated, owned. Tags of the commit itself are left out. */
int repo_release_tags(struct repo *repo, const char *sha, char ***ret, struct err *err);
/* "v6.1-rc1-12-g3f2a9c1d0b1e", or the short hash where no tag leads there. */
int repo_describe(struct repo *repo, const char *sha, char **ret, struct err *err);

int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *of, struct err *err); /* 1, 0 */
int repo_merge_base(struct repo *repo, const char *a, const char *b, char **ret_sha, struct err *err);

/* The commits that can have made bad out of good. */
struct range_commit {
	char sha[41];
	size_t n_parents;
	size_t *parents; /* indices, smaller than this one's; RANGE_OUTSIDE + k: range.outside[k] */
};
#define RANGE_OUTSIDE (SIZE_MAX / 2)
struct repo_range {
	struct range_commit *commits; /* ancestors first; the last is bad */
	size_t n;
	char (*outside)[41]; /* parents of these that are reachable from good */
	size_t n_outside;
	char *good; /* the end that is measured: good, or their merge base where it is no ancestor */
	bool good_is_ancestor;
	bool bad_is_only_end; /* it touches none of the paths: measured, but nobody's culprit */
};
struct range_options {
	bool first_parent;
	const char *const *paths; /* NULL-terminated: only commits that touch these, and bad; or NULL */
};
/*
 * Reachable from bad and not from good. ERR_USAGE where good and bad are equal, swapped or unrelated, or
 * where the history ends (shallow clone) before good.
 */
int repo_range(struct repo *repo, const char *good, const char *bad, const struct range_options *options,
	       struct repo_range *ret, struct err *err);
void repo_range_release(struct repo_range *r);

/* Paths that each commit of the range changes, both sides of a rename; called once a commit in order,
 * with an empty list for merges. plain: they are all edits of files that are there before and after. */
typedef void repo_files_fn(size_t commit, char *const *paths, size_t n, bool plain, void *arg);
int repo_range_files(struct repo *repo, const struct repo_range *range, repo_files_fn *fn, void *arg,
		     struct err *err);
