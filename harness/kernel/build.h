// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel builds: a commit, a config recipe and a toolchain in; an artefact of the store out.
#pragma once

#include "harness/base/err.h"
#include "harness/job/job.h"
#include "harness/kernel/initramfs.h"
#include "harness/kernel/repo.h"

/* What is to be built: a commit with patches on top and commits reverted on top. */
struct build_spec {
	struct repo *repo;
	const char *cache_dir;
	const char *sha;	      /* 40 hex */
	const char *const *patches;   /* files on top, beside the job's own; NULL-terminated or NULL */
	const char *const *reverts;   /* 40 hex commits, reverted on top in this order; or NULL */
	const struct kernel_options *options;
	const char *log_path;	      /* where the build log goes while it runs */
	const char *extra_config;     /* one more fragment as text ("CONFIG_X=y\n"), or NULL */
};

/* A built kernel in the store; paths are below the cache and stay while artefact is held (shared lock). */
struct artefact {
	char *key;	   /* content key: tree, effective inputs of the config, toolchain, patches */
	char *dir;
	char *image;	   /* bzImage */
	char *modules_dir; /* or NULL where the config has none */
	char *config;	   /* path of the effective .config */
	char *sources;	   /* path of the sorted list of source files that the build read */
	char *identity;	   /* "vmlinux <hex>\n<module> <hex>\n" sorted: what agent_hello.notes must equal */
	char *code_hash;
	char *config_hash;
	char *toolchain;   /* first line of $CC --version, and of ld */
	char *release;	   /* kernel release */
	char *notes;	   /* lines: options that do not exist at this commit; "" if none */
	bool from_cache;
	double seconds;	   /* of this build, as learned when it was made */
	int lock_fd_;
};
void artefact_release(struct artefact *a);

/*
 * ERR_UNTESTABLE: does not apply (phase checkout), config did not survive (config), does not build or
 * takes longer than the deadline (build) with the last error lines; a failure of this kind is also kept
 * in the store, so it is not tried twice. ERR_INFRA, ERR_DISK_FULL: says nothing of the commit.
 */
int kernel_build(const struct build_spec *spec, struct artefact *ret, struct err *err);
/* Whether it is in the store already, without building: 1, 0, or -ERR_UNTESTABLE for a stored failure,
 * which err tells; other negative codes are errors. */
int kernel_is_built(const struct build_spec *spec, struct err *err);
/* Difference of two effective configs, "-CONFIG_A=y\n+CONFIG_A=m\n" lines sorted; owned. */
int kernel_config_diff(const char *config_a, const char *config_b, char **ret, struct err *err);

/* Removes what was used longest ago and nobody holds (kernels, worktrees with their objects, initramfs,
 * configs) until the cache is under max_bytes, and what a crash left half made. */
int cache_gc(const char *cache_dir, uint64_t max_bytes, bool dry_run, uint64_t *ret_freed, size_t *ret_n,
	     struct err *err);
