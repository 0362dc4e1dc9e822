// SPDX-License-Identifier: GPL-2.0-or-later
// Rank scan for a step in a series of one value per night.

/*
 * z = max over t of |R_t - t (m + 1) / 2| / sqrt(t (m - t) (m + 1) / 12), R_t the rank sum
 * of the first t of the last m nights. With the thresholds below, 100 quiet nights raise
 * about 0.01 alarms; no alarm can come before night 7 after a step in a full window, nor in
 * a series under 23 nights.
 */
#pragma once

#include <stddef.h>

#define CHANGE_WINDOW 60
#define CHANGE_MIN_SIDE 4
#define CHANGE_ALARM 4.0
#define CHANGE_WATCH 3.6

enum change_state {
	CHANGE_NONE,
	CHANGE_WATCHED,
	CHANGE_ALARMED,
};

struct change {
	enum change_state state;
	double z;		/* 0 where the series is too short to be scanned */
	size_t at;		/* index in the input of the first night after the step */
	size_t last_before;	/* index of the last night before it that has a value */
	size_t nights;		/* values in the window */
	double before, after;	/* median of the window's values on either side */
};

/*
 * values in commit order, NaN for a night without one: skipped, not filled. The window is
 * the last CHANGE_WINDOW nights that have a value. After a confirmed step, pass the part of
 * the series that begins with the step, so that one step alarms once.
 */
struct change change_scan(const double *values, size_t n);
