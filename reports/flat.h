// SPDX-License-Identifier: GPL-2.0-or-later
// What was measured as flat rows for other programs: CSV, JSON lines, KCIDB.
#pragma once

#include "db/store.h"
#include "harness/base/buf.h"

enum flat_what {
	FLAT_RESULTS, /* a row a boot, cell and metric: the boot value that statistics use */
	FLAT_SAMPLES, /* a row a run and metric */
};

/* Whether a line was written: 0, or negative with the writer's own error. */
typedef int flat_line_fn(const char *line, size_t len, void *arg);

/*
 * Boots that ended well and were not voided, of one session or of all (0). Both forms have the same
 * columns. CSV is RFC 4180 with a header; a text that a spreadsheet would take for a formula gets
 * an apostrophe in front.
 */
int flat_print(struct store *s, int64_t session, enum flat_what what, bool csv, flat_line_fn *line,
	       void *arg, struct err *err);

/*
 * One KCIDB document (I/O schema 5) of sessions that were measured here: a checkout a commit, a
 * build a kernel (PASS, FAIL; MISS where the lab failed), and tests: DONE with its number for each
 * sample, ERROR for a run that gave none, MISS where the lab failed, FAIL for a kernel that did not
 * come up where another one did. ret_left_out counts kernels without a commit, which KCIDB has no
 * place for.
 */
int kcidb_print(struct store *s, int64_t session, const char *origin, struct buf *out,
		size_t *ret_left_out, struct err *err);
bool kcidb_origin_is_valid(const char *origin); /* a-z, 0-9 and _ */
