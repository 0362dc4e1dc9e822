// SPDX-License-Identifier: GPL-2.0-or-later
// The report for a terminal: at most 100 columns, everything foreign made harmless.
#pragma once

#include "reports/report.h"

void text_print(const struct report *r, struct buf *out);

/* What its files share. */
void text_run(const struct report *r, struct buf *out);	   /* text_run.c */
void text_bisect(const struct report *r, struct buf *out); /* text_bisect.c */
void text_sides(const struct report *r, struct buf *out);
void text_table(const struct report *r, struct buf *out);
void text_gmeans(const struct report *r, struct buf *out);	/* text_sides.c, as these two: */
void text_durations(const struct report *r, struct buf *out);	/* of one side against another */
void text_environment(const struct report *r, struct buf *out); /* only what differs */

void text_lkp(const struct report *r, struct buf *out);	    /* text_lkp.c: LKP's table */
void text_mmtests(const struct report *r, struct buf *out); /* text_mmtests.c: MMTests' table */

void text_safe(struct buf *out, const char *text, size_t max); /* one line, at most max bytes */
/* Five significant digits without an exponent where that can be read: "12.340", "1378335"; "-" for
 * NaN. */
const char *text_value(double v, char buf[32]);
const char *text_percent(double pct, char buf[32]); /* "+5.2%", "-0.04%"; "-" for NaN */
/* "+-0.4%" of the centre, "+-12" in units of one that is not positive, "" unknown */
const char *text_spread(const struct summary *s, char buf[32]);
/* A for the first column, B for the next; column 26 is AA. */
const char *text_letter(size_t side, char buf[8]);
const char *text_verdict(const struct report *r, const struct report_row *row); /* in words */
/* "[-25.0, -23.2]" in percent, or in units where values can be zero or negative. */
void text_interval(const struct comparison *c, struct buf *out);
/* Lines below a row: suspect, inconclusive or too few boots and what it would take, two modes. */
void text_remarks(const struct report *r, const struct report_row *row, struct buf *out);
void text_commit(struct buf *out, const struct commit_row *c,
		 size_t max); /* 12 digits ("subject") of max bytes */
#define TEXT_SUBJECT 60
/* The commands that measure it again, two comparisons and the search; repo "" where it is the
 * current directory's. */
void text_reproduce(const struct report *r, const char *repo, const char *job, struct buf *out);
void text_cost(const struct report *r, struct buf *out);
void text_metric(struct buf *out, const struct metric_row *m); /* "time, s (lower is better)" */
/* Is this the metric and cell that a bisection searched by? */
bool text_is_steering(const struct report *r, const struct report_row *row);
/* Has a table need of cells as rows, or is there only the one without a name? */
bool text_one_cell(const struct report *r);
