// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a finished build out of its object directory.
#include "harness/kernel/collect.h"

#include "harness/base/fs.h"
#include "harness/base/util.h"
#include "harness/kernel/identity.h"
#include "harness/kernel/kconfig.h"
#include "harness/kernel/sources.h"

#define TEXT_MAX_BYTES (16u << 20)
#define LOG_MAX_BYTES  (64u << 20)

static char *below(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int untestable(struct err *err)
{
	err->code = ERR_UNTESTABLE;
	err_phase(err, "build");
	return -ERR_UNTESTABLE;
}

static int stage_text(const struct stage *s, const char *name, const char *text, struct err *err)
{
	autofree char *path = below(s->dir, name);

	return fs_write(path, text, strlen(text), err);
}

static int collect_image(const struct kmake *k, const struct stage *s, struct err *err)
{
	autofree char *image = below(k->obj, "arch/x86/boot/bzImage");
	autofree char *copy = below(s->dir, "bzImage");
	int rc = fs_copy(image, copy, 0644, err);

	return rc == -ERR_NOT_FOUND ? untestable(err) : rc;
}

static int collect_config(const struct kmake *k, const struct stage *s, struct kconfig *ret,
			  char ret_hash[HASH_HEX], struct err *err)
{
	autofree char *path = below(k->obj, ".config");
	autofree char *copy = below(s->dir, "config");
	int rc = kconfig_read(path, ret, err);

	if (rc)
		return rc;
	kconfig_hash(ret, ret_hash);
	return fs_copy(path, copy, 0644, err);
}

static int read_release(const struct kmake *k, char **ret, struct err *err)
{
	autofree char *path = below(k->obj, "include/config/kernel.release");
	autobuf text = {};
	int rc = fs_read(path, TEXT_MAX_BYTES, &text, err);

	if (rc == -ERR_NOT_FOUND)
		return untestable(err);
	if (rc)
		return rc;
	*ret = xstrndup(buf_str(&text), strcspn(buf_str(&text), "\n"));
	return 0;
}

/* A line of modules.order: "net/foo.ko"; "net/foo.o" since 6.5, "kernel/net/foo.ko" before 5.3. */
static char *module_file(const char *obj, const char *line)
{
	size_t len = strlen(line) - (str_ends(line, ".ko") ? 3 : str_ends(line, ".o") ? 2 : 0);
	autofree char *path = xasprintf("%s/%.*s.ko", obj, (int)len, line);

	if (!fs_exists(path) && str_starts(line, "kernel/"))
		return module_file(obj, line + strlen("kernel/"));
	return take_ptr(&path);
}

static int list_modules(const struct kmake *k, char ***ret, struct err *err)
{
	autofree char *path = below(k->obj, "modules.order");
	autobuf text = {};
	int rc = fs_read(path, TEXT_MAX_BYTES, &text, err);
	char *line, *at = text.data;

	if (rc)
		return rc;
	while (at && (line = strsep(&at, "\n"))) {
		autofree char *file = *line ? module_file(k->obj, line) : NULL;

		if (file)
			strv_push(ret, file);
	}
	return 0;
}

/* Links to source and object directories, which would be dead elsewhere. */
static int remove_links(const char *modules, struct err *err)
{
	autostrv char **releases = NULL;
	int rc = fs_list(modules, &releases, err);

	for (size_t i = 0; !rc && releases[i]; i++) {
		autofree char *build = xasprintf("%s/%s/build", modules, releases[i]);
		autofree char *source = xasprintf("%s/%s/source", modules, releases[i]);

		rc = fs_remove_tree(build, err);
		if (!rc)
			rc = fs_remove_tree(source, err);
	}
	return rc;
}

static int collect_modules(struct kmake *k, const struct stage *s, struct err *err)
{
	autofree char *root = below(s->dir, "root");
	autofree char *installed = below(root, "lib/modules");
	autofree char *modules = below(s->dir, "modules");
	autofree char *where = xasprintf("INSTALL_MOD_PATH=%s", root);
	const char *const args[] = {where, "INSTALL_MOD_STRIP=1", "modules_install", NULL};
	int rc = kmake_run(k, k->obj, args, err);

	if (!rc && rename(installed, modules))
		rc = err_errno(err, "cannot store '%s'", modules);
	if (!rc)
		rc = fs_remove_tree(root, err);
	return rc ? rc : remove_links(modules, err);
}

/* Entries of the bug table whose line numbers identity_read knows how to leave out. */
static bool has_bug_lines(const struct kconfig *c)
{
	return streq(kconfig_value(c, "DEBUG_BUGVERBOSE"), "y") &&
	       streq(kconfig_value(c, "GENERIC_BUG_RELATIVE_POINTERS"), "y") &&
	       streq(kconfig_value(c, "HAVE_ARCH_BUG_FORMAT"), "n");
}

static int collect_identity(const struct kmake *k, char *const *modules, bool bug_lines,
			    const struct stage *s, struct artefact *made, struct err *err)
{
	autofree char *vmlinux = below(k->obj, "vmlinux");
	struct identity id = {};
	int rc = identity_read(vmlinux, modules, bug_lines, &id, err);

	if (rc == -ERR_NOT_FOUND || rc == -ERR_USAGE)
		return untestable(err);
	if (rc)
		return rc;
	made->code_hash = xstrdup(id.code_hash);
	rc = stage_text(s, "identity", id.notes, err);
	identity_release(&id);
	return rc;
}

static int collect_sources(const struct kmake *k, const struct stage *s, struct err *err)
{
	autobuf list = {};
	int rc = sources_read(k->obj, k->src, &list, err);

	return rc ? rc : stage_text(s, "sources", buf_str(&list), err);
}

/* A log that somebody flooded is not worth the space. */
int collect_log(const struct kmake *k, const struct stage *stage, struct err *err)
{
	autofree char *copy = below(stage->dir, "build.log");
	ERR_CLEANUP struct err ignored = {};
	autobuf log = {};

	if (fs_read(k->log_path, LOG_MAX_BYTES, &log, &ignored))
		buf_printf(&log, "(not kept: %s)\n", ignored.message);
	return fs_write(copy, log.data, log.len, err);
}

int collect(struct kmake *k, bool modules, const struct stage *stage, struct artefact *made,
	    struct err *err)
{
	autostrv char **files = NULL;
	autokconfig config = {};
	char config_hash[HASH_HEX];
	int rc = collect_image(k, stage, err);

	if (!rc)
		rc = collect_config(k, stage, &config, config_hash, err);
	if (!rc)
		rc = read_release(k, &made->release, err);
	if (!rc && modules)
		rc = list_modules(k, &files, err);
	if (!rc && files)
		rc = collect_modules(k, stage, err);
	if (!rc)
		rc = collect_identity(k, files, has_bug_lines(&config), stage, made, err);
	if (!rc)
		rc = collect_sources(k, stage, err);
	if (!rc)
		rc = collect_log(k, stage, err);
	if (rc)
		return rc;
	made->config_hash = xstrdup(config_hash);
	made->toolchain = xstrdup(k->tools->text);
	return 0;
}
