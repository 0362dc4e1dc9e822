// SPDX-License-Identifier: GPL-2.0-or-later
// A commit in, a stored kernel out: key, worktree, config, make, identity, store.
#include "harness/kernel/build.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/util.h"
#include "harness/kernel/artefact.h"
#include "harness/kernel/collect.h"
#include "harness/kernel/configure.h"
#include "harness/kernel/kmake.h"
#include "harness/kernel/objtree.h"
#include "harness/kernel/recipe.h"
#include "harness/kernel/worktree.h"

#define FRESH_MIN_BYTES	      (3ULL << 30) /* a checkout and a first build */
#define INCREMENTAL_MIN_BYTES (500ULL << 20)
#define CONFIG_MAX_BYTES      (4u << 20)
#define PATCH_MAX_BYTES	      (64u << 20)

/* One build in work. */
struct build {
	const struct build_spec *spec;
	char *cache_dir; /* absolute */
	struct recipe recipe;
	char key[HASH_HEX];
	char *tree_key; /* of worktree and objects, shared by all commits of one recipe */
	char **patches; /* the job's, then the spec's */
	char *dir;	/* CACHE/builds/TREE_KEY: obj, conf */
	char *obj, *conf;
	struct worktree *wt;
	struct kmake make;
	struct artefact made; /* what is known of it so far */
};

static int hash_patches(const struct build *b, struct hash *h, struct err *err)
{
	for (size_t i = 0; b->patches && b->patches[i]; i++) {
		autobuf text = {};
		int rc = fs_read(b->patches[i], PATCH_MAX_BYTES, &text, err);

		if (rc)
			return err_wrap(err, "patch");
		hash_adds(h, buf_str(&text));
	}
	hash_adds(h, NULL);
	for (size_t i = 0; b->spec->reverts && b->spec->reverts[i]; i++)
		hash_adds(h, b->spec->reverts[i]);
	return 0;
}

/* Two commits with one tree are one kernel, so the key begins with the tree. */
static int make_key(struct build *b, struct err *err)
{
	struct repo_commit commit = {};
	int rc = repo_commit(b->spec->repo, b->spec->sha, &commit, err);
	struct hash *h;

	if (rc)
		return rc;
	h = hash_new();
	hash_adds(h, "kernel 1");
	hash_adds(h, commit.tree);
	hash_adds(h, b->recipe.hash);
	rc = hash_patches(b, h, err);
	hash_end(h, b->key);
	repo_commit_release(&commit);
	return rc;
}

static int build_init(struct build *b, const struct build_spec *spec, struct err *err)
{
	int rc;

	*b = (struct build){
		.spec = spec,
		.cache_dir = fs_absolute(spec->cache_dir),
		.patches = strv_dup((const char *const *)spec->options->patches),
		.made.lock_fd_ = -1,
	};
	for (size_t i = 0; spec->patches && spec->patches[i]; i++)
		strv_push(&b->patches, spec->patches[i]);
	rc = recipe_read(spec->options, spec->extra_config, &b->recipe, err);
	if (!rc)
		rc = make_key(b, err);
	if (rc)
		return rc;
	/* Not of the repository: another clone's commits differ as little as this one's. */
	b->tree_key = xasprintf("kernel-%.16s", b->recipe.hash);
	b->dir = xasprintf("%s/builds/%s", b->cache_dir, b->tree_key);
	b->obj = xasprintf("%s/obj", b->dir);
	b->conf = xasprintf("%s/conf", b->dir);
	return 0;
}

static void build_release(struct build *b)
{
	worktree_close(b->wt);
	recipe_release(&b->recipe);
	artefact_release(&b->made);
	strv_free(b->patches);
	free(b->cache_dir);
	free(b->tree_key);
	free(b->dir);
	free(b->obj);
	free(b->conf);
}
#define autobuild __attribute__((cleanup(build_release))) struct build

/* Before anything is written: is there room for it? */
static int check_disk(const struct build *b, struct err *err)
{
	autofree char *vmlinux = xasprintf("%s/vmlinux", b->obj);
	uint64_t need = fs_exists(vmlinux) ? INCREMENTAL_MIN_BYTES : FRESH_MIN_BYTES, have;
	int rc = fs_mkdirs(b->dir, err);

	if (!rc)
		rc = fs_free_bytes(b->dir, &have, err);
	if (rc || have >= need)
		return rc;
	rc = err_set(err, ERR_DISK_FULL, "%.1f GiB are free in '%s', a kernel build needs %.1f GiB",
		     (double)have / (1 << 30), b->cache_dir, (double)need / (1 << 30));
	err_hint(err, "make room ('culprit gc' removes old builds), or choose another place with "
		      "--cache");
	err_phase(err, "build");
	return rc;
}

static int check_paths(const struct build *b, struct err *err)
{
	if (!strpbrk(b->cache_dir, " \t\n:=%#$'\"\\"))
		return 0;
	err_set(err, ERR_USAGE,
		"the kernel's make cannot work in '%s': blanks and %s are not allowed in it",
		b->cache_dir, ":=%#$'\"\\");
	err_hint(err, "choose another directory with --cache");
	return -ERR_USAGE;
}

/* Opens the worktree and puts the commit with what belongs on top into it. */
static int check_out(struct build *b, struct err *err)
{
	int rc;

	progress_phase("checkout %.12s", b->spec->sha);
	rc = worktree_put(b->wt, b->spec->sha, (const char *const *)b->patches, b->spec->reverts,
			  false, err);
	return rc ? err_wrap(err, "%.12s", b->spec->sha) : 0;
}

static int make_once(struct build *b, bool modules, struct err *err)
{
	const char *const args[] = {"bzImage", modules ? "modules" : NULL, NULL};
	int rc = objtree_begin(b->obj, err);

	if (!rc)
		rc = kmake_run(&b->make, b->obj, args, err);
	/* Not after our deadline, a stop or a full disk: those cut off what was being written. */
	if (rc == 0 || (rc == -ERR_UNTESTABLE && !kmake_deadline_passed(&b->make)))
		objtree_end(b->obj);
	return rc;
}

/* Once more from nothing where the sources are not to blame: stale objects may be. */
static int make_kernel(struct build *b, bool modules, struct err *err)
{
	autofree char *config = xasprintf("%s/.config", b->obj);
	autofree char *vmlinux = xasprintf("%s/vmlinux", b->obj);
	bool incremental = fs_exists(vmlinux);
	ERR_CLEANUP struct err first = {};
	autobuf text = {};
	int rc;

	progress_phase("build %.12s", b->spec->sha);
	rc = make_once(b, modules, &first);
	if (rc != -ERR_UNTESTABLE || !incremental || b->make.diagnosed) {
		err_move(err, &first);
		return rc;
	}
	log_info("%.12s: %s; trying once more from a clean object directory", b->spec->sha,
		 first.message);
	rc = fs_read(config, CONFIG_MAX_BYTES, &text, err);
	if (!rc)
		rc = objtree_remove(b->obj, err);
	if (!rc)
		rc = fs_mkdirs(b->obj, err);
	if (!rc)
		rc = fs_write(config, text.data, text.len, err);
	return rc ? rc : make_once(b, modules, err);
}

/* Whether the config that was just written has loadable modules. */
static int has_modules(const struct build *b, bool *ret, struct err *err)
{
	autofree char *path = xasprintf("%s/.config", b->obj);
	autokconfig config = {};
	int rc = kconfig_read(path, &config, err);

	if (!rc)
		*ret = streq(kconfig_value(&config, "MODULES"), "y");
	return rc;
}

/* Everything that can make the commit untestable, up to the files in the stage. */
static int build_into(struct build *b, const struct stage *stage, struct err *err)
{
	autofree char *tree = NULL;
	autobuf notes = {};
	bool modules = false;
	int rc = check_out(b, err);

	if (!rc)
		rc = worktree_tree(b->wt, &tree, err);
	if (rc)
		return rc;
	progress_phase("configure %.12s", b->spec->sha);
	b->make.src = worktree_path(b->wt);
	b->make.deadline_ns = clock_deadline_ns(b->spec->options->timeout_ns);
	rc = configure(&b->make, &b->recipe, b->cache_dir, tree, &notes, err);
	if (!rc)
		rc = has_modules(b, &modules, err);
	if (!rc)
		rc = make_kernel(b, modules, err);
	if (!rc)
		rc = collect(&b->make, modules, stage, &b->made, err);
	b->made.notes = buf_take(&notes);
	return rc;
}

static int store_failure(const struct build *b, struct stage *stage, const struct err *failure)
{
	ERR_CLEANUP struct err err = {};
	bool late = kmake_deadline_passed(&b->make);
	int rc = collect_log(&b->make, stage, &err);

	if (!rc)
		rc = stage_describe_failure(stage, failure, late ? b->spec->options->timeout_ns : 0,
					    &err);
	if (!rc)
		rc = stage_commit(stage, b->cache_dir, b->key, &err);
	if (rc)
		log_warn("the failure of %.12s could not be stored: %s", b->spec->sha, err.message);
	return -ERR_UNTESTABLE;
}

/* With the worktree held: builds, stores, opens what was stored. */
static int build_and_store(struct build *b, struct artefact *ret, struct err *err)
{
	int64_t start = clock_now_ns();
	autostage stage = {.fd = -1};
	int rc = stage_open(b->cache_dir, b->key, &stage, err);

	if (!rc)
		rc = build_into(b, &stage, err);
	if (rc == -ERR_UNTESTABLE)
		return store_failure(b, &stage, err);
	b->made.seconds = (double)(clock_now_ns() - start) / NS_PER_S;
	if (!rc)
		rc = stage_describe(&stage, &b->made, err);
	if (!rc)
		rc = stage_commit(&stage, b->cache_dir, b->key, err);
	if (rc)
		return rc;
	rc = artefact_open(b->cache_dir, b->key, b->spec->options->timeout_ns, ret, err);
	if (rc == 0)
		return err_set(err, ERR_IO, "'%s/kernels/%s' vanished", b->cache_dir, b->key);
	return MIN(rc, 0);
}

/* What is not in the store is built by whoever gets the worktree; the others find it after. */
static int build_locked(struct build *b, struct artefact *ret, struct err *err)
{
	int64_t timeout = b->spec->options->timeout_ns;
	int rc = check_paths(b, err);

	if (!rc)
		rc = check_disk(b, err);
	if (!rc)
		rc = worktree_open(b->cache_dir, b->tree_key, b->spec->repo, NO_DEADLINE, &b->wt,
				   err);
	if (rc)
		return rc;
	rc = artefact_open(b->cache_dir, b->key, timeout, ret, err);
	if (rc)
		return rc;
	b->make = (struct kmake){
		.cache_dir = b->cache_dir,
		.obj = b->obj,
		.conf = b->conf,
		.tools = &b->recipe.tools,
		.options = b->spec->options,
		.log_path = b->spec->log_path,
		.deadline_ns = NO_DEADLINE,
	};
	return build_and_store(b, ret, err);
}

int kernel_build(const struct build_spec *spec, struct artefact *ret, struct err *err)
{
	autobuild b = {};
	int rc = build_init(&b, spec, err);

	if (!rc)
		rc = artefact_open(b.cache_dir, b.key, spec->options->timeout_ns, ret, err);
	if (rc > 0)
		ret->from_cache = true;
	if (rc)
		return MIN(rc, 0);
	rc = build_locked(&b, ret, err);
	if (rc > 0)
		ret->from_cache = true;
	return MIN(rc, 0);
}

int kernel_is_built(const struct build_spec *spec, struct err *err)
{
	struct artefact found = {.lock_fd_ = -1};
	autobuild b = {};
	int rc = build_init(&b, spec, err);

	if (!rc)
		rc = artefact_open(b.cache_dir, b.key, spec->options->timeout_ns, &found, err);
	artefact_release(&found);
	return rc;
}

int kernel_config_diff(const char *config_a, const char *config_b, char **ret, struct err *err)
{
	autokconfig a = {}, b = {};
	autobuf diff = {};
	int rc = kconfig_read(config_a, &a, err);

	if (!rc)
		rc = kconfig_read(config_b, &b, err);
	if (rc)
		return rc;
	kconfig_diff(&a, &b, &diff);
	*ret = buf_take(&diff);
	return 0;
}
