// SPDX-License-Identifier: GPL-2.0-or-later
// Checkouts of our own in the cache, which borrow the user's objects and touch nothing of theirs.
#pragma once

#include "harness/base/err.h"
#include "harness/kernel/repo.h"

/*
 * A worktree is CACHE/worktrees/KEY: a git repository of its own whose objects/info/alternates names
 * the user's object directory, so that neither the user's tree, index, branches nor .git/worktrees
 * change. KEY.lock beside it is held while it is open. It is moved from commit to commit, and only
 * files that differ get a new time, which keeps builds incremental.
 *
 *	struct worktree *wt;
 *	worktree_open(cache_dir, "linux-1f2e3d", repo, NO_DEADLINE, &wt, &err);
 *	worktree_checkout(wt, sha, true, &err);
 *	worktree_apply(wt, "a.diff", &err);
 *	... build in worktree_path(wt) ...
 *	worktree_close(wt);
 */
struct worktree;

/* Waits for another holder until the deadline (0: ERR_BUSY at once, saying who it is). */
int worktree_open(const char *cache_dir, const char *key, struct repo *repo, int64_t deadline_ns,
		  struct worktree **ret, struct err *err);
void worktree_close(struct worktree *wt); /* NULL is fine */
static inline void cleanup_worktree(struct worktree **wt)
{
	worktree_close(*wt);
}
#define autoworktree __attribute__((cleanup(cleanup_worktree)))
const char *worktree_path(const struct worktree *wt); /* absolute */

/* Exactly the tracked files of the commit; clean also removes every file that git does not track. */
int worktree_checkout(struct worktree *wt, const char *sha, bool clean, struct err *err);
/* On top of what is checked out. ERR_UNTESTABLE (phase checkout) where it does not apply, which leaves
 * the worktree as it was (apply) or without any change on top (revert). A merge is reverted to its
 * first parent. */
int worktree_apply(struct worktree *wt, const char *patch_file, struct err *err);
int worktree_revert(struct worktree *wt, const char *sha, struct err *err);
/* 40 hex of the tree that is checked out, with what is on top; equal content gives an equal one. */
int worktree_tree(struct worktree *wt, char **ret_tree, struct err *err);

/* checkout, then patches, then reverts, each NULL-terminated or NULL. */
int worktree_put(struct worktree *wt, const char *sha, const char *const *patches,
		 const char *const *reverts, bool clean, struct err *err);
