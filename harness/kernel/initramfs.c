// SPDX-License-Identifier: GPL-2.0-or-later
// Collects what a guest needs from this host into a cpio archive.
#include "harness/kernel/initramfs.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/proc.h"
#include "harness/kernel/cpio.h"
#include "harness/kernel/identity.h"

#include <fcntl.h>

#define SCRIPT_DEPTH_MAX  4
#define LIST_MAX_BYTES	  (256u << 10)
#define MODULES_DEPTH_MAX 24
#define DEPMOD_MAX_BYTES  (64u << 20)

struct image {
	struct cpio cpio;
	char **names; /* base names of the programs, which no applet may hide */
};

static int not_found(const char *name, struct err *err)
{
	int rc = err_set(err, ERR_NOT_FOUND, "program '%s' for the guest is not on this machine",
			 name);

	err_hint(err, streq(name, "busybox") ? "apt-get install busybox-static"
					     : "install it, or give its path");
	return rc;
}

/* Whether path is DIRECTORY/name for one of the directories. */
static bool lies_in(const char *path, const char *const *dirs, size_t n)
{
	size_t len = path_base(path) - path;

	for (size_t i = 0; i < n; i++)
		if (len == strlen(dirs[i]) + 1 && strncmp(path, dirs[i], len - 1) == 0)
			return true;
	return false;
}

/* A library outside the directories that the guest's loader searches goes to one that it does. */
static void add_library(struct image *image, const char *path)
{
	static const char *const searched[] = {"/lib",	 "/usr/lib",   "/lib/x86_64-linux-gnu",
					       "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu"};
	autofree char *moved = xasprintf("/usr/lib/%s", path_base(path));

	cpio_add_file(&image->cpio, lies_in(path, searched, ARRAY_SIZE(searched)) ? path : moved,
		      0755, path);
}

/* One line of `ld.so --list`: "\tlibc.so.6 => /lib/libc.so.6 (0x7f..)"; the vdso has no path. */
static void add_listed(struct image *image, char *line)
{
	char *arrow = strstr(line, " => ");
	char *path = arrow ? arrow + 4 : line + strspn(line, " \t");

	path[strcspn(path, " ")] = '\0';
	if (*path == '/')
		add_library(image, path);
}

/* The loader itself knows best what a program needs, and fails naming a library that is not there;
 * it runs nothing of the program for that. */
static int add_libraries(struct image *image, const char *program, const char *loader,
			 struct err *err)
{
	const char *const argv[] = {loader, "--list", program, NULL};
	const char *const env[] = {"LD_LIBRARY_PATH", "LD_PRELOAD", "LC_ALL=C", NULL};
	const struct proc_spec spec = {
		.argv = argv,
		.env = env,
		.deadline_ns = clock_deadline_ns(30 * NS_PER_S),
		.what = "the program loader",
	};
	autobuf list = {};
	int rc = proc_run_ok(&spec, &list, LIST_MAX_BYTES, ERR_NOT_FOUND, err);
	char *line, *at = list.data;

	if (rc)
		return err_wrap(err, "libraries of '%s'", program);
	cpio_add_file(&image->cpio, loader, 0755, loader);
	while ((line = strsep(&at, "\n")))
		add_listed(image, line);
	return 0;
}

static int add_program(struct image *image, const char *name, int depth, struct err *err);

/* "#!/usr/bin/env perl" needs perl, "#!/bin/sh" is busybox's. What this host lacks stays out: the
 * guest will say so if it comes to that. */
static int add_script(struct image *image, const char *first_line, int depth, struct err *err)
{
	autofree char *line = xstrndup(first_line + 2, strcspn(first_line + 2, "\n"));
	char *at = line + strspn(line, " \t");
	char *word = strsep(&at, " \t");
	autofree char *path = NULL;

	if (streq(path_base(word), "env") && at) {
		at += strspn(at, " \t");
		word = strsep(&at, " \t");
	}
	path = *word ? fs_find_program(word) : NULL;
	if (!path || streq(path_base(word), "sh") || depth >= SCRIPT_DEPTH_MAX)
		return 0;
	return add_program(image, path, depth + 1, err);
}

static int add_dependencies(struct image *image, const char *path, int depth, struct err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	autofree char *loader = NULL;
	char head[256] = "";
	int rc;

	if (fd < 0 || read(fd, head, sizeof(head) - 1) < 0)
		return err_errno(err, "cannot read '%s'", path);
	if (str_starts(head, "#!"))
		return add_script(image, head, depth, err);
	if (!str_starts(head, "\177ELF"))
		return 0;
	rc = elf_interpreter(path, &loader, err);
	return rc || !loader ? rc : add_libraries(image, path, loader, err);
}

static int add_program(struct image *image, const char *name, int depth, struct err *err)
{
	static const char *const kept[] = {"/bin", "/sbin", "/usr/bin", "/usr/sbin"};
	autofree char *found = fs_find_program(name);
	autofree char *path = found ? fs_absolute(found) : NULL;
	autofree char *moved = NULL;

	if (!path && *name == '/' && fs_exists(name)) {
		cpio_add_file(&image->cpio, name, 0644, name);
		return 0;
	}
	if (!path)
		return not_found(name, err);
	moved = xasprintf("/usr/bin/%s", path_base(path));
	cpio_add_file(&image->cpio, lies_in(path, kept, ARRAY_SIZE(kept)) ? path : moved, 0755,
		      path);
	strv_push(&image->names, path_base(path));
	return add_dependencies(image, path, depth, err);
}

static bool is_wanted_program(const struct image *image, const char *name)
{
	for (size_t i = 0; image->names && image->names[i]; i++)
		if (streq(image->names[i], name))
			return true;
	return false;
}

static int add_busybox(struct image *image, struct err *err)
{
	autofree char *path = fs_find_program("busybox");
	const char *const argv[] = {path, "--list-full", NULL};
	const struct proc_spec spec = {
		.argv = argv,
		.deadline_ns = clock_deadline_ns(30 * NS_PER_S),
		.what = "busybox",
	};
	autobuf applets = {};
	char *line, *at;
	int rc;

	if (!path)
		return not_found("busybox", err);
	rc = proc_run_ok(&spec, &applets, LIST_MAX_BYTES, ERR_IO, err);
	if (rc)
		return rc;
	cpio_add_file(&image->cpio, "/bin/busybox", 0755, path);
	at = applets.data;
	while ((line = strsep(&at, "\n")))
		if (*line && !is_wanted_program(image, path_base(line)))
			cpio_add_link(&image->cpio, line, "/bin/busybox");
	return add_dependencies(image, path, 0, err);
}

/* What busybox's modprobe reads is .ko, .ko.gz and .ko.xz. */
static int compressed(const char *module, struct err *err)
{
	err_set(err, ERR_USAGE,
		"module '%s' is compressed with zstd, which nothing in the guest reads", module);
	err_hint(err, "unpack a copy of the directory: find DIR -name '*.ko.zst' -exec zstd -d "
		      "--rm {} +");
	return -ERR_USAGE;
}

/* Copies a directory's files; links, such as a module tree's to its sources, stay out. */
static int add_tree(struct image *image, const char *from, const char *to, int depth,
		    struct err *err)
{
	autostrv char **names = NULL;
	int rc = fs_list(from, &names, err);

	cpio_add_dir(&image->cpio, to, 0755);
	for (size_t i = 0; !rc && names[i]; i++) {
		autofree char *source = xasprintf("%s/%s", from, names[i]);
		autofree char *path = xasprintf("%s/%s", to, names[i]);
		struct stat st;

		if (lstat(source, &st))
			rc = err_errno(err, "cannot read '%s'", source);
		else if (S_ISREG(st.st_mode) && str_ends(path, ".ko.zst"))
			rc = compressed(source, err);
		else if (S_ISREG(st.st_mode))
			cpio_add_file(&image->cpio, path, 0644, source);
		else if (S_ISDIR(st.st_mode) && depth < MODULES_DEPTH_MAX)
			rc = add_tree(image, source, path, depth + 1, err);
	}
	return rc;
}

/*
 * A package's modules come without modules.dep, which its installation would make. What depmod
 * prints begins with it; the next file begins with a comment.
 */
static int add_dependency_list(struct image *image, const char *dir, const char *release,
			       struct err *err)
{
	size_t tree_len = strlen(dir) - MIN(strlen(dir), strlen(release));
	autofree char *root = xstrndup(dir, tree_len);
	autofree char *path = xasprintf("%s/modules.dep", release);
	autofree char *depmod = fs_find_program("depmod");
	const char *const argv[] = {depmod,	    "-n", "-b", tree_len ? root : "/",
				    path_base(dir), NULL};
	const struct proc_spec spec = {
		.argv = argv,
		.deadline_ns = clock_deadline_ns(300 * NS_PER_S),
		.what = "depmod",
	};
	autobuf text = {};
	char *end;
	int rc;

	if (!depmod || !str_ends(dir, release)) {
		log_warn("'%s' has no modules.dep, so modprobe will find nothing in the guest: %s",
			 dir, depmod ? "run depmod on it" : "install Debian's package kmod");
		return 0;
	}
	rc = proc_run_ok(&spec, &text, DEPMOD_MAX_BYTES, ERR_USAGE, err);
	if (rc)
		return rc;
	end = strstr(buf_str(&text), "\n#");
	if (end)
		buf_truncate(&text, end + 1 - text.data);
	cpio_add_text(&image->cpio, path, 0644, buf_str(&text));
	return 0;
}

static int add_modules(struct image *image, const char *modules_dir, struct err *err)
{
	autofree char *absolute = fs_absolute(modules_dir);
	autofree char *list = xasprintf("%s/modules.order", absolute);
	autofree char *dependencies = xasprintf("%s/modules.dep", absolute);
	autofree char *release = xasprintf("/lib/modules/%s", path_base(absolute));
	int rc;

	if (!fs_exists(list))
		return add_tree(image, absolute, "/lib/modules", 0, err);
	rc = add_tree(image, absolute, release, 0, err);
	if (!rc && !fs_exists(dependencies))
		rc = add_dependency_list(image, absolute, release, err);
	return rc;
}

static void add_skeleton(struct image *image, const char *agent)
{
	static const char *const dirs[] = {"proc", "sys", "dev",  "run", "etc",	    "mnt",
					   "var",  "bin", "sbin", "lib", "usr/bin", "usr/sbin"};
	struct cpio *c = &image->cpio;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		cpio_add_dir(c, dirs[i], 0755);
	cpio_add_dir(c, "root", 0700);
	cpio_add_dir(c, "tmp", 01777);
	cpio_add_dir(c, "var/tmp", 01777);
	cpio_add_char(c, "dev/console", 0600, 5, 1);
	cpio_add_char(c, "dev/null", 0666, 1, 3);
	cpio_add_file(c, "init", 0755, agent);
	cpio_add_link(c, "usr/bin/culprit-agent", "/init");
	cpio_add_text(c, "etc/passwd", 0644,
		      "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n");
	cpio_add_text(c, "etc/group", 0644, "root:x:0:\nnogroup:x:65534:\n");
	cpio_add_text(c, "etc/hosts", 0644, "127.0.0.1 localhost\n::1 localhost\n");
	cpio_add_text(c, "etc/nsswitch.conf", 0644, "passwd: files\ngroup: files\nhosts: files\n");
}

static int collect(struct image *image, const char *agent, char *const *programs,
		   const char *modules_dir, struct err *err)
{
	int rc = 0;

	add_skeleton(image, agent);
	for (size_t i = 0; !rc && programs && programs[i]; i++)
		rc = add_program(image, programs[i], 0, err);
	if (!rc)
		rc = add_busybox(image, err);
	if (!rc && modules_dir)
		rc = add_modules(image, modules_dir, err);
	cpio_finish(&image->cpio);
	return rc;
}

/* Finds the archive in the cache and marks it as used, or writes it. */
static int store(const struct cpio *c, const char *cache_dir, char **ret_path, struct err *err)
{
	autofree char *dir = xasprintf("%s/initramfs", cache_dir);
	autofree char *path = NULL;
	char hash[HASH_HEX];
	int rc = cpio_hash(c, hash, err);

	if (!rc)
		rc = fs_mkdirs(dir, err);
	if (rc)
		return rc;
	path = xasprintf("%s/%s.cpio", dir, hash);
	if (utimensat(AT_FDCWD, path, NULL, 0) && !fs_exists(path))
		rc = cpio_write(c, path, err);
	if (!rc)
		*ret_path = take_ptr(&path);
	return rc;
}

int initramfs_make(const char *cache_dir, const char *agent, char *const *programs,
		   const char *modules_dir, char **ret_path, struct err *err)
{
	struct image image = {};
	int rc = collect(&image, agent, programs, modules_dir, err);

	if (!rc)
		rc = store(&image.cpio, cache_dir, ret_path, err);
	cpio_release(&image.cpio);
	strv_free(image.names);
	return rc;
}
