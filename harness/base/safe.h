// SPDX-License-Identifier: GPL-2.0-or-later
// Hostile text made harmless for where it goes: the one place that knows how each place is
// attacked.
#pragma once

#include "harness/base/buf.h"

/*
 * Subjects, authors, names of metrics, output of programs: whatever a commit, a guest or a log
 * says. All of these first do what buf_add_safe (a terminal, a log, the body of a mail) does: one
 * line of valid UTF-8 without control characters, escapes and marks that reorder text, at most max
 * bytes of it, "..." where it was cut. Then each does what its place needs on top.
 */

/* In elements and in quoted attributes. */
void safe_html(struct buf *out, const char *text, size_t max);
/* A single-quoted string of gnuplot, quotes included; for texts drawn with `noenhanced`. */
void safe_gnuplot(struct buf *out, const char *text, size_t max);
/* A file name's part of letters, digits, "._-"; no dot or dash in front, never empty. Different
 * texts can give the same name, so an id belongs beside it. */
void safe_filename(struct buf *out, const char *text, size_t max);

/*
 * "Name: value\n" of a mail, value encoded by RFC 2047 where it is not plain ASCII, folded at 76
 * columns. Nothing in value can begin another header.
 */
void safe_header(struct buf *out, const char *name, const char *value, size_t max);
/*
 * An address for a header: "Name <local@host>", the name quoted or encoded as it needs. False, and
 * nothing added, if the address is none that every program reads in the same way.
 */
bool safe_address(struct buf *out, const char *name, const char *address);
bool address_is_valid(const char *address); /* local@host of plain characters, at most 254 */
/* Splits "Name <a@b>" or "a@b"; both owned, name "" where there is none. False if the address is
 * not valid. */
bool address_split(const char *text, char **ret_name, char **ret_address);
