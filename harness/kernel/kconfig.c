// SPDX-License-Identifier: GPL-2.0-or-later
// Configs as sorted lists of options.
#include "harness/kernel/kconfig.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"
#include "harness/kernel/ksymbol.h"

#define CONFIG_MAX_BYTES (4u << 20)

/* One line without its newline: 1 an option, 0 nothing, -1 rubbish. */
static int parse_line(const char *line, size_t number, struct kconfig_option *ret)
{
	static const char unset[] = " is not set";
	bool comment = *line == '#';
	const char *p = line + strspn(line, comment ? "# \t" : " \t");
	size_t n;

	if (!str_starts(p, "CONFIG_"))
		return comment || !*p ? 0 : -1;
	p += strlen("CONFIG_");
	n = ksymbol_name_len(p);
	if (comment && n && streq(p + n, unset)) {
		*ret = (struct kconfig_option){xstrndup(p, n), xstrdup("n"), number};
		return 1;
	}
	if (comment)
		return 0;
	if (!n || p[n] != '=')
		return -1;
	*ret = (struct kconfig_option){xstrndup(p, n), xstrdup(p + n + 1), number};
	return 1;
}

static int by_name_and_line(const void *va, const void *vb)
{
	const struct kconfig_option *a = va, *b = vb;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static void option_release(struct kconfig_option *o)
{
	free(o->name);
	free(o->value);
}

static void sort_last_wins(struct kconfig *c)
{
	size_t n = 0;

	if (c->n)
		qsort(c->at, c->n, sizeof(*c->at), by_name_and_line);
	for (size_t i = 0; i < c->n; i++) {
		if (n && streq(c->at[n - 1].name, c->at[i].name))
			option_release(&c->at[--n]);
		c->at[n++] = c->at[i];
	}
	c->n = n;
}

int kconfig_parse(const char *text, const char *what, struct kconfig *ret, struct err *err)
{
	VEC(struct kconfig_option) options = {};
	autokconfig c = {};
	size_t number = 0;
	int kind = 0;

	while (*text && kind >= 0) {
		size_t len = strcspn(text, "\n");
		autofree char *line = xstrndup(text, len);
		struct kconfig_option option;

		line[strcspn(line, "\r")] = '\0';
		kind = parse_line(line, ++number, &option);
		if (kind > 0)
			VEC_PUSH(&options, option);
		text += len + (text[len] == '\n');
	}
	c = (struct kconfig){options.at, options.n};
	if (kind < 0)
		return err_set(err, ERR_USAGE, "%s:%zu: neither CONFIG_NAME=value nor a comment",
			       what, number);
	sort_last_wins(&c);
	*ret = c;
	c = (struct kconfig){};
	return 0;
}

int kconfig_read(const char *path, struct kconfig *ret, struct err *err)
{
	autobuf text = {};
	int rc = fs_read(path, CONFIG_MAX_BYTES, &text, err);

	return rc ? rc : kconfig_parse(buf_str(&text), path, ret, err);
}

void kconfig_release(struct kconfig *c)
{
	for (size_t i = 0; i < c->n; i++)
		option_release(&c->at[i]);
	free(c->at);
	*c = (struct kconfig){};
}

static int name_to_option(const void *name, const void *option)
{
	return strcmp(name, ((const struct kconfig_option *)option)->name);
}

const char *kconfig_value(const struct kconfig *c, const char *name)
{
	const struct kconfig_option *o =
		c->n ? bsearch(name, c->at, c->n, sizeof(*c->at), name_to_option) : NULL;

	return o ? o->value : "n";
}

void kconfig_hash(const struct kconfig *c, char ret_hex[HASH_HEX])
{
	struct hash *h = hash_new();

	for (size_t i = 0; i < c->n; i++) {
		if (streq(c->at[i].value, "n"))
			continue;
		hash_adds(h, c->at[i].name);
		hash_adds(h, c->at[i].value);
	}
	hash_end(h, ret_hex);
}

static void add_change(struct buf *out, const char *name, const char *from, const char *to)
{
	if (streq(from, to))
		return;
	if (!streq(from, "n"))
		buf_printf(out, "-CONFIG_%s=%s\n", name, from);
	if (!streq(to, "n"))
		buf_printf(out, "+CONFIG_%s=%s\n", name, to);
}

void kconfig_diff(const struct kconfig *a, const struct kconfig *b, struct buf *ret)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		int order = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->at[i].name, b->at[j].name);
		const struct kconfig_option *from = order <= 0 ? &a->at[i++] : NULL;
		const struct kconfig_option *to = order >= 0 ? &b->at[j++] : NULL;

		add_change(ret, from ? from->name : to->name, from ? from->value : "n",
			   to ? to->value : "n");
	}
}

/* "(it depends on NET && INET)", or who selects an option that was to be off. */
static void add_reason(const struct ksymbol *s, bool want_off, struct buf *out)
{
	if (want_off && s->selected_by.len)
		buf_printf(out, " (it is selected by %s)", buf_str(&s->selected_by));
	else if (s->depends.len)
		buf_printf(out, " (it depends on %s)", buf_str(&s->depends));
	else
		buf_adds(out, " (its Kconfig entry names no dependency of its own; a choice or its "
			      "menu may rule it out)");
}

int kconfig_check(const struct kconfig *asked, const struct kconfig *effective, const char *src_dir,
		  const char *src_arch, struct buf *ret_notes, struct err *err)
{
	autoksymbols struct ksymbols *tree = NULL;
	autobuf lost = {};

	for (size_t i = 0; i < asked->n; i++) {
		const struct kconfig_option *o = &asked->at[i];
		const char *have = kconfig_value(effective, o->name);
		struct ksymbol symbol = {};

		if (streq(have, o->value))
			continue;
		if (!tree && ksymbols_read(src_dir, src_arch, &tree, err))
			return -(int)err->code;
		if (ksymbols_find(tree, o->name, &symbol)) {
			buf_printf(&lost, "%sCONFIG_%s=%s became %s", lost.len ? "; " : "", o->name,
				   o->value, have);
			add_reason(&symbol, streq(o->value, "n"), &lost);
		} else {
			buf_printf(ret_notes, "CONFIG_%s does not exist at this commit\n", o->name);
		}
		ksymbol_release(&symbol);
	}
	if (!lost.len)
		return 0;
	err_set(err, ERR_UNTESTABLE, "config option did not survive olddefconfig: %s",
		buf_str(&lost));
	err_hint(err, "add what it depends on to a fragment of the job, or drop the option");
	err_phase(err, "config");
	return -ERR_UNTESTABLE;
}
