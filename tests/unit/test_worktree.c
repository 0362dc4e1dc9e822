// SPDX-License-Identifier: GPL-2.0-or-later
// worktree and project: checkouts in the cache, builds of them, and a user's repository left alone.
#include "tests/unit/repo_fixture.h"

#include "harness/kernel/project.h"
#include "harness/kernel/worktree.h"

#include <signal.h>
#include <sys/wait.h>

static char *in_fixture(const char *name)
{
	return xasprintf("%s/%s", fixture_dir, name);
}

/* Four commits and a merge; the user's own tree is dirty in every way there is, with hooks and
 * filters that must not run. */
static void make_repo(void)
{
	free(shell("git init -q -b main r; cd r\n"
		   "commit base a.c 'one\\ntwo\\nthree\\n'; git tag base\n"
		   "git checkout -q -b side; commit s1 side.c 's\\n'\n"
		   "git checkout -q main; commit two b.c 'b\\n'; git tag two\n"
		   "git merge -q --no-ff -m merge side; git tag merge\n"
		   "commit three a.c 'one\\nTWO\\nthree\\n'; git rm -q b.c; commit four; git tag "
		   "four\n"
		   "echo 'a.c filter=evil' > .gitattributes; git add .gitattributes; commit "
		   "attributes\n"
		   "git config filter.evil.smudge \"touch $PWD/../evil-ran; cat\"\n"
		   "printf '#!/bin/sh\\ntouch %s/hook-ran\\n' $PWD/.. > .git/hooks/post-checkout\n"
		   "chmod +x .git/hooks/post-checkout; cp .git/hooks/post-checkout "
		   ".git/hooks/post-index-change\n"
		   "echo dirty >> a.c; echo staged > staged.c; git add staged.c; echo new > "
		   "untracked.c\n"
		   "cd ..; printf -- '--- a/a.c\\n+++ b/a.c\\n@@ -1,3 +1,3 @@\\n-one\\n+1\\n "
		   "two\\n three\\n' > base.patch"));
}

/* An object that git would have written gets a new time, which only keeps it from being pruned. */
static const char look[] =
	"cd r; git --no-optional-locks status --porcelain; git for-each-ref; cat .git/HEAD\n"
	"find . -path './.git/objects/*' -printf '%p %s\\n' -o -printf '%p %T@ %s\\n' | sort";

static bool has(const struct worktree *wt, const char *file, const char *want)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = xasprintf("%s/%s", worktree_path(wt), file);
	autobuf text = {};

	if (!want)
		return !fs_exists(path);
	return fs_read(path, 1000, &text, &err) == 0 && streq(buf_str(&text), want);
}

static struct timespec time_of(const struct worktree *wt, const char *file)
{
	autofree char *path = xasprintf("%s/%s", worktree_path(wt), file);
	struct stat st = {};

	stat(path, &st);
	return st.st_mtim;
}

static void test_moves(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *two = sha_of(repo, "two"), *four = sha_of(repo, "four"),
		      *head = sha_of(repo, "main"), *merge = sha_of(repo, "merge"),
		      *evil = in_fixture("evil-ran"), *extra = NULL, *tree = NULL,
		      *want = shell("git -C r rev-parse four^{tree}");
	autoworktree struct worktree *wt = NULL;
	struct timespec before, after;

	is_int(worktree_open(cache, "moves", repo, 0, &wt, &err), 0, "opened");
	is_int(worktree_checkout(wt, two, false, &err), 0, "checked out");
	ok(has(wt, "b.c", "b\n") && has(wt, "side.c", NULL) && has(wt, "staged.c", NULL),
	   "the commit's files alone");
	extra = xasprintf("%s/extra.o", worktree_path(wt));
	fs_write(extra, "x", 1, &err);
	before = time_of(wt, "b.c");
	is_int(worktree_checkout(wt, merge, false, &err), 0, "moved on");
	after = time_of(wt, "b.c");
	ok(memcmp(&before, &after, sizeof(before)) == 0,
	   "a file that did not change keeps its time");
	ok(has(wt, "extra.o", "x"), "what is not tracked stays");
	is_int(worktree_checkout(wt, four, true, &err), 0, "moved, and cleaned");
	ok(has(wt, "b.c", NULL) && has(wt, "extra.o", NULL) && has(wt, "a.c", "one\nTWO\nthree\n"),
	   "nothing else is there");
	worktree_tree(wt, &tree, &err);
	is_str(tree, want, "its tree");
	is_int(worktree_checkout(wt, head, false, &err), 0, "attributes that name a filter");
	ok(!fs_exists(evil), "no filter of the user ran");
	is_int(worktree_checkout(wt, "0123456789012345678901234567890123456789", false, &err),
	       -ERR_IO, "a commit that is not there");
	is_str(err.phase, "checkout", "its phase");
	is_int(worktree_checkout(wt, two, false, &err), 0, "and on");
}

static void test_on_top(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *base = sha_of(repo, "base"), *merge = sha_of(repo, "merge"),
		      *four = sha_of(repo, "four"), *three = sha_of(repo, "four~1"),
		      *patch = in_fixture("base.patch"), *first = NULL, *second = NULL,
		      *plain = NULL, *reverted = NULL,
		      *want = shell("git -C r rev-parse merge^{tree}");
	const char *const patches[] = {patch, NULL}, *const reverts[] = {merge, NULL};
	autoworktree struct worktree *wt = NULL;

	worktree_open(cache, "on-top", repo, 0, &wt, &err);
	is_int(worktree_put(wt, base, patches, NULL, true, &err), 0, "a patch on top");
	ok(has(wt, "a.c", "1\ntwo\nthree\n"), "applied");
	worktree_tree(wt, &first, &err);
	worktree_checkout(wt, base, true, &err);
	ok(has(wt, "a.c", "one\ntwo\nthree\n"), "and gone with the next checkout");
	worktree_tree(wt, &plain, &err);
	worktree_put(wt, base, patches, NULL, true, &err);
	worktree_tree(wt, &second, &err);
	ok(streq(first, second) && !streq(first, plain), "the same content, the same tree");
	is_int(worktree_put(wt, four, patches, NULL, true, &err), -ERR_UNTESTABLE,
	       "a patch that does not apply");
	ok(streq(err.phase, "checkout") && strstr(err.message, "does not apply"), "said so: %s",
	   err.message);
	is_int(worktree_apply(wt, "/no/such.patch", &err), -ERR_NOT_FOUND,
	       "a patch that is not there");
	is_int(worktree_put(wt, merge, NULL, reverts, true, &err), 0, "a merge reverted");
	ok(has(wt, "side.c", NULL) && has(wt, "b.c", "b\n"), "to its first parent");
	worktree_checkout(wt, four, true, &err);
	is_int(worktree_revert(wt, four, &err), 0, "one commit reverted");
	is_int(worktree_revert(wt, three, &err), 0, "and another on top of that");
	worktree_tree(wt, &reverted, &err);
	is_str(reverted, want, "back at the merge's tree");
	worktree_checkout(wt, four, true, &err);
	is_int(worktree_revert(wt, base, &err), -ERR_UNTESTABLE, "a revert that conflicts");
	ok(has(wt, "a.c", "one\nTWO\nthree\n"), "leaves no trace of it");
	is_int(worktree_checkout(wt, base, false, &err), 0, "and on");
}

static void test_after_kill(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *two = sha_of(repo, "two"),
		      *lock = in_fixture("cache/worktrees/killed/.git/index.lock"),
		      *marker = in_fixture("cache/worktrees/killed/.git/culprit-moving"),
		      *stray = in_fixture("cache/worktrees/killed/stray.c");
	struct worktree *wt = NULL;

	worktree_open(cache, "killed", repo, 0, &wt, &err);
	worktree_checkout(wt, two, false, &err);
	worktree_close(wt);
	fs_write(lock, "", 0, &err);
	fs_write(marker, "", 0, &err);
	fs_write(stray, "half checked out", 16, &err);
	is_int(worktree_open(cache, "killed", repo, 0, &wt, &err), 0,
	       "opened after a kill in the middle of a checkout");
	is_int(worktree_checkout(wt, two, false, &err), 0, "its stale lock is no hindrance");
	ok(has(wt, "stray.c", NULL) && has(wt, "b.c", "b\n") && !fs_exists(marker),
	   "and what it left is cleaned");
	worktree_close(wt);
}

/* What a git init that was killed may leave: it writes one file after the other. */
static void test_half_made(struct repo *repo, const char *cache)
{
	static const char *const left[][2] = {
		{".git/config.lock", ""},
		{".git/HEAD", "ref: refs/heads/master\n"},
		{".git/HEAD", ""},
		{"stray.c", "half"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		struct err err ERR_CLEANUP = {};
		autofree char *two = sha_of(repo, "two");
		autofree char *key = xasprintf("half-%zu", i);
		autofree char *dir = xasprintf("%s/worktrees/%s/.git", cache, key);
		autofree char *file = xasprintf("%s/worktrees/%s/%s", cache, key, left[i][0]);
		autoworktree struct worktree *wt = NULL;

		fs_mkdirs(dir, &err);
		fs_write(file, left[i][1], strlen(left[i][1]), &err);
		is_int(worktree_open(cache, key, repo, 0, &wt, &err), 0,
		       "opened after a kill that left %s", left[i][0]);
		ok(wt && worktree_checkout(wt, two, true, &err) == 0 && has(wt, "b.c", "b\n") &&
			   has(wt, "stray.c", NULL),
		   "and made anew");
	}
}

static void test_lock(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autoworktree struct worktree *wt = NULL, *second = NULL, *other = NULL;

	worktree_open(cache, "shared", repo, 0, &wt, &err);
	is_int(worktree_open(cache, "shared", repo, 0, &second, &err), -ERR_BUSY,
	       "held by another");
	ok(strstr(err.message, "is held by shared (process") != NULL, "who: %s", err.message);
	is_int(worktree_open(cache, "apart", repo, 0, &other, &err), 0, "another key is free");
}

static void test_shallow(const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = in_fixture("shallow"), *head = NULL;
	autoworktree struct worktree *wt = NULL;
	struct repo *repo = NULL;

	free(shell("git clone -q --depth 1 file://$PWD/r shallow"));
	ok(repo_open(path, &repo, &err) == 0 && repo_is_shallow(repo), "a shallow clone");
	head = sha_of(repo, "HEAD");
	is_int(worktree_open(cache, "shallow", repo, 0, &wt, &err), 0, "opened");
	is_int(worktree_checkout(wt, head, true, &err), 0, "what is there can be checked out");
	repo_close(repo);
}

static struct project_spec project_of(struct repo *repo, const char *cache, const char *sha,
				      const char *log, char *const *command)
{
	return (struct project_spec){.repo = repo,
				     .cache_dir = cache,
				     .sha = sha,
				     .command = command,
				     .timeout_ns = 60 * NS_PER_S,
				     .log_path = log};
}

#define SH(script) ((char **)(uintptr_t)(const char *[]){"sh", "-c", script, NULL})

static void test_project(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *two = sha_of(repo, "two"), *log = in_fixture("build.log"), *dir = NULL,
		      *again = NULL, *patched = NULL, *out = NULL,
		      *want = xasprintf("built %s\n", two), *patch = in_fixture("base.patch"),
		      *text = NULL;
	const char *const patches[] = {patch, NULL};
	struct project_spec spec =
		project_of(repo, cache, two, log,
			   SH("echo built $CULPRIT_COMMIT > result; cat a.c >> all; echo done"));
	bool cached = true;
	double seconds = -1;
	autobuf result = {}, said = {};

	is_int(project_build(&spec, &dir, &seconds, &cached, &err), 0, "built");
	ok(!cached && seconds >= 0 && seconds < 60, "now, in %.3f s", seconds);
	out = xasprintf("%s/result", dir);
	fs_read(out, 100, &result, &err);
	is_str(buf_str(&result), want, "by the command, in its worktree, with the commit's name");
	fs_read(log, 100, &said, &err);
	is_str(buf_str(&said), "done\n", "its output is in the log");
	is_int(project_build(&spec, &again, &seconds, &cached, &err), 0, "again");
	ok(cached && streq(dir, again), "was there already");
	spec.patches = patches;
	is_int(project_build(&spec, &patched, &seconds, &cached, &err), 0, "with a patch on top");
	ok(!cached && !streq(dir, patched), "is another build");
	text = xasprintf("cat '%s/all'", patched);
	out = (free(out), shell(text));
	is_str(out, "1\ntwo\nthree", "of the patched source");
}

static void test_project_fails(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *two = sha_of(repo, "two"), *four = sha_of(repo, "four"),
		      *log = in_fixture("fail.log"), *patch = in_fixture("base.patch"),
		      *fixed = NULL, *dir = NULL;
	const char *const patches[] = {patch, NULL};
	struct project_spec spec =
		project_of(repo, cache, two, log, SH("echo 'a.c:1: error' >&2; exit 2"));
	bool cached;
	double seconds;

	is_int(project_build(&spec, &dir, &seconds, &cached, &err), -ERR_UNTESTABLE,
	       "a build that fails");
	is_str(err.phase, "build", "its phase");
	is_str(err.message, "the build exited with 2: a.c:1: error",
	       "with the last lines of the log");
	is_int(project_build(&spec, &dir, &seconds, &cached, &err), -ERR_UNTESTABLE,
	       "is not taken for built");
	spec = project_of(repo, cache, two, log, SH("echo never ends; sleep 1000"));
	spec.timeout_ns = 100 * NS_PER_MS;
	is_int(project_build(&spec, &dir, &seconds, &cached, &err), -ERR_UNTESTABLE,
	       "a build that never ends");
	ok(strstr(err.message, "did not end within 1") != NULL, "said so: %s", err.message);
	spec = project_of(repo, cache, four, log, SH("true"));
	spec.patches = patches;
	is_int(project_build(&spec, &dir, &seconds, &cached, &err), -ERR_UNTESTABLE,
	       "a patch that does not apply");
	is_str(err.phase, "checkout", "its phase");
	spec = project_of(repo, cache, two, log,
			  (char **)(uintptr_t)(const char *[]){"no-such-compiler", NULL});
	is_int(project_build(&spec, &dir, &seconds, &cached, &err), -ERR_NOT_FOUND,
	       "a program that is missing says nothing of the commit");
	spec = project_of(repo, cache, two, log, NULL);
	is_int(project_build(&spec, &fixed, &seconds, &cached, &err), 0,
	       "a project without a build");
}

/* The builder is killed in the middle; the next one must neither wait nor take it for built. */
static void test_project_killed(struct repo *repo, const char *cache)
{
	struct err err ERR_CLEANUP = {};
	autofree char *two = sha_of(repo, "two"), *log = in_fixture("killed.log"),
		      *fifo = in_fixture("fifo"), *dir = NULL,
		      *script =
			      xasprintf("touch junk; [ -e %s.go ] || { echo on > %s; sleep 1000; }",
					fifo, fifo),
		      *go = xasprintf("%s.go", fifo), *junk = NULL;
	struct project_spec spec = project_of(repo, cache, two, log, SH(script));
	bool cached = true;
	double seconds;
	FILE *f;
	pid_t pid;

	ok(mkfifo(fifo, 0600) == 0, "fifo");
	pid = fork();
	if (pid == 0) {
		project_build(&spec, &dir, &seconds, &cached, &err);
		_exit(0);
	}
	f = fopen(fifo, "r");
	ok(f && fgetc(f) == 'o', "the build is under way");
	fclose(f);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fs_write(go, "", 0, &err);
	is_int(project_build(&spec, &dir, &seconds, &cached, &err), 0,
	       "built after a kill -9 of the builder");
	ok(!cached, "anew");
	junk = xasprintf("%s/junk", dir);
	ok(fs_exists(junk), "there");
}

int main(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *before = NULL, *after = NULL, *cache = NULL, *path = NULL, *hook = NULL;
	struct repo *repo = NULL;

	fixture_begin();
	make_repo();
	cache = in_fixture("cache");
	path = in_fixture("r");
	hook = in_fixture("hook-ran");
	fs_remove_tree(hook, &err);
	before = shell(look);
	/* What a caller's hook or shell may have set must not lead us into the user's repository.
	 */
	setenv("GIT_DIR", path, 1);
	setenv("GIT_WORK_TREE", path, 1);
	setenv("GIT_INDEX_FILE", "/nonexistent/index", 1);
	is_int(repo_open(path, &repo, &err), 0, "opened");
	test_moves(repo, cache);
	test_on_top(repo, cache);
	test_after_kill(repo, cache);
	test_half_made(repo, cache);
	test_lock(repo, cache);
	unsetenv("GIT_DIR");
	unsetenv("GIT_WORK_TREE");
	unsetenv("GIT_INDEX_FILE");
	test_project(repo, cache);
	test_project_fails(repo, cache);
	test_project_killed(repo, cache);
	after = shell(look);
	ok(strstr(before, "staged.c") && strstr(before, "?? untracked.c") != NULL,
	   "the user's tree is dirty");
	is_str(after, before, "and exactly as it was: status, branches, every file and its time");
	ok(!fs_exists(hook), "no hook of the user ran");
	test_shallow(cache);
	repo_close(repo);
	fixture_end();
	return plan_done();
}
