// SPDX-License-Identifier: GPL-2.0-or-later
// Built kernels in the cache: opening, checking, staging, renaming into place.
#include "harness/kernel/artefact.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/json.h"
#include "harness/base/log.h"
#include "harness/base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define META_MAX_BYTES (1u << 20)
#define DEPTH_MAX      24

static char *kernels_dir(const char *cache_dir)
{
	return xasprintf("%s/kernels", cache_dir);
}

int store_lock(const char *path, int how)
{
	autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat held, there;

	if (fd < 0 || flock(fd, how | LOCK_NB))
		return -1;
	/* It may have been renamed away between open and flock. */
	if (fstat(fd, &held) || stat(path, &there) || held.st_ino != there.st_ino ||
	    held.st_dev != there.st_dev)
		return -1;
	return take_fd(&fd);
}

int store_discard(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	autofree char *trash = xasprintf("%.*s/.trash-%d-%lld", (int)(slash - path), path,
					 (int)getpid(), (long long)clock_now_ns());

	if (rename(path, trash))
		return errno == ENOENT ? 0 : err_errno(err, "cannot remove '%s'", path);
	return fs_remove_tree(trash, err);
}

/* What there is below a directory, meta left out. */
struct extent {
	uint64_t files, bytes;
};

/* Counts the regular files below dir; with sync, also flushes them and their directories. */
static int walk(const char *dir, int depth, bool sync, struct extent *sum, struct err *err)
{
	autostrv char **names = NULL;
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fs_list(dir, &names, err);

	for (size_t i = 0; !rc && names[i]; i++) {
		autofree char *path = xasprintf("%s/%s", dir, names[i]);
		autoclose int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (file < 0 || fstat(file, &st))
			continue; /* a link in a module tree */
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			rc = walk(path, depth + 1, sync, sum, err);
		} else if (S_ISREG(st.st_mode)) {
			sum->files += !streq(names[i], "meta");
			sum->bytes += streq(names[i], "meta") ? 0 : (uint64_t)st.st_size;
			if (sync && fsync(file))
				rc = err_errno(err, "cannot store '%s'", path);
		}
	}
	if (!rc && sync && fd >= 0)
		fsync(fd);
	return rc;
}

static char *member(const struct json *meta, const char *name)
{
	const char *s = json_str(json_get(meta, name));

	return xstrdup(s ? s : "");
}

/* A path below the artefact's directory. */
static char *below(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static int fill(const struct json *meta, const char *dir, const char *key, struct artefact *a,
		struct err *err)
{
	autofree char *identity = below(dir, "identity");
	autobuf text = {};
	int rc = fs_read(identity, META_MAX_BYTES, &text, err);

	if (rc)
		return rc;
	*a = (struct artefact){
		.key = xstrdup(key),
		.dir = xstrdup(dir),
		.image = below(dir, "bzImage"),
		.modules_dir = below(dir, "modules"),
		.config = below(dir, "config"),
		.sources = below(dir, "sources"),
		.identity = buf_take(&text),
		.code_hash = member(meta, "code_hash"),
		.config_hash = member(meta, "config_hash"),
		.toolchain = member(meta, "toolchain"),
		.release = member(meta, "release"),
		.notes = member(meta, "notes"),
		.lock_fd_ = -1,
	};
	if (!fs_is_dir(a->modules_dir))
		free(take_ptr(&a->modules_dir));
	json_num(json_get(meta, "seconds"), &a->seconds);
	return 0;
}

static int read_meta(const char *dir, struct json **ret, struct err *err)
{
	autofree char *path = below(dir, "meta");
	autobuf text = {};
	int rc = fs_read(path, META_MAX_BYTES, &text, err);

	return rc ? rc : json_parse(buf_str(&text), text.len, ret, err);
}

static bool is_complete(const struct json *meta, const char *dir)
{
	ERR_CLEANUP struct err err = {};
	struct extent have = {};
	double files = -1, bytes = -1;

	return json_num(json_get(meta, "files"), &files) &&
	       json_num(json_get(meta, "bytes"), &bytes) && walk(dir, 0, false, &have, &err) == 0 &&
	       (double)have.files == files && (double)have.bytes == bytes;
}

/* 0: the failure does not count for a deadline as long as this one. */
static int stored_failure(const struct json *failure, const char *dir, int64_t timeout_ns,
			  struct err *err)
{
	const char *phase = json_str(json_get(failure, "phase"));
	const char *message = json_str(json_get(failure, "message"));
	double seconds = 0;

	if (json_num(json_get(failure, "timeout_s"), &seconds) && seconds > 0 &&
	    (double)timeout_ns / NS_PER_S > seconds)
		return 0;
	err_set(err, ERR_UNTESTABLE, "%s", message ? message : "does not build");
	err_hint(err, "this is known from an earlier build; remove '%s' to try again", dir);
	err_phase(err, phase ? phase : "build");
	return -ERR_UNTESTABLE;
}

/* Opens what is in dir, which is locked. 0: it is no good. */
static int open_locked(const char *dir, const char *key, int64_t timeout_ns, struct artefact *ret,
		       struct err *err)
{
	autojson struct json *meta = NULL;
	ERR_CLEANUP struct err ignored = {};
	struct json *failure;

	if (read_meta(dir, &meta, &ignored) || !is_complete(meta, dir)) {
		log_warn("artefact '%s' is damaged, it will be built again", dir);
		return 0;
	}
	failure = json_get(meta, "failure");
	if (failure)
		return stored_failure(failure, dir, timeout_ns, err);
	return fill(meta, dir, key, ret, &ignored) ? 0 : 1;
}

int artefact_open(const char *cache_dir, const char *key, int64_t timeout_ns, struct artefact *ret,
		  struct err *err)
{
	autofree char *dir = xasprintf("%s/kernels/%s", cache_dir, key);
	autoclose int fd = store_lock(dir, LOCK_SH);
	int rc;

	if (fd < 0)
		return 0;
	rc = open_locked(dir, key, timeout_ns, ret, err);
	if (rc == 0)
		return store_discard(dir, err);
	futimens(fd, NULL);
	if (rc > 0)
		ret->lock_fd_ = take_fd(&fd);
	return rc;
}

void artefact_release(struct artefact *a)
{
	if (a->key && a->lock_fd_ >= 0)
		close(a->lock_fd_);
	free(a->key);
	free(a->dir);
	free(a->image);
	free(a->modules_dir);
	free(a->config);
	free(a->sources);
	free(a->identity);
	free(a->code_hash);
	free(a->config_hash);
	free(a->toolchain);
	free(a->release);
	free(a->notes);
	*a = (struct artefact){.lock_fd_ = -1};
}

/* A gc that looks for what a crash left over may get in between making and locking. */
#define STAGE_TRIES 5

int stage_open(const char *cache_dir, const char *key, struct stage *ret, struct err *err)
{
	autofree char *kernels = kernels_dir(cache_dir);
	autofree char *dir = xasprintf("%s/.new-%.16s-%d", kernels, key, (int)getpid());
	int rc = fs_mkdirs(kernels, err), fd = -1;

	if (!rc)
		rc = fs_remove_tree(dir, err);
	for (int i = 0; i < STAGE_TRIES && !rc && fd < 0; i++) {
		rc = fs_mkdirs(dir, err);
		fd = rc ? -1 : store_lock(dir, LOCK_EX);
	}
	if (rc)
		return rc;
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot lock '%s'", dir);
	*ret = (struct stage){take_ptr(&dir), fd};
	return 0;
}

static int write_meta(const struct stage *s, struct json *meta, struct err *err)
{
	autofree char *path = below(s->dir, "meta");
	struct extent have = {};
	autobuf text = {};
	int rc = walk(s->dir, 0, false, &have, err);

	if (rc)
		return rc;
	json_set_int(meta, "files", (int64_t)have.files);
	json_set_int(meta, "bytes", (int64_t)have.bytes);
	json_print(meta, true, &text);
	return fs_write(path, text.data, text.len, err);
}

int stage_describe(const struct stage *s, const struct artefact *a, struct err *err)
{
	autojson struct json *meta = json_object_new();

	json_set_str(meta, "config_hash", a->config_hash);
	json_set_str(meta, "code_hash", a->code_hash);
	json_set_str(meta, "toolchain", a->toolchain);
	json_set_str(meta, "release", a->release);
	json_set_str(meta, "notes", a->notes);
	json_set_num(meta, "seconds", a->seconds);
	return write_meta(s, meta, err);
}

int stage_describe_failure(const struct stage *s, const struct err *failure, int64_t timeout_ns,
			   struct err *err)
{
	autojson struct json *meta = json_object_new();
	struct json *f = json_set(meta, "failure", json_object_new());

	json_set_str(f, "phase", failure->phase);
	json_set_str(f, "message", failure->message);
	json_set_num(f, "timeout_s", (double)timeout_ns / NS_PER_S);
	return write_meta(s, meta, err);
}

int stage_commit(struct stage *s, const char *cache_dir, const char *key, struct err *err)
{
	autofree char *kernels = kernels_dir(cache_dir);
	autofree char *dir = below(kernels, key);
	autoclose int parent = open(kernels, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct extent all = {};
	int rc = walk(s->dir, 0, true, &all, err);

	if (rc)
		return rc;
	if (rename(s->dir, dir)) {
		/* Of two that built the same the first one's stays: it may be in use already. */
		if (errno == ENOTEMPTY || errno == EEXIST)
			return 0;
		return err_errno(err, "cannot store '%s'", dir);
	}
	free(take_ptr(&s->dir));
	flock(s->fd, LOCK_SH); /* others may use it from here on */
	if (parent >= 0)
		fsync(parent);
	return 0;
}

void stage_release(struct stage *s)
{
	ERR_CLEANUP struct err err = {};

	if (s->dir && fs_remove_tree(s->dir, &err))
		log_warn("%s", err.message);
	if (s->fd >= 0)
		close(s->fd);
	free(s->dir);
	*s = (struct stage){.fd = -1};
}
