// SPDX-License-Identifier: GPL-2.0-or-later
// The effective config of one commit: base, fragments, olddefconfig, and what survived of them.
#pragma once

#include "harness/base/buf.h"
#include "harness/kernel/kmake.h"
#include "harness/kernel/recipe.h"

/*
 * Writes k->obj/.config, and leaves the file alone where it says the same already, so that an
 * incremental build stays one. Every commit's config is made from base and fragments, never from
 * another commit's. What the kernel's Kconfig files, scripts and the toolchain determine is
 * determined once: the result is kept in CACHE/configs by their content. tree is the tree that is
 * checked out in k->src.
 *
 * ret_notes: a line for each option that does not exist at this commit.
 * ERR_UNTESTABLE, phase config: olddefconfig fails, or an option that was asked for did not survive
 * it.
 */
int configure(struct kmake *k, const struct recipe *r, const char *cache_dir, const char *tree,
	      struct buf *ret_notes, struct err *err);
