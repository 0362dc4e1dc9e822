// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the .cmd files of an object tree; a kernel has a thousand of them with 40 MB.
#include "harness/kernel/sources.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"

#include <dirent.h>

#define CMD_MAX_BYTES (16u << 20)
#define DEPTH_MAX     32

/* A set of strings: open addressing, a power of two of places. */
struct set {
	char **at;
	size_t n, places;
};

struct scan {
	const char *src;
	size_t src_len;
	struct set seen;
};

static uint64_t hash_text(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3;
	return h;
}

static char **place_of(struct set *set, const char *s, size_t len)
{
	size_t i = hash_text(s, len) & (set->places - 1);

	while (set->at[i] && (strncmp(set->at[i], s, len) || set->at[i][len]))
		i = (i + 1) & (set->places - 1);
	return &set->at[i];
}

static void grow(struct set *set)
{
	struct set old = *set;

	set->places = old.places ? 2 * old.places : 8192;
	set->at = xcalloc(set->places, sizeof(*set->at));
	for (size_t i = 0; i < old.places; i++)
		if (old.at[i])
			*place_of(set, old.at[i], strlen(old.at[i])) = old.at[i];
	free(old.at);
}

static void set_add(struct set *set, const char *s, size_t len)
{
	char **place;

	if (2 * set->n >= set->places)
		grow(set);
	place = place_of(set, s, len);
	if (!*place) {
		*place = xstrndup(s, len);
		set->n++;
	}
}

/* Finds ` /src/path` after the first line of a file, which is the command with its directories. */
static void scan_text(struct scan *s, const char *text, size_t len)
{
	const char *end = text + len, *p = text + strcspn(text, "\n");

	while ((p = memmem(p, end - p, s->src, s->src_len))) {
		bool begins = p > text && (p[-1] == ' ' || p[-1] == '\t');
		size_t n;

		p += s->src_len;
		for (n = 0; p + n < end && p[n] > ' ' && p[n] != '\\'; n++)
			;
		if (begins && n)
			set_add(&s->seen, p, n);
		p += n;
	}
}

static bool is_cmd_file(const char *name)
{
	return *name == '.' && str_ends(name, ".cmd");
}

static int scan_dir(struct scan *s, const char *path, int depth, struct err *err)
{
	DIR *dir = opendir(path);
	autobuf text = {};
	struct dirent *e;
	int rc = 0;

	if (!dir)
		return err_errno(err, "cannot read directory '%s'", path);
	while (!rc && (e = readdir(dir))) {
		autofree char *below = NULL;
		bool is_dir = e->d_type == DT_DIR && *e->d_name != '.' && depth < DEPTH_MAX;

		if (!is_dir && !is_cmd_file(e->d_name))
			continue;
		below = xasprintf("%s/%s", path, e->d_name);
		if (is_dir)
			rc = scan_dir(s, below, depth + 1, err);
		else if (!(rc = fs_read(below, CMD_MAX_BYTES, &text, err)))
			scan_text(s, buf_str(&text), text.len);
	}
	closedir(dir);
	return rc;
}

/* "kernel/sched/../x.h" is kernel/x.h; a path that leaves the tree becomes empty. In place. */
static void normalise(char *path)
{
	char *out = path;

	for (const char *p = path, *next; *p; p = next) {
		size_t n = strcspn(p, "/");

		next = p + n + (p[n] == '/');
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			if (out == path)
				break;
			while (out > path && *--out != '/')
				;
		} else if (n && !(n == 1 && *p == '.')) {
			if (out > path)
				*out++ = '/';
			memmove(out, p, n);
			out += n;
		}
	}
	*out = '\0';
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_sorted(struct set *set, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < set->places; i++) {
		if (!set->at[i])
			continue;
		normalise(set->at[i]);
		set->at[n++] = set->at[i];
	}
	if (n)
		qsort(set->at, n, sizeof(*set->at), by_text);
	for (size_t i = 0; i < n; i++)
		if (*set->at[i] && (i == 0 || !streq(set->at[i], set->at[i - 1])))
			buf_printf(out, "%s\n", set->at[i]);
	for (size_t i = 0; i < n; i++)
		free(set->at[i]);
	free(set->at);
	*set = (struct set){};
}

int sources_read(const char *obj_dir, const char *src_dir, struct buf *ret, struct err *err)
{
	autofree char *src = xasprintf("%s/", src_dir);
	struct scan s = {.src = src, .src_len = strlen(src)};
	autobuf ignored = {};
	int rc = scan_dir(&s, obj_dir, 0, err);

	print_sorted(&s.seen, rc ? &ignored : ret);
	return rc;
}
