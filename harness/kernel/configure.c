// SPDX-License-Identifier: GPL-2.0-or-later
// Configures a tree.
#include "harness/kernel/configure.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"
#include "harness/kernel/git.h"
#include "harness/kernel/ksymbol.h"

#include <fcntl.h>
#include <sys/stat.h>

#define CONFIG_MAX_BYTES (4u << 20)
#define SRC_ARCH	 "x86"

/* Whether a path of the tree can have a say in a config. Rather too many than too few. */
static bool is_input(const char *path)
{
	const char *name = path_base(path);

	return str_starts(name, "Kconfig") || str_starts(path, "scripts/") ||
	       streq(name, "Makefile") || str_ends(name, ".sh") || strstr(path, "/configs/") ||
	       (str_starts(path, "arch/") && strstr(path, "/tools/"));
}

/* Hash of those files, from git's listing of the tree: "mode type id\tpath" lines. */
static int hash_inputs(const struct kmake *k, const struct recipe *r, const char *tree,
		       char ret_hex[HASH_HEX], struct err *err)
{
	autobuf listing = {};
	int rc = git_run(k->src, GIT_ARGS("ls-tree", "-r", tree), 0, &listing, ERR_IO, err);
	char *line, *at = listing.data;
	struct hash *h;

	if (rc)
		return rc;
	h = hash_new();
	hash_adds(h, "config 1");
	hash_adds(h, r->hash);
	while (at && (line = strsep(&at, "\n"))) {
		const char *tab = strchr(line, '\t');

		if (tab && is_input(tab + 1))
			hash_adds(h, line);
	}
	hash_end(h, ret_hex);
	return 0;
}

static int run(struct kmake *k, const char *target, struct err *err)
{
	const char *const args[] = {target, NULL};
	int rc = kmake_run(k, k->conf, args, err);

	if (rc == -ERR_UNTESTABLE) {
		err_wrap(err, "make %s", target);
		err_phase(err, "config");
	}
	return rc;
}

/* A base that is not tinyconfig has EXPERT off, and a tree without the option needs no change. */
static int add_expert(const struct kmake *k, struct buf *text, struct err *err)
{
	autoksymbols struct ksymbols *tree = NULL;
	struct ksymbol option = {};
	int rc = ksymbols_read(k->src, SRC_ARCH, &tree, err);

	if (!rc && ksymbols_find(tree, ALIGN_OPTION, &option))
		buf_adds(text, "CONFIG_EXPERT=y\n");
	ksymbol_release(&option);
	return rc;
}

/* Runs base target and olddefconfig in a directory of their own, whose host programs stay built. */
static int make_config(struct kmake *k, const struct recipe *r, struct buf *ret, struct err *err)
{
	autofree char *path = xasprintf("%s/.config", k->conf);
	autobuf text = {};
	int rc = fs_mkdirs(k->conf, err);

	if (!rc)
		rc = fs_remove_tree(path, err);
	if (rc)
		return rc;
	if (r->base) {
		buf_adds(&text, r->base);
	} else {
		rc = run(k, r->options->base, err);
		if (!rc)
			rc = fs_read(path, CONFIG_MAX_BYTES, &text, err);
	}
	buf_printf(&text, "\n%s", r->fragments);
	if (!rc && r->options->aligned)
		rc = add_expert(k, &text, err);
	if (!rc)
		rc = fs_write(path, text.data, text.len, err);
	if (!rc)
		rc = run(k, "olddefconfig", err);
	return rc ? rc : fs_read(path, CONFIG_MAX_BYTES, ret, err);
}

static int check(const struct kmake *k, const struct recipe *r, const struct buf *config,
		 struct buf *ret_notes, struct err *err)
{
	autokconfig effective = {};
	int rc = kconfig_parse(buf_str(config), ".config", &effective, err);

	if (rc) { /* the tree's own olddefconfig wrote rubbish */
		err->code = ERR_UNTESTABLE;
		err_phase(err, "config");
		return -ERR_UNTESTABLE;
	}
	return kconfig_check(&r->asked, &effective, k->src, SRC_ARCH, ret_notes, err);
}

/* The config of equal inputs, with its notes, from the cache: 1 found, 0 not. */
static int recall(const char *memo, struct buf *config, struct buf *notes)
{
	autofree char *path = xasprintf("%s.notes", memo);
	ERR_CLEANUP struct err ignored = {};

	if (fs_read(path, CONFIG_MAX_BYTES, notes, &ignored) ||
	    fs_read(memo, CONFIG_MAX_BYTES, config, &ignored))
		return 0;
	utimensat(AT_FDCWD, memo, NULL, 0);
	utimensat(AT_FDCWD, path, NULL, 0);
	return 1;
}

static int remember(const char *cache_dir, const char *memo, const struct buf *config,
		    const struct buf *notes, struct err *err)
{
	autofree char *dir = xasprintf("%s/configs", cache_dir);
	autofree char *path = xasprintf("%s.notes", memo);
	int rc = fs_mkdirs(dir, err);

	if (!rc)
		rc = fs_write(path, buf_str(notes), notes->len, err);
	return rc ? rc : fs_write(memo, buf_str(config), config->len, err);
}

static int write_if_changed(const char *dir, const struct buf *config, struct err *err)
{
	autofree char *path = xasprintf("%s/.config", dir);
	ERR_CLEANUP struct err ignored = {};
	autobuf old = {};
	int rc;

	if (fs_read(path, CONFIG_MAX_BYTES, &old, &ignored) == 0 &&
	    streq(buf_str(&old), buf_str(config)))
		return 0;
	rc = fs_mkdirs(dir, err);
	return rc ? rc : fs_write(path, config->data, config->len, err);
}

int configure(struct kmake *k, const struct recipe *r, const char *cache_dir, const char *tree,
	      struct buf *ret_notes, struct err *err)
{
	autobuf config = {}, notes = {};
	autofree char *memo = NULL;
	char hash[HASH_HEX];
	int rc = hash_inputs(k, r, tree, hash, err);

	if (rc)
		return rc;
	memo = xasprintf("%s/configs/%s", cache_dir, hash);
	if (!recall(memo, &config, &notes)) {
		buf_clear(&notes);
		rc = make_config(k, r, &config, err);
		if (!rc)
			rc = check(k, r, &config, &notes, err);
		if (!rc)
			rc = remember(cache_dir, memo, &config, &notes, err);
	}
	if (!rc)
		rc = write_if_changed(k->obj, &config, err);
	if (!rc)
		buf_adds(ret_notes, buf_str(&notes));
	return rc;
}
