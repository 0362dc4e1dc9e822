// SPDX-License-Identifier: GPL-2.0-or-later
// Reading comparison columns.

#include "harness/measure/column.h"

#include "harness/base/fs.h"

/* NAME= is a name only where it is not part of a revision or a file: no '/', '+', '^', '~' or ':'
 * in it */
static const char *split_name(const char *text, char **ret_name)
{
	size_t n = strcspn(text, "=");

	if (n == 0 || text[n] != '=' || strcspn(text, "/+^~:@") < n)
		return text;
	*ret_name = xstrndup(text, n);
	return text + n + 1;
}

/* the longest prefix ending before '+', '-' or the end that is a revision; its length, 0 if none */
static size_t longest_revision(struct repo *repo, const char *text, char **ret_sha, struct err *err)
{
	for (size_t n = strlen(text); n > 0; n--) {
		autofree char *prefix = NULL;

		if (text[n] && text[n] != '+' && text[n] != '-')
			continue;
		prefix = xstrndup(text, n);
		err_release(err);
		if (repo_resolve(repo, prefix, ret_sha, err) == 0)
			return n;
	}
	return 0;
}

static int add_patch(struct column *c, const char *file, struct err *err)
{
	autofree char *path = fs_absolute(file);

	if (!fs_exists(path)) {
		err_set(err, ERR_NOT_FOUND, "no patch file '%s'", file);
		err_hint(err, "a column is [NAME=]REV[+FILE...][-COMMIT...]");
		return -ERR_NOT_FOUND;
	}
	strv_push(&c->patches, path);
	return 0;
}

/* "+a.diff-518cd623": file names may hold '-' and '+', so the longest existing file wins, too */
static int read_on_top(struct repo *repo, struct column *c, const char *text, struct err *err)
{
	while (*text) {
		char kind = *text++;
		size_t n = kind == '+' ? strlen(text) : strcspn(text, "+-");
		autofree char *word = NULL;

		for (; kind == '+' && n > 0; n--) {
			autofree char *file = xstrndup(text, n);

			if ((!text[n] || text[n] == '+' || text[n] == '-') && fs_exists(file))
				break;
		}
		if (n == 0 && kind == '+')
			n = strcspn(text, "+-");
		word = xstrndup(text, n);
		text += n;
		if (kind == '+') {
			if (add_patch(c, word, err) < 0)
				return -err->code;
		} else {
			autofree char *sha = NULL;

			if (repo_resolve(repo, word, &sha, err) < 0)
				return err_wrap(err, "what to revert");
			strv_push(&c->reverts, sha);
		}
	}
	return 0;
}

int column_parse(struct repo *repo, const char *text, struct column *ret, struct err *err)
{
	struct column c = {};
	const char *rest = split_name(text, &c.name);
	size_t n;
	int r;

	if (!c.name)
		c.name = xstrdup(text);
	n = longest_revision(repo, rest, &c.sha, err);
	if (n == 0 && !err->code)
		err_set(err, ERR_USAGE, "no revision given");
	r = n ? 0 : -(int)err->code;
	if (n)
		r = read_on_top(repo, &c, rest + n, err);
	if (r < 0) {
		err_wrap(err, "column '%s'", text);
		column_release(&c);
		return r;
	}
	*ret = c;
	return 0;
}

void column_release(struct column *c)
{
	free(c->name);
	free(c->sha);
	strv_free(c->patches);
	strv_free(c->reverts);
	*c = (struct column){};
}

struct subject_spec column_subject(const struct column *c)
{
	return (struct subject_spec){
		.name = c->name,
		.sha = c->sha,
		.patches = (const char *const *)c->patches,
		.reverts = (const char *const *)c->reverts,
	};
}
