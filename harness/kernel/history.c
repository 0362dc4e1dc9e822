// SPDX-License-Identifier: GPL-2.0-or-later
// How commits lie to each other, as git itself sees it: ancestors, merge bases, tags.
#include "harness/kernel/git.h"
#include "harness/kernel/repo.h"

#include <ctype.h>

/* libgit2 1.5 does not know that the history of a shallow clone ends. */
int repo_is_ancestor(struct repo *repo, const char *ancestor, const char *of, struct err *err)
{
	return git_ask(repo_git_dir(repo), GIT_ARGS("merge-base", "--is-ancestor", ancestor, of),
		       NULL, err);
}

int repo_merge_base(struct repo *repo, const char *a, const char *b, char **ret_sha,
		    struct err *err)
{
	autobuf out = {};
	int found = git_ask(repo_git_dir(repo), GIT_ARGS("merge-base", a, b), &out, err);

	if (found < 0)
		return found;
	if (!found || out.len < 40)
		return err_set(err, ERR_USAGE, "%.12s and %.12s have no common history", a, b);
	*ret_sha = xstrndup(buf_str(&out), 40);
	return 0;
}

/* A number makes a release of a tag, and one of these words before a number or the end unmakes it.
 */
static bool is_release(const char *name)
{
	static const char *const early[] = {"rc", "alpha", "beta", "pre", "dev", "next"};
	bool number = false;

	for (const char *s = name; *s; s++) {
		number |= isdigit((unsigned char)*s) != 0;
		if (s > name && isalpha((unsigned char)s[-1]))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(early); i++)
			if (str_starts(s, early[i]) && !isalpha((unsigned char)s[strlen(early[i])]))
				return false;
	}
	return number;
}

int repo_release_tags(struct repo *repo, const char *sha, char ***ret, struct err *err)
{
	autofree char *merged = xasprintf("--merged=%s", sha);
	autostrv char **tags = strv_dup(NULL);
	autobuf out = {};
	int rc = git_run(
		repo_git_dir(repo),
		GIT_ARGS("for-each-ref", "--sort=-version:refname", "--sort=-creatordate", merged,
			 "--format=%(objectname) %(*objectname) %(refname:strip=2)", "refs/tags"),
		0, &out, ERR_IO, err);

	if (rc)
		return rc;
	for (char *line = out.data, *next; line && *line; line = next) {
		char *end = strchrnul(line, '\n'), *name;

		next = *end ? end + 1 : NULL;
		*end = '\0';
		name = strrchr(line, ' ');
		if (name && !strstr(line, sha) && is_release(name + 1))
			strv_push(&tags, name + 1);
	}
	*ret = take_ptr(&tags);
	return 0;
}

int repo_describe(struct repo *repo, const char *sha, char **ret, struct err *err)
{
	autobuf out = {};
	int rc = git_run(repo_git_dir(repo),
			 GIT_ARGS("describe", "--tags", "--always", "--abbrev=12", sha), 0, &out,
			 ERR_IO, err);

	if (rc)
		return rc;
	if (out.len && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	*ret = buf_take(&out);
	return 0;
}
