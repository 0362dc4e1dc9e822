// SPDX-License-Identifier: GPL-2.0-or-later
// Opening ELF files: the descriptor and libelf's handle together, errors as ours.
#pragma once

#include "harness/base/err.h"

#include <gelf.h>

struct elf_file {
	const char *path; /* borrowed */
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	size_t names; /* section index of the section names */
};

#define ELF_FILE_INIT {.fd = -1}
#define autoelf __attribute__((cleanup(elf_file_close))) struct elf_file

/* `autoelf f = ELF_FILE_INIT;` ERR_USAGE where the file is not ELF. */
int elf_file_open(const char *path, struct elf_file *ret, struct err *err);
void elf_file_close(struct elf_file *f);
/* Name of a section, "" where it has none. */
const char *elf_section_name(const struct elf_file *f, const GElf_Shdr *section);
/* ERR_USAGE "path: what: libelf's words". */
int elf_fail(const struct elf_file *f, const char *what, struct err *err);
