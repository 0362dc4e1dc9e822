// SPDX-License-Identifier: GPL-2.0-or-later
// repo: revisions, commits, ranges and files of repositories of every shape.
#include "tests/unit/repo_fixture.h"

#include "harness/kernel/repo.h"

static struct repo *open_repo(const char *name)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = xasprintf("%s/%s", fixture_dir, name);
	struct repo *repo = NULL;

	if (!is_int(repo_open(path, &repo, &err), 0, "%s opens", name))
		diag("%s", err.message);
	return repo;
}

/*
 * main:  base - one - two - merge - four - five       tags v1 (base), v2-rc1 (one), v2 (two), v3
 * (four) \               / side:       s1 - s2 ------                          other: o1, from one;
 * alien: a root of its own
 */
static void make_repo(void)
{
	free(shell("git init -q -b main r; cd r\n"
		   "commit base a.c 'one\\ntwo\\nthree\\nfour\\n'; GIT_COMMITTER_DATE='1600000060 "
		   "+0000' git tag -a -m v1 v1\n"
		   "git checkout -q -b side; commit s1 side.c 's'; commit s2 side.c 's2'\n"
		   "git checkout -q main; commit one a.c '1\\n'; git tag v2-rc1; git branch other\n"
		   "commit two b.txt 'b'; git tag v2; git tag linux-next; git tag latest\n"
		   "now=$((now + 60)); GIT_COMMITTER_DATE=\"$now +0000\" git merge -q --no-ff -m "
		   "merge side\n"
		   "git mv side.c moved.c; commit four; git tag v3; commit five a.c '5\\n'\n"
		   "git checkout -q other; commit o1 o.c o; git checkout -q --orphan alien; commit "
		   "alien\n"
		   "git checkout -q main; git branch raw $(git cat-file commit main | sed "
		   "'s/^five/&\\n\\nbody \377 \033[1m/' |\n"
		   "	git hash-object -t commit -w --stdin)"));
}

static void test_open(void)
{
	struct err err ERR_CLEANUP = {};
	struct repo *repo = NULL;
	autofree char *root = xasprintf("%s/r", fixture_dir),
		      *git_dir = xasprintf("%s/r/.git", fixture_dir),
		      *sub = xasprintf("%s/r/sub", fixture_dir), *here = getcwd(NULL, 0);

	is_int(repo_open("/", &repo, &err), -ERR_NOT_FOUND, "no repository");
	ok(err.hint != NULL, "and what to do");
	fs_mkdirs(sub, &err);
	ok(chdir(sub) == 0 && repo_open(NULL, &repo, &err) == 0, "found from below");
	is_str(repo_path(repo), root, "its top");
	is_str(repo_git_dir(repo), git_dir, "its git directory");
	ok(!repo_is_shallow(repo), "not shallow");
	repo_close(repo);
	free(shell("git clone -q --bare r bare.git; git -C r worktree add -q ../linked side"));
	repo = open_repo("bare.git");
	ok(str_ends(repo_path(repo), "/bare.git"), "a bare one");
	repo_close(repo);
	repo = open_repo("linked");
	is_str(repo_git_dir(repo), git_dir, "a linked worktree has the objects of its main one");
	repo_close(repo);
	free(shell("git -C r worktree remove ../linked"));
	ok(chdir(here) == 0, "back");
}

static void test_resolve(struct repo *repo)
{
	struct err err ERR_CLEANUP = {};
	autofree char *want = shell("git -C r rev-parse v1^{commit}"), *sha = sha_of(repo, "v1"),
		      *none = NULL, *prefix = xstrndup(want, 10), *short_sha = sha_of(repo, prefix),
		      *parent = sha_of(repo, "v2~2");

	is_str(sha, want, "an annotated tag is its commit");
	is_str(short_sha, want, "a short hash");
	is_str(parent, want, "an ancestor");
	is_int(repo_resolve(repo, "sied", &none, &err), -ERR_NOT_FOUND, "a revision that is none");
	ok(err.hint && strstr(err.hint, "did you mean 'side'?"), "the nearest name: %s", err.hint);
	is_int(repo_resolve(repo, "nothing-like-it", &none, &err), -ERR_NOT_FOUND, "nothing near");
	ok(err.hint && strstr(err.hint, "git fetch"), "another hint: %s", err.hint);
	is_int(repo_resolve(repo, "", &none, &err), -ERR_NOT_FOUND, "an empty word");
	is_int(repo_resolve(repo, "v1..v2", &none, &err), -ERR_NOT_FOUND, "a range is no revision");
	is_int(repo_resolve(repo, "--all", &none, &err), -ERR_NOT_FOUND,
	       "an option is no revision");
	is_int(repo_resolve(repo, "main:a.c", &none, &err), -ERR_NOT_FOUND, "a file is no commit");
}

static void test_commit(struct repo *repo)
{
	struct err err ERR_CLEANUP = {};
	struct repo_commit c = {};
	autofree char *five = sha_of(repo, "raw"), *merge = sha_of(repo, "v3~1"),
		      *root = sha_of(repo, "v1"), *tree = shell("git -C r rev-parse main^{tree}"),
		      *second = sha_of(repo, "side");

	is_int(repo_commit(repo, five, &c, &err), 0, "read");
	is_str(c.subject, "five", "subject");
	is_str(c.message, "five\n\nbody \377 \033[1m\n", "message, as it is");
	ok(streq(c.author_name, "A U Thor") && c.committer_time == c.author_time &&
		   c.author_time > 1600000000,
	   "author and times");
	is_str(c.tree, tree, "tree");
	repo_commit_release(&c);
	repo_commit(repo, merge, &c, &err);
	ok(strv_len(c.parents) == 2 && streq(c.parents[1], second), "a merge has two parents");
	repo_commit_release(&c);
	repo_commit(repo, root, &c, &err);
	is_int(strv_len(c.parents), 0, "a root none");
	repo_commit_release(&c);
	is_int(repo_commit(repo, "0123456789012345678901234567890123456789", &c, &err),
	       -ERR_NOT_FOUND, "missing");
}

static void test_history(struct repo *repo)
{
	struct err err ERR_CLEANUP = {};
	autofree char *v1 = sha_of(repo, "v1"), *main_sha = sha_of(repo, "main"),
		      *other = sha_of(repo, "other"), *one = sha_of(repo, "v2-rc1"),
		      *alien = sha_of(repo, "alien"), *base = NULL, *text = NULL, *exact = NULL;
	autostrv char **tags = NULL, **none = NULL;

	is_int(repo_is_ancestor(repo, v1, main_sha, &err), 1, "an ancestor");
	is_int(repo_is_ancestor(repo, main_sha, v1, &err), 0, "the other way round");
	is_int(repo_is_ancestor(repo, v1, v1, &err), 1, "of itself");
	is_int(repo_is_ancestor(repo, other, main_sha, &err), 0, "beside each other");
	is_int(repo_merge_base(repo, other, main_sha, &base, &err), 0, "merge base");
	is_str(base, one, "is where they part");
	is_int(repo_merge_base(repo, alien, main_sha, &base, &err), -ERR_USAGE,
	       "unrelated histories");
	is_int(repo_release_tags(repo, main_sha, &tags, &err), 0, "release tags");
	ok(strv_len(tags) == 3 && streq(tags[0], "v3") && streq(tags[1], "v2") &&
		   streq(tags[2], "v1"),
	   "newest first, without -rc and words");
	is_int(repo_release_tags(repo, v1, &none, &err), 0, "before the first");
	is_int(strv_len(none), 0, "there is none");
	repo_describe(repo, main_sha, &text, &err);
	ok(text && str_starts(text, "v3-1-g"), "described: %s", text);
	repo_describe(repo, v1, &exact, &err);
	is_str(exact, "v1", "exactly a tag");
}

static void check_order(const struct repo_range *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->commits[i].n_parents; k++)
			good = good && (r->commits[i].parents[k] < i ||
					r->commits[i].parents[k] < RANGE_OUTSIDE + r->n_outside);
	ok(good, "ancestors first");
}

static void test_range(struct repo *repo)
{
	struct err err ERR_CLEANUP = {};
	static const char *const paths[] = {"side.c", NULL};
	struct range_options first = {.first_parent = true}, some = {.paths = paths};
	struct repo_range r = {};
	autofree char *v1 = sha_of(repo, "v1"), *bad = sha_of(repo, "main"),
		      *side = sha_of(repo, "side"), *v2 = sha_of(repo, "v2"),
		      *one = sha_of(repo, "v2-rc1"), *other = sha_of(repo, "other"),
		      *alien = sha_of(repo, "alien");

	is_int(repo_range(repo, v1, bad, NULL, &r, &err), 0, "a range");
	is_int(r.n, 7, "one, s1, s2, two, merge, four, five");
	ok(streq(r.commits[6].sha, bad) && r.good_is_ancestor && streq(r.good, v1), "ends at bad");
	check_order(&r);
	is_int(r.commits[4].n_parents, 2, "the merge has both parents");
	ok(r.n_outside == 1 && streq(r.outside[0], v1), "good is the one parent outside");
	repo_range_release(&r);
	is_int(repo_range(repo, v1, bad, &first, &r, &err), 0, "first parents");
	is_int(r.n, 5, "one, two, merge, four, five");
	repo_range_release(&r);
	is_int(repo_range(repo, v1, bad, &some, &r, &err), 0, "commits that touch a file");
	is_int(r.n, 4, "s1, s2, four, and bad");
	check_order(&r);
	ok(streq(r.commits[r.n - 1].sha, bad) && r.commits[r.n - 1].n_parents == 1,
	   "bad is there all the same");
	repo_range_release(&r);
	is_int(repo_range(repo, side, v2, NULL, &r, &err), 0, "good is no ancestor of bad");
	ok(!r.good_is_ancestor && streq(r.good, v1) && r.n == 2, "the merge base is the other end");
	repo_range_release(&r);
	is_int(repo_range(repo, other, bad, NULL, &r, &err), 0, "again");
	ok(streq(r.good, one) && r.n == 6, "side's commits are suspects, too");
	repo_range_release(&r);
	is_int(repo_range(repo, bad, v1, NULL, &r, &err), -ERR_USAGE, "swapped");
	ok(strstr(err.message, "is an ancestor of good") && err.hint, "said so: %s", err.message);
	is_int(repo_range(repo, v1, v1, NULL, &r, &err), -ERR_USAGE, "equal");
	is_int(repo_range(repo, alien, bad, NULL, &r, &err), -ERR_USAGE, "unrelated");
	ok(strstr(err.message, "no common history") != NULL, "said so: %s", err.message);
	is_int(r.n, 0, "nothing is returned then");
}

static void on_files(size_t commit, char *const *paths, size_t n, bool plain, void *arg)
{
	struct buf *text = arg;

	buf_printf(text, "%zu%s", commit, plain ? "" : "!");
	for (size_t i = 0; i < n; i++)
		buf_printf(text, " %s", paths[i]);
	buf_addch(text, '\n');
}

static void test_files(struct repo *repo)
{
	struct err err ERR_CLEANUP = {};
	struct repo_range r = {};
	autofree char *v1 = sha_of(repo, "v1"), *bad = sha_of(repo, "main");
	autobuf text = {};

	repo_range(repo, v1, bad, NULL, &r, &err);
	is_int(repo_range_files(repo, &r, on_files, &text, &err), 0, "files of a range");
	is_str(buf_str(&text),
	       "0 a.c\n1! b.txt\n2! side.c\n3 side.c\n4\n5! side.c moved.c\n6 a.c\n",
	       "added is not plain, a rename has both sides, a merge none");
	repo_range_release(&r);
}

static void test_shallow(void)
{
	struct err err ERR_CLEANUP = {};
	struct repo_range r = {};
	autofree char *good = NULL, *bad = NULL, *near = NULL;
	struct repo *repo;

	free(shell("git clone -q --depth 4 --no-tags file://$PWD/r shallow; git -C r rev-parse v1 "
		   "> v1"));
	repo = open_repo("shallow");
	ok(repo_is_shallow(repo), "is shallow");
	is_int(repo_resolve(repo, "v1", &good, &err), -ERR_NOT_FOUND, "history that is not there");
	ok(err.hint && strstr(err.hint, "--unshallow"), "what to do: %s", err.hint);
	bad = sha_of(repo, "HEAD");
	near = sha_of(repo, "HEAD~1");
	is_int(repo_range(repo, near, bad, NULL, &r, &err), 0, "what is there is enough");
	is_int(r.n, 1, "one commit");
	repo_range_release(&r);
	/* the merge's second parent leads to where the clone was cut */
	good = sha_of(repo, "HEAD~2^2");
	is_int(repo_range(repo, good, bad, NULL, &r, &err), -ERR_USAGE,
	       "a range that the cut ends");
	is_str(err.hint, "git fetch --unshallow", "what to do");
	repo_close(repo);
}

int main(void)
{
	struct repo *repo;

	fixture_begin();
	make_repo();
	test_open();
	repo = open_repo("r");
	test_resolve(repo);
	test_commit(repo);
	test_history(repo);
	test_range(repo);
	test_files(repo);
	repo_close(repo);
	test_shallow();
	fixture_end();
	return plan_done();
}
