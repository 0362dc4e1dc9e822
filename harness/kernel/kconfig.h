// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel configs as text: reading, comparing, and why an option that was asked for is not there.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/hash.h"

struct kconfig_option {
	char *name;  /* without CONFIG_ */
	char *value; /* as written: y, m, 10, 0x1000, "text"; n where it "is not set" */
	size_t line; /* where it was said, from 1 */
};

/* A config: sorted by name, each name once (the last line wins, as for the kernel's own reader). */
struct kconfig {
	struct kconfig_option *at;
	size_t n;
};

#define autokconfig __attribute__((cleanup(kconfig_release))) struct kconfig

/* Text of a fragment or a .config. ERR_USAGE "what:line: ..." for a line that is neither an option
 * nor a comment; what is the file's name for the message. */
int kconfig_parse(const char *text, const char *what, struct kconfig *ret, struct err *err);
int kconfig_read(const char *path, struct kconfig *ret, struct err *err);
void kconfig_release(struct kconfig *c);

const char *kconfig_value(const struct kconfig *c, const char *name); /* "n" where it is absent */
/* Of what is set; comments and order do not count. */
void kconfig_hash(const struct kconfig *c, char ret_hex[HASH_HEX]);
/* "-CONFIG_A=y\n+CONFIG_A=m\n" for each difference, sorted; absent and not set are the same. */
void kconfig_diff(const struct kconfig *a, const struct kconfig *b, struct buf *ret);

/*
 * Looks whether everything that was asked for is in the effective config. An option that the tree's
 * Kconfig files do not define becomes a line of ret_notes; one that they define and that has
 * another value now is ERR_UNTESTABLE (phase config), naming it and what it depends on, or what
 * selects it. src_dir is the tree, src_arch the directory below arch/ whose Kconfig files count
 * ("x86"). The Kconfig files are read only when something is missing.
 */
int kconfig_check(const struct kconfig *asked, const struct kconfig *effective, const char *src_dir,
		  const char *src_arch, struct buf *ret_notes, struct err *err);
