// SPDX-License-Identifier: GPL-2.0-or-later
// Shrinks the cache: what was not used for longest goes first, what somebody holds stays.
#include "harness/kernel/build.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/util.h"
#include "harness/kernel/artefact.h"

#include <sys/file.h>
#include <sys/stat.h>

/* A project's worktree and an initramfs are used without a lock; one touched within a day counts as
 * held. */
#define UNLOCKED_GRACE_S (24 * 3600)

enum kind { KERNEL, TREE, INITRAMFS, CONFIG };

/* One thing that goes as a whole: a kernel; a worktree with its objects; an initramfs; a config. */
struct entry {
	enum kind kind;
	char *name;
	uint64_t bytes;
	time_t used;
};

struct gc {
	const char *cache;
	VEC(struct entry) entries;
	uint64_t total;
};

static const char *const kind_dirs[] = {
	[KERNEL] = "kernels",
	[TREE] = "worktrees",
	[INITRAMFS] = "initramfs",
	[CONFIG] = "configs",
};

static char *entry_path(const struct gc *gc, const struct entry *e)
{
	return xasprintf("%s/%s/%s", gc->cache, kind_dirs[e->kind], e->name);
}

static time_t mtime_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? 0 : st.st_mtime;
}

/* Everything of a worktree beside the directory itself. */
static char *objects_path(const struct gc *gc, const struct entry *e)
{
	return xasprintf("%s/builds/%s", gc->cache, e->name);
}

static char *beside(const struct gc *gc, const struct entry *e, const char *suffix)
{
	return xasprintf("%s/worktrees/%s%s", gc->cache, e->name, suffix);
}

static void measure(const struct gc *gc, struct entry *e)
{
	autofree char *path = entry_path(gc, e);

	e->bytes = fs_tree_bytes(path);
	e->used = mtime_of(path);
	if (e->kind == TREE) {
		autofree char *objects = objects_path(gc, e);
		autofree char *lock = beside(gc, e, ".lock");
		autofree char *built = beside(gc, e, ".built");

		e->bytes += fs_tree_bytes(objects);
		e->used = MAX(mtime_of(lock), mtime_of(built));
	}
}

/* What a crash left half made or half removed; what is being made just now is locked. */
static void remove_leftover(const char *path)
{
	ERR_CLEANUP struct err err = {};
	autoclose int fd = store_lock(path, LOCK_EX);
	bool is_file = !fs_is_dir(path);

	if (fd < 0 && !(is_file && mtime_of(path) + UNLOCKED_GRACE_S < time(NULL)))
		return;
	if (fs_remove_tree(path, &err))
		log_warn("%s", err.message);
}

static bool is_leftover(const char *name)
{
	return str_starts(name, ".new-") || str_starts(name, ".trash-") || strstr(name, ".tmp-");
}

static void add_entry(struct gc *gc, enum kind kind, const char *name)
{
	struct entry e = {.kind = kind, .name = xstrdup(name)};

	measure(gc, &e);
	gc->total += e.bytes;
	VEC_PUSH(&gc->entries, e);
}

/* Whether a name in a directory of the cache is an entry: KEY.lock and KEY.built belong to the
 * worktree KEY, and so do its objects, but for those whose worktree is gone. */
static bool is_entry(const struct gc *gc, enum kind kind, const char *dir, const char *name)
{
	autofree char *path = xasprintf("%s/%s/%s", gc->cache, dir, name);
	autofree char *worktree = xasprintf("%s/worktrees/%s", gc->cache, name);

	if (kind != TREE)
		return true;
	return fs_is_dir(path) && (streq(dir, kind_dirs[TREE]) || !fs_exists(worktree));
}

static int list_dir(struct gc *gc, enum kind kind, const char *dir, bool dry_run, struct err *err)
{
	autofree char *parent = xasprintf("%s/%s", gc->cache, dir);
	autostrv char **names = NULL;
	int rc = fs_exists(parent) ? fs_list(parent, &names, err) : 0;

	for (size_t i = 0; !rc && names && names[i]; i++) {
		autofree char *path = xasprintf("%s/%s", parent, names[i]);

		if (is_leftover(names[i]) && !dry_run)
			remove_leftover(path);
		else if (!is_leftover(names[i]) && is_entry(gc, kind, dir, names[i]))
			add_entry(gc, kind, names[i]);
	}
	return rc;
}

static int by_use(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;

	return a->used != b->used ? (a->used < b->used ? -1 : 1) : strcmp(a->name, b->name);
}

/* Takes the lock that users of the entry hold: false if somebody does. *ret_fd is -1 where there is
 * none. */
static bool hold(const struct gc *gc, const struct entry *e, int *ret_fd)
{
	autofree char *path = entry_path(gc, e);
	autofree char *lock = beside(gc, e, ".lock");
	bool unlocked = e->kind == INITRAMFS || str_starts(e->name, "project-");

	*ret_fd = -1;
	if (unlocked && e->used + UNLOCKED_GRACE_S > time(NULL))
		return false;
	if (e->kind != KERNEL && !(e->kind == TREE && fs_exists(lock)))
		return true;
	/* Not fs_lock: that would write, and the file's time is that of the last use. */
	return (*ret_fd = store_lock(e->kind == KERNEL ? path : lock, LOCK_EX)) >= 0;
}

static int discard(const struct gc *gc, const struct entry *e, struct err *err)
{
	autofree char *path = entry_path(gc, e);
	autofree char *built = beside(gc, e, ".built");
	autofree char *objects = objects_path(gc, e);
	int rc = 0;

	if (e->kind == TREE) {
		/* First what says that the rest is good. */
		rc = fs_remove_tree(built, err);
		if (!rc)
			rc = store_discard(objects, err);
	}
	return rc ? rc : store_discard(path, err);
}

static int shrink(struct gc *gc, uint64_t max_bytes, bool dry_run, uint64_t *freed, size_t *n,
		  struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < gc->entries.n && gc->total > max_bytes && !rc; i++) {
		const struct entry *e = &gc->entries.at[i];
		autoclose int fd = -1;

		if (!hold(gc, e, &fd))
			continue;
		rc = dry_run ? 0 : discard(gc, e, err);
		if (rc)
			break;
		log_info("%s %s/%s", dry_run ? "would remove" : "removed", kind_dirs[e->kind],
			 e->name);
		gc->total -= e->bytes;
		*freed += e->bytes;
		*n += 1;
	}
	return rc;
}

int cache_gc(const char *cache_dir, uint64_t max_bytes, bool dry_run, uint64_t *ret_freed,
	     size_t *ret_n, struct err *err)
{
	struct gc gc = {.cache = cache_dir};
	uint64_t freed = 0;
	size_t n = 0;
	int rc = 0;

	for (enum kind kind = KERNEL; kind <= CONFIG && !rc; kind++)
		rc = list_dir(&gc, kind, kind_dirs[kind], dry_run, err);
	if (!rc)
		rc = list_dir(&gc, TREE, "builds", dry_run, err);
	if (!rc && gc.entries.n)
		qsort(gc.entries.at, gc.entries.n, sizeof(*gc.entries.at), by_use);
	if (!rc)
		rc = shrink(&gc, max_bytes, dry_run, &freed, &n, err);
	for (size_t i = 0; i < gc.entries.n; i++)
		free(gc.entries.at[i].name);
	VEC_FREE(&gc.entries);
	if (rc)
		return rc;
	*ret_freed = freed;
	*ret_n = n;
	return 0;
}
