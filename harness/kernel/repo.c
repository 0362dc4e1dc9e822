// SPDX-License-Identifier: GPL-2.0-or-later
// Revisions and commits through libgit2. The only file that includes it.

#include "harness/kernel/repo.h"

#include "harness/base/fs.h"

#include <git2.h>

struct repo {
	git_repository *git;
	char *path, *git_dir;
};

/* what libgit2 last complained of, with our words in front */
static int git_failed(struct err *err, enum err_code code, const char *what, const char *subject)
{
	const git_error *e = git_error_last();

	return err_set(err, code, "%s '%s': %s", what, subject,
		       e && e->message ? e->message : "unknown reason");
}

static char *without_slash(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

int repo_open(const char *path, struct repo **ret, struct err *err)
{
	git_repository *git = NULL;
	struct repo *repo;
	int r;

	git_libgit2_init();
	r = git_repository_open_ext(&git, path ? path : ".", 0, NULL);
	if (r < 0) {
		git_failed(err, ERR_NOT_FOUND, "no git repository at", path ? path : ".");
		err_hint(err, r == GIT_EOWNER ? "git config --global --add safe.directory DIR"
					      : "--repo DIR names another");
		git_libgit2_shutdown();
		return -err->code;
	}
	repo = xcalloc(1, sizeof(*repo));
	repo->git = git;
	repo->git_dir = without_slash(git_repository_commondir(git));
	repo->path = without_slash(git_repository_workdir(git) ? git_repository_workdir(git)
							       : git_repository_commondir(git));
	*ret = repo;
	return 0;
}

void repo_close(struct repo *repo)
{
	if (!repo)
		return;
	git_repository_free(repo->git);
	git_libgit2_shutdown();
	free(repo->path);
	free(repo->git_dir);
	free(repo);
}

const char *repo_path(const struct repo *repo)
{
	return repo->path;
}

const char *repo_git_dir(const struct repo *repo)
{
	return repo->git_dir;
}

bool repo_is_shallow(const struct repo *repo)
{
	return git_repository_is_shallow(repo->git) == 1;
}

/* the tag or branch whose name is nearest to a revision that is none */
static void hint_names(struct repo *repo, const char *rev, struct err *err)
{
	git_reference_iterator *refs = NULL;
	VEC(const char *) names = {};
	const char *name, *near;

	if (git_reference_iterator_new(&refs, repo->git) < 0)
		return;
	while (names.n < 20000 && git_reference_next_name(&name, refs) == 0) {
		const char *slash = str_starts(name, "refs/") ? strchr(name + 5, '/') : NULL;

		if (slash)
			VEC_PUSH(&names, xstrdup(slash + 1));
	}
	git_reference_iterator_free(refs);
	near = str_nearest(rev, names.at, names.n);
	if (near)
		err_hint(err, "did you mean '%s'?", near);
	else if (repo_is_shallow(repo))
		err_hint(err,
			 "this clone is shallow; 'git fetch --unshallow' brings the whole history");
	else
		err_hint(err, "'git fetch --tags' may bring it");
	for (size_t i = 0; i < names.n; i++)
		free((char *)(uintptr_t)names.at[i]);
	VEC_FREE(&names);
}

int repo_resolve(struct repo *repo, const char *rev, char **ret_sha, struct err *err)
{
	git_object *object = NULL, *commit = NULL;
	char hex[GIT_OID_HEXSZ + 1];
	int r = *rev ? git_revparse_single(&object, repo->git, rev) : GIT_ENOTFOUND;

	if (r == 0)
		r = git_object_peel(&commit, object, GIT_OBJECT_COMMIT);
	git_object_free(object);
	if (r == GIT_EAMBIGUOUS) {
		err_set(err, ERR_USAGE, "revision '%s' is ambiguous", rev);
		err_hint(err, "write more of it");
		return -ERR_USAGE;
	}
	if (r < 0) {
		err_set(err, ERR_NOT_FOUND, "there is no revision '%s' in %s", rev, repo->path);
		hint_names(repo, rev, err);
		return -ERR_NOT_FOUND;
	}
	git_oid_tostr(hex, sizeof(hex), git_object_id(commit));
	git_object_free(commit);
	*ret_sha = xstrdup(hex);
	return 0;
}

static int look_up(struct repo *repo, const char *sha, git_commit **ret, struct err *err)
{
	git_oid oid;

	if (git_oid_fromstr(&oid, sha) < 0 || git_commit_lookup(ret, repo->git, &oid) < 0)
		return git_failed(err, ERR_NOT_FOUND, "no commit", sha);
	return 0;
}

int repo_commit(struct repo *repo, const char *sha, struct repo_commit *ret, struct err *err)
{
	git_commit *commit = NULL;
	const git_signature *author;
	char hex[GIT_OID_HEXSZ + 1];

	if (look_up(repo, sha, &commit, err) < 0)
		return -err->code;
	author = git_commit_author(commit);
	*ret = (struct repo_commit){
		.subject = xstrdup(git_commit_summary(commit) ? git_commit_summary(commit) : ""),
		.message = xstrdup(git_commit_message(commit)),
		.author_name = xstrdup(author->name),
		.author_email = xstrdup(author->email),
		.author_time = author->when.time,
		.committer_time = git_commit_time(commit),
		.tree = xstrdup(git_oid_tostr(hex, sizeof(hex), git_commit_tree_id(commit))),
	};
	for (unsigned i = 0; i < git_commit_parentcount(commit); i++)
		strv_push(&ret->parents,
			  git_oid_tostr(hex, sizeof(hex), git_commit_parent_id(commit, i)));
	git_commit_free(commit);
	return 0;
}

void repo_commit_release(struct repo_commit *c)
{
	free(c->subject);
	free(c->message);
	free(c->author_name);
	free(c->author_email);
	free(c->tree);
	strv_free(c->parents);
	*c = (struct repo_commit){};
}
