// SPDX-License-Identifier: GPL-2.0-or-later
// What the builds read against what the commits edit.

#include "harness/search/prune.h"

#include "harness/base/fs.h"

#define SOURCES_MAX ((size_t)64 << 20)

struct edits {
	char **paths; /* NULL: nothing to judge by, so it matters */
	bool plain;
};

struct prune {
	struct edits *commits;
	size_t n;
	VEC(char *) read; /* sorted, unique */
};

static bool is_harmless_kind(const char *path)
{
	static const char *const endings[] = {".c", ".h", ".S", ".rst", ".txt", ".md"};
	static const char *const tools[] = {"scripts/", "tools/", "usr/"};

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) /* programs that the build itself runs */
		if (str_starts(path, tools[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(path, endings[i]))
			return true;
	return false;
}

static void take_files(size_t commit, char *const *paths, size_t n, bool plain, void *arg)
{
	struct edits *e = &((struct prune *)arg)->commits[commit];

	e->plain = plain && n > 0;
	for (size_t i = 0; i < n; i++) {
		e->plain = e->plain && is_harmless_kind(paths[i]);
		strv_push(&e->paths, paths[i]);
	}
}

int prune_new(struct repo *repo, const struct repo_range *range, struct prune **ret,
	      struct err *err)
{
	struct prune *p = xcalloc(1, sizeof(*p));

	p->n = range->n;
	p->commits = xcalloc(range->n + 1, sizeof(*p->commits));
	if (repo_range_files(repo, range, take_files, p, err) < 0) {
		prune_free(p);
		return -err->code;
	}
	for (size_t i = 0; i < range->n; i++)
		p->commits[i].plain = p->commits[i].plain && range->commits[i].n_parents == 1;
	*ret = p;
	return 0;
}

void prune_free(struct prune *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++)
		strv_free(p->commits[i].paths);
	free(p->commits);
	for (size_t i = 0; i < p->read.n; i++)
		free(p->read.at[i]);
	VEC_FREE(&p->read);
	free(p);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* among the first n, which are sorted */
static bool was_read(const struct prune *p, size_t n, const char *path)
{
	return n && bsearch(&path, p->read.at, n, sizeof(*p->read.at), compare_strings);
}

int prune_read(struct prune *p, const char *sources_path, struct err *err)
{
	autobuf text = {};
	size_t known = p->read.n;
	char *at, *line;

	if (fs_read(sources_path, SOURCES_MAX, &text, err) < 0)
		return -err->code;
	at = text.data;
	while ((line = strsep(&at, "\n")))
		if (*line && !was_read(p, known, line))
			VEC_PUSH(&p->read, xstrdup(line));
	if (p->read.n)
		qsort(p->read.at, p->read.n, sizeof(*p->read.at), compare_strings);
	return 0;
}

bool prune_matters(const struct prune *p, size_t commit)
{
	const struct edits *e = &p->commits[commit];

	if (!p->read.n || !e->plain)
		return true;
	for (char **path = e->paths; path && *path; path++)
		if (was_read(p, p->read.n, *path))
			return true;
	return false;
}
