// SPDX-License-Identifier: GPL-2.0-or-later
// prune: which commits cannot change the binary, on the safe side.
#include "tests/unit/repo_fixture.h"

#include "harness/search/prune.h"

/* what each commit does, in order; whether it matters while only a.c and a.h were read, and after
 */
static const struct {
	const char *subject;
	bool matters, matters_later;
} expected[] = {
	{"edits what was read", true, true},
	{"edits an unread source", false, false},
	{"edits a document", false, false},
	{"edits both", true, true},
	{"edits a Makefile", true, true},
	{"edits a Kconfig", true, true},
	{"adds a source", true, true},
	{"renames a source", true, true},
	{"removes a source", true, true},
	{"edits a build program", true, true},
	{"edits a table", true, true},
	{"edits nothing", true, true},
	{"edits what is read later", false, true},
	{"on the side", false, false},
	{"merge", true, true},
};

static void make_history(void)
{
	free(shell(
		"git init -q -b main r; cd r; mkdir -p Documentation scripts\n"
		"for f in a.c a.h unread.c gone.c old.c later.c side.c Makefile Kconfig "
		"Documentation/x.rst scripts/gen.c table.tbl; do echo 1 > $f; done\n"
		"git add .; commit base; git tag good\n"
		"commit 'edits what was read' a.c 2; commit 'edits an unread source' unread.c 2\n"
		"commit 'edits a document' Documentation/x.rst 2\n"
		"echo 3 > a.h; git add a.h; commit 'edits both' unread.c 3\n"
		"commit 'edits a Makefile' Makefile 2; commit 'edits a Kconfig' Kconfig 2\n"
		"commit 'adds a source' new.c 1\n"
		"git mv old.c moved.c; commit 'renames a source'\n"
		"git rm -q gone.c; commit 'removes a source'\n"
		"commit 'edits a build program' scripts/gen.c 2; commit 'edits a table' table.tbl "
		"2\n"
		"commit 'edits nothing'; commit 'edits what is read later' later.c 2\n"
		"git checkout -q -b side; commit 'on the side' side.c 2; git checkout -q main\n"
		"git merge -q --no-ff -m merge side; git tag bad\n"));
}

static void read_list(struct prune *p, const char *text)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = xasprintf("%s/sources", fixture_dir);

	is_int(fs_write(path, text, strlen(text), &err), 0, "a list of sources");
	is_int(prune_read(p, path, &err), 0, "is read");
}

static void check(struct prune *p, struct repo *repo, const struct repo_range *range, bool later)
{
	struct err err ERR_CLEANUP = {};

	is_int(range->n, ARRAY_SIZE(expected), "all commits are there");
	for (size_t i = 0; i < range->n && i < ARRAY_SIZE(expected); i++) {
		struct repo_commit commit = {};

		repo_commit(repo, range->commits[i].sha, &commit, &err);
		is_str(commit.subject, expected[i].subject, "commit %zu", i);
		is_int(prune_matters(p, i), later ? expected[i].matters_later : expected[i].matters,
		       "%s: %s", later ? "later" : "at first", expected[i].subject);
		repo_commit_release(&commit);
	}
}

int main(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = NULL, *good = NULL, *bad = NULL;
	struct repo *repo = NULL;
	struct repo_range range = {};
	struct prune *prune = NULL;

	fixture_begin();
	make_history();
	path = xasprintf("%s/r", fixture_dir);
	if (repo_open(path, &repo, &err) || repo_resolve(repo, "good", &good, &err) ||
	    repo_resolve(repo, "bad", &bad, &err) ||
	    repo_range(repo, good, bad, NULL, &range, &err) ||
	    prune_new(repo, &range, &prune, &err)) {
		printf("Bail out! %s\n", err.message);
		return 1;
	}
	ok(prune_matters(prune, 1), "nothing is known of what is read: everything matters");
	read_list(prune, "");
	ok(prune_matters(prune, 1), "an empty list knows nothing, either");
	read_list(prune, "a.c\na.h\n");
	check(prune, repo, &range, false);
	read_list(prune, "a.c\nlater.c"); /* another build's, without a last newline */
	check(prune, repo, &range, true);
	prune_free(prune);
	repo_range_release(&range);
	repo_close(repo);
	fixture_end();
	return plan_done();
}
