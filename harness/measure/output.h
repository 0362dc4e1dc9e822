// SPDX-License-Identifier: GPL-2.0-or-later
// A program's output made fit for reading: escapes gone, lines found, JSON documents taken out.
#pragma once

#include "harness/base/json.h"

/*
 * Adds the text without ANSI escapes; CR LF and CR become LF, so that every line that a terminal
 * would have shown is one. Any byte else stays. Time and memory are linear.
 */
void output_clean(const char *text, size_t len, struct buf *out);

/* The JSON documents that begin on lines of their own, in order; text may stand around them. */
struct json_docs {
	struct json *at[64];
	size_t n;
	char *why; /* what was wrong with the first that could not be read, or NULL; owned */
};
void json_docs_read(const char *text, size_t len, struct json_docs *ret);
void json_docs_release(struct json_docs *docs);
