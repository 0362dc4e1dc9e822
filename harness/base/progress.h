// SPDX-License-Identifier: GPL-2.0-or-later
// One line that says what is going on: phase, commit n of m, elapsed, estimate.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * On a terminal the line is rewritten in place, at most ten times a second, and log_msg clears it
 * first; elsewhere a plain line appears when the text changes and at most every 30 s otherwise.
 */
void progress_enable(bool on);			      /* --no-progress, -q */
/* "4 of about 9", and an estimate of what is left; of = 0: not known. */
void progress_total(size_t done, size_t of, double left_s);
void progress_phase(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* what is waited for */
/* Where within the phase; only a terminal shows it, so that logs stay short. */
void progress_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_tick(void);  /* refreshes elapsed; called from waits */
void progress_clear(void); /* before printing something else */
