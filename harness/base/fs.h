// SPDX-License-Identifier: GPL-2.0-or-later
// Files and directories: whole reads, atomic writes, trees, locks, free space.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <sys/types.h>

int fs_mkdirs(const char *path, struct err *err);		/* mkdir -p */
int fs_read(const char *path, size_t max_bytes, struct buf *ret, struct err *err);
int fs_write(const char *path, const void *data, size_t len, struct err *err); /* write, fsync, rename */
int fs_copy(const char *from, const char *to, mode_t mode, struct err *err);   /* reflink, or copy; rename */
int fs_remove_tree(const char *path, struct err *err);		/* never follows links; absent is fine */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* Entries of a directory without . and .., sorted; NULL-terminated, owned. */
int fs_list(const char *path, char ***ret, struct err *err);
int fs_free_bytes(const char *path, uint64_t *ret, struct err *err);
uint64_t fs_tree_bytes(const char *path); /* blocks really used, 0 if absent */
char *fs_find_program(const char *name);  /* along PATH, owned, or NULL */
char *fs_absolute(const char *path);	  /* against the current directory, not resolving links; owned */

/*
 * An advisory lock on a file, held as long as the descriptor lives, gone with the process. The file
 * holds "PID what" of the holder, so that the second one is told who it is (ERR_BUSY).
 * wait_ns 0 tries once. `what` is a short text such as "bisect 7".
 */
int fs_lock(const char *path, const char *what, int64_t wait_ns, int *ret_fd, struct err *err);
