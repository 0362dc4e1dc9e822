// SPDX-License-Identifier: GPL-2.0-or-later
// Which kernel this is: GNU build-ids of vmlinux and modules, and a hash of what gets loaded.
#pragma once

#include "harness/base/err.h"
#include "harness/base/hash.h"

#include <stdbool.h>

struct identity {
	char *notes; /* "vmlinux <hex>\n", then "<module> <hex>\n" sorted: what a guest's /sys says */
	char code_hash[HASH_HEX];
};

/*
 * The code hash covers name, address, size and bytes of every loaded section of vmlinux and of each
 * module, and a module's relocations by symbol name. Equal code, equal hash: left out are notes,
 * debug information and BTF, modinfo, linux_banner, the utsname, the release wherever it is
 * embedded, build-ids embedded in images such as the vdso, and, with bug_lines, the line numbers of
 * the bug table, which a comment moves.
 *
 * Other places where a kernel keeps __LINE__ in loaded data (dynamic debug, lockdep's and
 * might_sleep's file and line, kallsyms with KALLSYMS_ALL) or a copy of its sources (IKHEADERS) do
 * count: there a comment that adds a line gives another hash. That errs to the safe side: two
 * kernels are then measured although they are one.
 *
 * modules are paths of .ko files, NULL-terminated or NULL. bug_lines: the config has
 * DEBUG_BUGVERBOSE with the 12-byte entries of x86 (and no BUG format strings). ERR_NOT_FOUND: a
 * file has no build-id.
 */
int identity_read(const char *vmlinux, char *const *modules, bool bug_lines, struct identity *ret,
		  struct err *err);
void identity_release(struct identity *id);

/* The GNU build-id of an ELF file in hex; owned. */
int elf_build_id(const char *path, char **ret_hex, struct err *err);
/* The program interpreter of an ELF file ("/lib64/ld-linux-x86-64.so.2"), NULL for a static one;
 * owned. ERR_USAGE: not an ELF file. */
int elf_interpreter(const char *path, char **ret, struct err *err);
