// SPDX-License-Identifier: GPL-2.0-or-later
// Which source files a kernel build read, from the dependency files that kbuild leaves behind.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

/*
 * Paths relative to src_dir, one a line, sorted, each once, of everything below src_dir that a
 * `.name.cmd` file below obj_dir names: .c, .h, .S and what else the compiler opened. Generated
 * files are not in it. What make or scripts read (Makefile, Kconfig, tables) is not in it either,
 * nor are the programs that kbuild builds for itself in full (tools/, scripts/): absence from the
 * list means something only for a file of the kernel proper that a compiler reads.
 */
int sources_read(const char *obj_dir, const char *src_dir, struct buf *ret, struct err *err);
