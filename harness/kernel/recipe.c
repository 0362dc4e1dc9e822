// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the files that a job's kernel section names.
#include "harness/kernel/recipe.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"

#define FRAGMENT_MAX_BYTES (4u << 20)

/* LOCALVERSION_AUTO would put the commit into the image, and no two would be equal. */
static const char own_lines[] = "# CONFIG_LOCALVERSION_AUTO is not set\n";
/* The tree's own way to align; configure.c sees to what it depends on, kmake.c to trees without it.
 */
static const char aligned_lines[] = "CONFIG_" ALIGN_OPTION "=y\n";

static int check_base(const char *base, struct err *err)
{
	size_t n = strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (*base == '/' || (n && !base[n] && str_ends(base, "config")))
		return 0;
	return err_set(err, ERR_USAGE,
		       "base config '%s' is neither a make target such as tinyconfig nor a file",
		       base);
}

static int add_fragment(const char *path, struct buf *all, struct err *err)
{
	autokconfig parsed = {};
	autobuf text = {};
	int rc = fs_read(path, FRAGMENT_MAX_BYTES, &text, err);

	if (!rc)
		rc = kconfig_parse(buf_str(&text), path, &parsed, err);
	if (rc)
		return err_wrap(err, "kernel config fragment");
	buf_printf(all, "%s\n", buf_str(&text));
	return 0;
}

static void hash_recipe(const struct recipe *r, char ret_hex[HASH_HEX])
{
	struct hash *h = hash_new();

	hash_adds(h, "recipe 1");
	hash_adds(h, r->base ? r->base : r->options->base);
	hash_adds(h, r->fragments);
	hash_adds(h, r->tools.cc);
	hash_adds(h, r->tools.probed);
	hash_adds(h, r->options->arch);
	hash_adds(h, r->options->aligned ? "aligned" : "");
	hash_end(h, ret_hex);
}

static int read_texts(const struct kernel_options *o, const char *extra, struct recipe *r,
		      struct err *err)
{
	autobuf fragments = {}, base = {};
	int rc = check_base(o->base, err);

	if (!rc && *o->base == '/')
		rc = fs_read(o->base, FRAGMENT_MAX_BYTES, &base, err);
	for (size_t i = 0; !rc && o->fragments && o->fragments[i]; i++)
		rc = add_fragment(o->fragments[i], &fragments, err);
	if (extra)
		buf_printf(&fragments, "%s\n", extra);
	if (o->aligned)
		buf_adds(&fragments, aligned_lines);
	if (!rc)
		rc = kconfig_parse(buf_str(&fragments), "kernel config", &r->asked, err);
	buf_adds(&fragments, own_lines);
	r->base = *o->base == '/' ? buf_take(&base) : NULL;
	r->fragments = buf_take(&fragments);
	return rc;
}

int recipe_read(const struct kernel_options *options, const char *extra, struct recipe *ret,
		struct err *err)
{
	autorecipe r = {.options = options};
	int rc;

	if (!streq(options->arch, "x86_64"))
		return err_set(err, ERR_USAGE, "cannot build kernels for '%s', only for x86_64",
			       options->arch);
	rc = read_texts(options, extra, &r, err);
	if (!rc)
		rc = toolchain_probe(options->compiler, &r.tools, err);
	if (rc)
		return rc;
	hash_recipe(&r, r.hash);
	*ret = r;
	r = (struct recipe){};
	return 0;
}

void recipe_release(struct recipe *r)
{
	toolchain_release(&r->tools);
	kconfig_release(&r->asked);
	free(r->base);
	free(r->fragments);
	*r = (struct recipe){};
}
