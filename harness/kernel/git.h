// SPDX-License-Identifier: GPL-2.0-or-later
// Spawning git with an environment and configuration that nobody else has a say in.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

/*
 * Runs `git ARGS...` (args NULL-terminated, without "git") in a directory. Variables such as GIT_DIR,
 * the user's and the system's configuration, hooks, filters and automatic gc do not apply. stdin_fd 0
 * is /dev/null. ret_out may be NULL. Failure is an error of this code, a full disk ERR_DISK_FULL.
 */
int git_run(const char *dir, const char *const *args, int stdin_fd, struct buf *ret_out,
	    enum err_code code, struct err *err);
/* A question that git answers by its exit status: 1 for yes (exit 0), 0 for no (exit 1), or an error. */
int git_ask(const char *dir, const char *const *args, struct buf *ret_out, struct err *err);
/* For a few fixed arguments: git_run(dir, GIT_ARGS("write-tree"), 0, &out, ERR_IO, err). */
#define GIT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
