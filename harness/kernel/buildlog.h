// SPDX-License-Identifier: GPL-2.0-or-later
// Why a kernel build failed, read from its log: the commit's fault, the machine's, or a full disk.
#pragma once

#include "harness/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the log from an offset on and fills err: ERR_DISK_FULL where it names a full disk,
 * ERR_INFRA where the kernel killed a compiler for its memory or a tool or header of the host is
 * missing, else ERR_UNTESTABLE with the last error lines, in which src_dir is left out. Returns
 * err's negative code. *ret_diagnosed: a compiler, assembler or linker said what is wrong with the
 * sources, so building the same again from nothing would not help.
 */
int buildlog_explain(const char *log_path, int64_t from, const char *src_dir, bool *ret_diagnosed,
		     struct err *err);
/* The last line of a log that is neither empty nor make's own, made safe; "" for none. Owned. */
char *buildlog_last_line(const char *log_path, int64_t from);
