// SPDX-License-Identifier: GPL-2.0-or-later
// A growing byte buffer that is always NUL-terminated; the way strings are put together here.
#pragma once

#include "harness/base/util.h"

/* `struct buf b = {};` is empty. `data` may be NULL while len is 0: use buf_str for a string. */
struct buf {
	char *data;
	size_t len;
	size_t cap;
};

#define autobuf __attribute__((cleanup(buf_release))) struct buf

void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addch(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_pad(struct buf *b, size_t column, char c); /* fills up to this length since the last newline */
char *buf_reserve(struct buf *b, size_t extra);	    /* room for extra bytes after len; caller adds to len */
void buf_drop(struct buf *b, size_t n);		    /* removes n bytes at the front */
void buf_truncate(struct buf *b, size_t len);
const char *buf_str(const struct buf *b); /* "" when empty; valid until the next change */
char *buf_take(struct buf *b);		  /* the string, owned by the caller; b is empty after */
void buf_clear(struct buf *b);		  /* keeps the memory */
void buf_release(struct buf *b);
/* Text made valid UTF-8: each byte that is none becomes U+FFFD. */
void buf_add_utf8(struct buf *b, const char *text, size_t len);
/* Hostile text made safe for a terminal or log: control characters, escapes, bidi marks and invalid
 * UTF-8 are replaced; newlines stay only with keep_newlines; at most max bytes, "..." marks a cut. */
void buf_add_safe(struct buf *b, const char *text, size_t len, size_t max, bool keep_newlines);
/* The last lines (at most so many, empty ones left out) made safe and joined by "; ". */
void buf_add_last_lines(struct buf *b, const char *text, size_t len, size_t lines);
