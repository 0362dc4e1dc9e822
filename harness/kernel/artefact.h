// SPDX-License-Identifier: GPL-2.0-or-later
// The store of built kernels: one directory a content key, complete or absent, held by locks.
#pragma once

#include "harness/kernel/build.h"

/*
 * CACHE/kernels/KEY/ holds bzImage, config, identity, sources, build.log, perhaps modules/, and
 * meta (JSON, which also counts files and bytes, so that a damaged artefact is noticed); of a
 * commit that cannot be built only build.log and meta. A directory appears there by rename, after
 * everything in it was synced. Whoever uses one holds a shared flock on the directory itself;
 * removal needs the exclusive one. Its mtime is the time of the last use.
 */

/*
 * 1: found, *ret is filled and held. 0: not in the store, or damaged and now gone.
 * -ERR_UNTESTABLE: a stored failure, told in err. A failure by deadline counts for deadlines up to
 * its own.
 */
int artefact_open(const char *cache_dir, const char *key, int64_t timeout_ns, struct artefact *ret,
		  struct err *err);

/* A directory being filled, locked while it lives; released without a commit, it is removed. */
struct stage {
	char *dir;
	int fd;
};
#define autostage __attribute__((cleanup(stage_release))) struct stage

int stage_open(const char *cache_dir, const char *key, struct stage *ret, struct err *err);
/* Writes meta from what is known of the artefact (config_hash, code_hash, toolchain, release,
 * notes, seconds). */
int stage_describe(const struct stage *s, const struct artefact *a, struct err *err);
/* The same for a commit that cannot be tested; timeout_ns is not 0 if the deadline was why. */
int stage_describe_failure(const struct stage *s, const struct err *failure, int64_t timeout_ns,
			   struct err *err);
/* Syncs and renames into place, where it is held until the release. Where another process was first
 * its artefact stays and ours goes. */
int stage_commit(struct stage *s, const char *cache_dir, const char *key, struct err *err);
void stage_release(struct stage *s);

/* Opens a directory or file and takes a flock on it (LOCK_SH or LOCK_EX, never waiting). -1:
 * absent, just being removed, or held in a way that excludes this one. */
int store_lock(const char *path, int how);
/* Renames a directory or file out of the way, then removes it, so that nobody finds half of it. */
int store_discard(const char *path, struct err *err);
