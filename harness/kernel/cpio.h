// SPDX-License-Identifier: GPL-2.0-or-later
// A newc cpio archive, the form an initramfs has: the same entries always give the same bytes.
#pragma once

#include "harness/base/err.h"
#include "harness/base/hash.h"
#include "harness/base/util.h"

#include <sys/stat.h>

struct cpio_entry {
	char *path;	       /* without a leading slash */
	mode_t mode;	       /* type and permissions */
	char *source;	       /* S_IFREG: the host's file with the bytes, or NULL for text */
	char *text;	       /* S_IFREG without source: the bytes; S_IFLNK: the target */
	uint32_t major, minor; /* S_IFCHR */
	size_t order;	       /* of being added */
};

struct cpio {
	VEC(struct cpio_entry) entries;
};
#define autocpio __attribute__((cleanup(cpio_release))) struct cpio

/* Paths may begin with a slash. Directories above an entry need not be added. Of two entries with
 * one path the first stays. */
void cpio_add_dir(struct cpio *c, const char *path, mode_t permissions);
void cpio_add_file(struct cpio *c, const char *path, mode_t permissions, const char *source);
void cpio_add_text(struct cpio *c, const char *path, mode_t permissions, const char *text);
void cpio_add_link(struct cpio *c, const char *path, const char *target);
void cpio_add_char(struct cpio *c, const char *path, mode_t permissions, uint32_t major,
		   uint32_t minor);

/* Puts the entries in order, with the directories above them; before the two below. */
void cpio_finish(struct cpio *c);
/* Of everything that is in the archive; reads the sources. */
int cpio_hash(const struct cpio *c, char ret_hex[HASH_HEX], struct err *err);
/* Synced and renamed into place. */
int cpio_write(const struct cpio *c, const char *path, struct err *err);
void cpio_release(struct cpio *c);
