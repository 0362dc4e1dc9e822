// SPDX-License-Identifier: GPL-2.0-or-later
// Worktrees in the cache: made once, locked while open, repaired after a kill.
#include "harness/kernel/worktree.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/progress.h"
#include "harness/kernel/git.h"

struct worktree {
	char *path;
	char *marker; /* there while a checkout is under way: what it leaves when killed is not
			 known */
	int lock_fd;
};

static int lock(struct worktree *wt, const char *key, int64_t deadline_ns, struct err *err)
{
	autofree char *path = xasprintf("%s.lock", wt->path);
	int rc = fs_lock(path, key, 0, &wt->lock_fd, err);

	if (rc != -ERR_BUSY || clock_now_ns() >= deadline_ns)
		return rc;
	progress_phase("wait: %s", err->message);
	return fs_lock(path, key, deadline_ns - clock_now_ns(), &wt->lock_fd, err);
}

static int write_line(const struct worktree *wt, const char *name, const char *text,
		      struct err *err)
{
	autofree char *path = xasprintf("%s/.git/%s", wt->path, name);
	autofree char *line = xasprintf("%s\n", text);

	return fs_write(path, line, strlen(line), err);
}

/* The user's history may have been deepened or cut since the last time. */
static int copy_shallow(const struct worktree *wt, struct repo *repo, struct err *err)
{
	autofree char *from = xasprintf("%s/shallow", repo_git_dir(repo));
	autofree char *to = xasprintf("%s/.git/shallow", wt->path);

	if (fs_exists(from))
		return fs_copy(from, to, 0644, err);
	return fs_remove_tree(to, err);
}

/* A git that was killed leaves its lock files; nobody else works here, since we hold ours. */
static int remove_stale_locks(const struct worktree *wt, struct err *err)
{
	static const char *const names[] = {"index.lock", "HEAD.lock", "config.lock",
					    "shallow.lock"};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !rc; i++) {
		autofree char *path = xasprintf("%s/.git/%s", wt->path, names[i]);

		rc = fs_remove_tree(path, err);
	}
	return rc;
}

/* Done in steps: what a kill left between two of them goes, for no git would understand it. */
static int create(const struct worktree *wt, const char *ready, struct err *err)
{
	int rc = fs_remove_tree(wt->path, err);

	if (!rc)
		rc = fs_mkdirs(wt->path, err);
	if (!rc)
		rc = git_run(wt->path, GIT_ARGS("init", "-q", "--template=", "."), 0, NULL, ERR_IO,
			     err);
	return rc ? rc : fs_write(ready, "", 0, err);
}

static int set_up(const struct worktree *wt, struct repo *repo, struct err *err)
{
	autofree char *objects = xasprintf("%s/objects", repo_git_dir(repo));
	autofree char *ready = xasprintf("%s/.git/culprit-ready", wt->path);
	int rc = fs_exists(ready) ? remove_stale_locks(wt, err) : create(wt, ready, err);

	/* Quotes would begin an escaped path; a path that begins with one is not worth the trouble.
	 */
	if (!rc)
		rc = write_line(wt, "objects/info/alternates", objects, err);
	return rc ? rc : copy_shallow(wt, repo, err);
}

int worktree_open(const char *cache_dir, const char *key, struct repo *repo, int64_t deadline_ns,
		  struct worktree **ret, struct err *err)
{
	autofree char *cache = fs_absolute(cache_dir);
	autofree char *parent = xasprintf("%s/worktrees", cache);
	autoworktree struct worktree *wt = xcalloc(1, sizeof(*wt));
	int rc;

	wt->lock_fd = -1;
	wt->path = xasprintf("%s/%s", parent, key);
	wt->marker = xasprintf("%s/.git/culprit-moving", wt->path);
	rc = fs_mkdirs(parent, err);
	if (!rc)
		rc = lock(wt, key, deadline_ns, err);
	if (!rc)
		rc = set_up(wt, repo, err);
	if (rc)
		return err_wrap(err, "worktree");
	*ret = take_ptr(&wt);
	return 0;
}

void worktree_close(struct worktree *wt)
{
	if (!wt)
		return;
	cleanup_close(&wt->lock_fd);
	free(wt->path);
	free(wt->marker);
	free(wt);
}

const char *worktree_path(const struct worktree *wt)
{
	return wt->path;
}

int worktree_checkout(struct worktree *wt, const char *sha, bool clean, struct err *err)
{
	bool unknown = fs_exists(wt->marker);
	int rc = fs_write(wt->marker, "", 0, err);

	/* Drops what is half applied or half reverted, too. */
	if (!rc)
		rc = git_run(wt->path, GIT_ARGS("checkout", "-q", "--detach", "--force", sha, "--"),
			     0, NULL, ERR_IO, err);
	if (!rc && (clean || unknown))
		rc = git_run(wt->path, GIT_ARGS("clean", "-ffdxq"), 0, NULL, ERR_IO, err);
	if (!rc)
		rc = fs_remove_tree(wt->marker, err);
	if (rc) {
		err_wrap(err, "checkout of %.12s", sha);
		err_phase(err, "checkout");
	}
	return rc;
}

static int not_applied(struct err *err, const char *what, const char *subject)
{
	int rc = err_wrap(err, "%s '%s' does not apply", what, subject);

	err_phase(err, "checkout");
	return rc;
}

int worktree_apply(struct worktree *wt, const char *patch_file, struct err *err)
{
	autofree char *path = fs_absolute(patch_file);

	if (access(path, R_OK))
		return err_errno(err, "cannot read patch '%s'", patch_file);
	if (git_run(wt->path, GIT_ARGS("apply", "--index", "--whitespace=nowarn", path), 0, NULL,
		    ERR_UNTESTABLE, err))
		return not_applied(err, "patch", patch_file);
	return 0;
}

int worktree_revert(struct worktree *wt, const char *sha, struct err *err)
{
	struct err ignored ERR_CLEANUP = {};
	autofree char *second = xasprintf("%s^2", sha);
	int merge = git_ask(wt->path, GIT_ARGS("rev-parse", "-q", "--verify", second), NULL, err);
	const char *const *args = merge ? GIT_ARGS("revert", "--no-commit", "-m", "1", sha)
					: GIT_ARGS("revert", "--no-commit", sha);

	if (merge < 0)
		return merge;
	if (git_run(wt->path, args, 0, NULL, ERR_UNTESTABLE, err) == 0)
		return 0;
	not_applied(err, "the revert of", sha);
	git_run(wt->path, GIT_ARGS("reset", "-q", "--hard"), 0, NULL, ERR_IO, &ignored);
	return -(int)err->code;
}

int worktree_tree(struct worktree *wt, char **ret_tree, struct err *err)
{
	autobuf out = {};
	int rc = git_run(wt->path, GIT_ARGS("write-tree"), 0, &out, ERR_IO, err);

	if (rc)
		return rc;
	if (out.len != 41)
		return err_set(err, ERR_IO, "git write-tree printed no tree");
	*ret_tree = xstrndup(buf_str(&out), 40);
	return 0;
}

int worktree_put(struct worktree *wt, const char *sha, const char *const *patches,
		 const char *const *reverts, bool clean, struct err *err)
{
	int rc = worktree_checkout(wt, sha, clean, err);

	for (; !rc && patches && *patches; patches++)
		rc = worktree_apply(wt, *patches, err);
	for (; !rc && reverts && *reverts; reverts++)
		rc = worktree_revert(wt, *reverts, err);
	return rc;
}
