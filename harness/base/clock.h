// SPDX-License-Identifier: GPL-2.0-or-later
// Time: the monotonic clock for durations and deadlines, the wall clock for what people read.
#pragma once

#include <stdint.h>

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NO_DEADLINE INT64_MAX

int64_t clock_now_ns(void);  /* CLOCK_MONOTONIC; steps of the wall clock do not touch it */
int64_t clock_wall_s(void);  /* seconds since 1970; CULPRIT_NOW=SECONDS fixes it in tests */
/* now + ns, saturating; a deadline is an absolute monotonic time. */
int64_t clock_deadline_ns(int64_t ns_from_now);
int clock_poll_timeout_ms(int64_t deadline_ns); /* for poll(2): -1 without deadline, never negative else */
/* "2026-11-30 21:37:17" in UTC and "4h 12m", "3.4s", "12ms". Returned in buf, which is returned. */
const char *clock_format_wall(int64_t wall_s, char buf[32]);
const char *clock_format_duration(double seconds, char buf[32]);
