// SPDX-License-Identifier: GPL-2.0-or-later
// What a tree's Kconfig files say of a symbol: that it exists, what it depends on, what selects it.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

struct ksymbol {
	struct buf depends; /* "A && (B || C)": its own and those of the `if` blocks around it */
	struct buf selected_by; /* "X, Y": at most four symbols whose entries select it */
};

/* The Kconfig files of a tree, read into memory once. */
struct ksymbols;
/* Those of other architectures than arch/<src_arch> do not count. Links are not followed. */
int ksymbols_read(const char *src_dir, const char *src_arch, struct ksymbols **ret,
		  struct err *err);
void ksymbols_free(struct ksymbols *t);
static inline void cleanup_ksymbols(struct ksymbols **t)
{
	ksymbols_free(*t);
}
#define autoksymbols __attribute__((cleanup(cleanup_ksymbols)))

/* false: no such symbol. */
bool ksymbols_find(const struct ksymbols *t, const char *name, struct ksymbol *ret);
void ksymbol_release(struct ksymbol *s);
size_t ksymbol_name_len(const char *s); /* of the symbol name that s begins with */
