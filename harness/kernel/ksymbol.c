// SPDX-License-Identifier: GPL-2.0-or-later
// A reader of Kconfig files that understands just enough to explain a lost option.
#include "harness/kernel/ksymbol.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"

#include <dirent.h>

#define KCONFIG_MAX_BYTES (1u << 20)
#define DEPTH_MAX	  24
#define SELECTED_BY_MAX	  4

struct ksymbols {
	VEC(char *) texts;
};

size_t ksymbol_name_len(const char *s)
{
	static const char chars[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

	return strspn(s, chars);
}

static int read_text(const char *path, struct ksymbols *t, struct err *err)
{
	autobuf text = {};
	int rc = fs_read(path, KCONFIG_MAX_BYTES, &text, err);

	if (!rc)
		VEC_PUSH(&t->texts, buf_take(&text));
	return rc;
}

/* Adds the Kconfig files below a directory; of the top's `arch` only the subdirectory only_arch. */
static int read_dir(const char *path, const char *only_arch, int depth, struct ksymbols *t,
		    struct err *err)
{
	bool in_arch = depth == 1 && str_ends(path, "/arch");
	DIR *dir = opendir(path);
	struct dirent *e;
	int rc = 0;

	if (!dir)
		return err_errno(err, "cannot read directory '%s'", path);
	while (!rc && (e = readdir(dir))) {
		autofree char *below = xasprintf("%s/%s", path, e->d_name);

		if (e->d_type == DT_REG && str_starts(e->d_name, "Kconfig"))
			rc = read_text(below, t, err);
		else if (e->d_type == DT_DIR && *e->d_name != '.' && depth < DEPTH_MAX &&
			 (!in_arch || streq(e->d_name, only_arch)))
			rc = read_dir(below, only_arch, depth + 1, t, err);
	}
	closedir(dir);
	return rc;
}

int ksymbols_read(const char *src_dir, const char *src_arch, struct ksymbols **ret, struct err *err)
{
	autoksymbols struct ksymbols *t = xcalloc(1, sizeof(*t));
	int rc = read_dir(src_dir, src_arch, 0, t, err);

	if (!rc)
		*ret = take_ptr(&t);
	return rc;
}

void ksymbols_free(struct ksymbols *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->texts.n; i++)
		free(t->texts.at[i]);
	VEC_FREE(&t->texts);
	free(t);
}

/* Where the search for one symbol stands in one file. */
struct reader {
	const char *wanted;
	struct ksymbol *found;
	bool exists;
	bool describing; /* in the first entry of the wanted symbol; later ones are alternatives */
	char *entry;	 /* the symbol whose entry this is, or NULL */
	char **ifs;	 /* conditions of the `if` blocks around it */
	bool in_help;
	size_t help_column; /* of the first line of the help text; 0 before it */
	size_t n_selected_by;
};

static bool word_is(const char *line, const char *word)
{
	size_t n = strlen(word);

	return str_starts(line, word) && strchr(" \t", line[n]);
}

static const char *after_word(const char *line)
{
	line += strcspn(line, " \t");
	return line + strspn(line, " \t");
}

static size_t column_of_text(const char *line)
{
	size_t column = 0;

	for (; *line == ' ' || *line == '\t'; line++)
		column = *line == '\t' ? (column | 7) + 1 : column + 1;
	return column;
}

static void add_condition(struct buf *b, const char *expr)
{
	bool is_or = strstr(expr, "||");

	buf_printf(b, "%s%s%s%s", b->len ? " && " : "", is_or ? "(" : "", expr, is_or ? ")" : "");
}

static void begin_entry(struct reader *r, const char *line)
{
	const char *name = after_word(line);

	free(r->entry);
	r->entry = xstrndup(name, ksymbol_name_len(name));
	r->describing = !r->exists && streq(r->entry, r->wanted);
	for (size_t i = 0; r->describing && r->ifs && r->ifs[i]; i++)
		add_condition(&r->found->depends, r->ifs[i]);
	r->exists |= r->describing;
}

static void end_if(struct reader *r)
{
	size_t n = strv_len(r->ifs);

	if (n) {
		free(r->ifs[n - 1]);
		r->ifs[n - 1] = NULL;
	}
}

static void attribute(struct reader *r, const char *line)
{
	const char *name = after_word(line);
	size_t n = ksymbol_name_len(name);

	if (word_is(line, "help") || word_is(line, "---help---")) {
		r->in_help = true;
		r->help_column = 0;
	} else if (word_is(line, "depends") && r->describing && word_is(name, "on")) {
		add_condition(&r->found->depends, after_word(name));
	} else if (word_is(line, "select") && n == strlen(r->wanted) &&
		   str_starts(name, r->wanted) && r->n_selected_by < SELECTED_BY_MAX) {
		buf_printf(&r->found->selected_by, "%s%s", r->n_selected_by++ ? ", " : "",
			   r->entry);
	}
}

/* What ends an entry without beginning one of a symbol. */
static bool ends_entry(const char *line)
{
	static const char *const words[] = {"choice", "endchoice", "comment", "menu",	 "endmenu",
					    "if",     "endif",	   "source",  "mainmenu"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (word_is(line, words[i]))
			return true;
	return false;
}

static void read_line(struct reader *r, const char *text)
{
	const char *line = text + strspn(text, " \t");

	if (!*line)
		return;
	if (r->in_help && !r->help_column)
		r->help_column = column_of_text(text);
	r->in_help = r->in_help && r->help_column && column_of_text(text) >= r->help_column;
	if (r->in_help || *line == '#')
		return;
	if (word_is(line, "config") || word_is(line, "menuconfig")) {
		begin_entry(r, line);
	} else if (ends_entry(line)) {
		free(take_ptr(&r->entry));
		if (word_is(line, "if"))
			strv_push(&r->ifs, after_word(line));
		else if (word_is(line, "endif"))
			end_if(r);
	} else if (r->entry) {
		attribute(r, line);
	}
}

/* The next line with its backslash continuations joined; NULL at the end. */
static char *next_line(const char **text)
{
	autobuf line = {};

	if (!**text)
		return NULL;
	for (bool more = true; more && **text;) {
		size_t n = strcspn(*text, "\n");

		more = n && (*text)[n - 1] == '\\';
		buf_add(&line, *text, n - more);
		*text += n + ((*text)[n] == '\n');
		*text += more ? strspn(*text, " \t") : 0;
	}
	return buf_take(&line);
}

bool ksymbols_find(const struct ksymbols *t, const char *name, struct ksymbol *ret)
{
	struct ksymbol found = {};
	bool exists = false;
	size_t n_selected_by = 0;

	for (size_t i = 0; i < t->texts.n; i++) {
		struct reader r = {.wanted = name,
				   .found = &found,
				   .exists = exists,
				   .n_selected_by = n_selected_by};
		const char *at = t->texts.at[i];
		char *line;

		if (!strstr(at, name))
			continue;
		while ((line = next_line(&at))) {
			read_line(&r, line);
			free(line);
		}
		exists = r.exists;
		n_selected_by = r.n_selected_by;
		free(r.entry);
		strv_free(r.ifs);
	}
	if (exists)
		*ret = found;
	else
		ksymbol_release(&found);
	return exists;
}

void ksymbol_release(struct ksymbol *s)
{
	buf_release(&s->depends);
	buf_release(&s->selected_by);
}
