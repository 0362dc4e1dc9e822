// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256 (nettle) for content keys.
#pragma once

#include "harness/base/err.h"

#include <stddef.h>
#include <stdint.h>

#define HASH_HEX 65

struct hash; /* opaque running SHA-256 */
struct hash *hash_new(void);
void hash_add(struct hash *h, const void *data, size_t len);
/* With its length, so that "a","bc" differs from "ab","c"; NULL is its own value. */
void hash_adds(struct hash *h, const char *s);
void hash_end(struct hash *h, char ret_hex[HASH_HEX]); /* frees h */
int hash_file(const char *path, char ret_hex[HASH_HEX], struct err *err);
