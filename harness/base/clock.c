// SPDX-License-Identifier: GPL-2.0-or-later
// Monotonic and wall clock, deadlines, and how times are written.
#include "harness/base/clock.h"

#include "harness/base/util.h"

#include <limits.h>
#include <math.h>

int64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_wall_s(void)
{
	const char *fixed = getenv("CULPRIT_NOW");
	uint64_t seconds;

	if (fixed && str_to_u64(fixed, &seconds) && seconds <= INT64_MAX)
		return (int64_t)seconds;
	return time(NULL);
}

int64_t clock_deadline_ns(int64_t ns_from_now)
{
	int64_t deadline;

	if (__builtin_add_overflow(clock_now_ns(), ns_from_now, &deadline))
		return NO_DEADLINE;
	return deadline;
}

int clock_poll_timeout_ms(int64_t deadline_ns)
{
	int64_t left, ms;

	if (deadline_ns == NO_DEADLINE)
		return -1;
	left = deadline_ns - clock_now_ns();
	if (left <= 0)
		return 0;
	/* Rounded up: waking before the deadline would only spin. */
	ms = left / NS_PER_MS + (left % NS_PER_MS != 0);
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

const char *clock_format_wall(int64_t wall_s, char buf[32])
{
	time_t t = wall_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		snprintf(buf, 32, "?");
	return buf;
}

const char *clock_format_duration(double seconds, char buf[32])
{
	static const struct {
		const char *big, *small;
		int64_t seconds, small_seconds;
	} units[] = {{"d", "h", 86400, 3600}, {"h", "m", 3600, 60}, {"m", "s", 60, 1}};
	int64_t whole;

	if (!isfinite(seconds) || seconds < 0 || seconds > 1e12) {
		snprintf(buf, 32, "?");
	} else if (seconds < 0.9995) {
		snprintf(buf, 32, "%.*fms", seconds < 0.00995, seconds * 1e3);
	} else if (seconds < 59.95) {
		snprintf(buf, 32, "%.*fs", seconds < 9.95, seconds);
	} else {
		size_t i = 0;

		whole = llround(seconds);
		while (i + 1 < ARRAY_SIZE(units) && whole < units[i].seconds)
			i++;
		if (whole % units[i].seconds / units[i].small_seconds == 0)
			snprintf(buf, 32, "%lld%s", (long long)(whole / units[i].seconds),
				 units[i].big);
		else
			snprintf(buf, 32, "%lld%s %lld%s", (long long)(whole / units[i].seconds),
				 units[i].big,
				 (long long)(whole % units[i].seconds / units[i].small_seconds),
				 units[i].small);
	}
	return buf;
}
