// SPDX-License-Identifier: GPL-2.0-or-later
// The commits between good and bad, as git's rev-list gives them, with parents as indices.

#include "harness/base/fs.h"
#include "harness/kernel/git.h"
#include "harness/kernel/repo.h"

#include <sys/mman.h>

#define LIST_MAX ((size_t)1 << 30)

struct index_entry {
	const char *sha;
	size_t at;
};

static int compare_entries(const void *a, const void *b)
{
	return memcmp(((const struct index_entry *)a)->sha, ((const struct index_entry *)b)->sha,
		      40);
}

static size_t find_index(const struct index_entry *index, size_t n, const char *sha)
{
	struct index_entry key = {.sha = sha};
	const struct index_entry *found = bsearch(&key, index, n, sizeof(*index), compare_entries);

	return found ? found->at : SIZE_MAX;
}

static bool is_sha(const char *s)
{
	return strspn(s, "0123456789abcdef") >= 40 &&
	       (s[40] == ' ' || s[40] == '\n' || s[40] == '\0');
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void add_parent(struct range_commit *c, size_t at)
{
	c->parents = xrealloc(c->parents, c->n_parents + 1, sizeof(*c->parents));
	c->parents[c->n_parents++] = at;
}

/* the number of a parent on good's side; there are few, so a walk through them will do */
static size_t outside_index(struct repo_range *range, const char *sha)
{
	for (size_t k = 0; k < range->n_outside; k++)
		if (memcmp(range->outside[k], sha, 40) == 0)
			return RANGE_OUTSIDE + k;
	range->outside = xrealloc(range->outside, range->n_outside + 1, sizeof(*range->outside));
	memcpy(range->outside[range->n_outside], sha, 40);
	range->outside[range->n_outside][40] = '\0';
	return RANGE_OUTSIDE + range->n_outside++;
}

/* "COMMIT PARENT PARENT\n" lines, ancestors first */
static int read_list(const char *text, struct repo_range *range, struct err *err)
{
	size_t most = count_lines(text), n = 0;
	autofree struct index_entry *index = xcalloc(most + 1, sizeof(*index));
	const char *line = text;

	range->commits =
		xcalloc(most + 1, sizeof(*range->commits)); /* one more: bad, see add_bad */
	for (; *line; line = strchr(line, '\n') + 1) {
		if (!is_sha(line) || !strchr(line, '\n'))
			return err_set(err, ERR_IO,
				       "git rev-list printed something else than commits");
		memcpy(range->commits[n].sha, line, 40);
		index[n] = (struct index_entry){range->commits[n].sha, n};
		n++;
	}
	range->n = n;
	qsort(index, n, sizeof(*index), compare_entries);
	line = text;
	for (size_t i = 0; i < n; i++, line = strchr(line, '\n') + 1) {
		for (const char *p = line + 40; *p == ' ' && is_sha(p + 1); p += 41) {
			size_t at = find_index(index, n, p + 1);

			add_parent(&range->commits[i], at < i ? at : outside_index(range, p + 1));
		}
	}
	return 0;
}

/* with a path filter bad itself may touch none of them: it is still the end that is measured */
static void add_bad(struct repo_range *range, const char *bad)
{
	struct range_commit *c = &range->commits[range->n];
	autofree bool *has_child = xcalloc(range->n + 1, sizeof(*has_child));

	if (range->n && streq(range->commits[range->n - 1].sha, bad))
		return;
	for (size_t i = 0; i < range->n; i++)
		for (size_t k = 0; k < range->commits[i].n_parents; k++)
			if (range->commits[i].parents[k] < range->n)
				has_child[range->commits[i].parents[k]] = true;
	memcpy(c->sha, bad, 41);
	range->bad_is_only_end = true;
	for (size_t i = 0; i < range->n; i++)
		if (!has_child[i])
			add_parent(c, i);
	range->n++;
}

/* a shallow clone's history ends at commits that only look like roots */
static int check_shallow(struct repo *repo, const struct repo_range *range, struct err *err)
{
	autofree char *path = xasprintf("%s/shallow", repo_git_dir(repo));
	autobuf text = {};

	if (!repo_is_shallow(repo))
		return 0;
	if (fs_read(path, LIST_MAX, &text, err) < 0)
		return -err->code;
	for (size_t i = 0; i < range->n; i++) {
		if (!strstr(buf_str(&text), range->commits[i].sha))
			continue;
		err_set(err, ERR_USAGE,
			"this clone is shallow: its history ends at %.12s, before the good commit",
			range->commits[i].sha);
		err_hint(err, "git fetch --unshallow");
		return -ERR_USAGE;
	}
	return 0;
}

static int find_good_end(struct repo *repo, const char *good, const char *bad,
			 struct repo_range *range, struct err *err)
{
	int r;

	if (streq(good, bad))
		return err_set(err, ERR_USAGE, "good and bad are the same commit %.12s", good);
	r = repo_is_ancestor(repo, good, bad, err);
	if (r < 0)
		return r;
	range->good_is_ancestor = r;
	if (r) {
		range->good = xstrdup(good);
		return 0;
	}
	r = repo_is_ancestor(repo, bad, good, err);
	if (r == 1) {
		err_set(err, ERR_USAGE, "bad %.12s is an ancestor of good %.12s", bad, good);
		err_hint(err, "swap them, if good is the newer one; for a fix, call the slow "
			      "commit good");
		return -ERR_USAGE;
	}
	if (r == 0)
		r = repo_merge_base(repo, good, bad, &range->good, err);
	if (r < 0 && repo_is_shallow(repo))
		err_hint(err, "this clone is shallow: git fetch --unshallow");
	return r;
}

int repo_range(struct repo *repo, const char *good, const char *bad,
	       const struct range_options *options, struct repo_range *ret, struct err *err)
{
	struct repo_range range = {};
	autostrv char **argv = NULL;
	autobuf list = {};
	int r = find_good_end(repo, good, bad, &range, err);

	if (r == 0) {
		strv_push(&argv, "rev-list");
		strv_push(&argv, "--topo-order");
		strv_push(&argv, "--reverse");
		strv_push(&argv, "--parents");
		if (options && options->first_parent)
			strv_push(&argv, "--first-parent");
		strv_push(&argv, bad);
		strv_pushf(&argv, "^%s", good);
		strv_push(&argv, "--");
		for (const char *const *p = options ? options->paths : NULL; p && *p; p++)
			strv_pushf(&argv, ":(top)%s", *p);
		r = git_run(repo_git_dir(repo), (const char *const *)argv, 0, &list, ERR_IO, err);
	}
	if (r == 0)
		r = read_list(buf_str(&list), &range, err);
	if (r == 0) {
		add_bad(&range, bad);
		r = check_shallow(repo, &range, err);
	}
	if (r < 0) {
		repo_range_release(&range);
		return r;
	}
	*ret = range;
	return 0;
}

void repo_range_release(struct repo_range *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->commits[i].parents);
	free(r->commits);
	free(r->outside);
	free(r->good);
	*r = (struct repo_range){};
}

/* --- files --- */

/* all commits of the range as diff-tree's input, in an unlinked file */
static int write_shas(const struct repo_range *range, int *ret_fd, struct err *err)
{
	autoclose int fd = memfd_create("commits", MFD_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "cannot make a memory file");
	for (size_t i = 0; i < range->n; i++)
		if (dprintf(fd, "%s\n", range->commits[i].sha) < 0)
			return err_errno(err, "cannot write a memory file");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, "cannot rewind a memory file");
	*ret_fd = take_fd(&fd);
	return 0;
}

/* one commit's records: status NUL path NUL [path NUL], where R and C carry two paths */
static const char *read_files(const char *at, const char *end, char ***paths, bool *plain)
{
	while (at < end && !is_sha(at)) {
		int n = *at == 'R' || *at == 'C' ? 2 : 1;

		*plain = *plain && *at == 'M';
		at += strlen(at) + 1;
		for (; n && at < end; n--) {
			strv_push(paths, at);
			at += strlen(at) + 1;
		}
	}
	return at;
}

int repo_range_files(struct repo *repo, const struct repo_range *range, repo_files_fn *fn,
		     void *arg, struct err *err)
{
	autoclose int fd = -1;
	autobuf out = {};
	const char *at, *end;

	if (write_shas(range, &fd, err) < 0 ||
	    git_run(repo_git_dir(repo),
		    GIT_ARGS("diff-tree", "--stdin", "-r", "-M", "--root", "-z", "--name-status"),
		    fd, &out, ERR_IO, err) < 0)
		return -err->code;
	at = buf_str(&out);
	end = at + out.len;
	for (size_t i = 0; i < range->n; i++) {
		autostrv char **paths = NULL;
		bool plain = true;

		/* a commit without a change of its own is not printed */
		if (at < end && is_sha(at) && memcmp(at, range->commits[i].sha, 40) == 0)
			at = read_files(at + 41, end, &paths, &plain);
		fn(i, paths, strv_len(paths), plain, arg);
	}
	return at == end ? 0
			 : err_set(err, ERR_IO,
				   "git diff-tree printed something else than was asked for");
}
