// SPDX-License-Identifier: GPL-2.0-or-later
// TAP for unit tests: one line a check, what was got and wanted where it fails, the plan at the
// end.
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *	int main(void)
 *	{
 *		is_int(add(1, 2), 3, "one and two");
 *		return plan_done();
 *	}
 */
static int tap_tests, tap_failures;

static inline __attribute__((format(printf, 2, 0))) bool tap_line(bool good, const char *fmt,
								  va_list ap)
{
	printf("%s %d - ", good ? "ok" : "not ok", ++tap_tests);
	vprintf(fmt, ap);
	printf("\n");
	tap_failures += !good;
	fflush(stdout);
	return good;
}

/* A line of explanation under a failed check; newlines in it stay comments. */
static inline __attribute__((format(printf, 1, 2))) void diag(const char *fmt, ...)
{
	char text[1 << 16];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("# ");
	for (const char *s = text; *s; s++)
		printf(*s == '\n' && s[1] ? "\n# " : "%c", *s);
	printf("\n");
}

static inline __attribute__((format(printf, 2, 3))) bool ok(bool cond, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_line(cond, fmt, ap);
	va_end(ap);
	return cond;
}

static inline __attribute__((format(printf, 3, 4))) bool is_int(int64_t got, int64_t want,
								const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!tap_line(got == want, fmt, ap))
		diag("got %lld, want %lld", (long long)got, (long long)want);
	va_end(ap);
	return got == want;
}

/* Equal within rel_tol of the wanted value (absolutely where that is 0); NaN equals NaN. */
static inline __attribute__((format(printf, 4, 5))) bool
is_double(double got, double want, double rel_tol, const char *fmt, ...)
{
	double room = want == 0 ? rel_tol : rel_tol * fabs(want);
	bool good = isnan(want) ? isnan(got) : got == want || fabs(got - want) <= room;
	va_list ap;

	va_start(ap, fmt);
	if (!tap_line(good, fmt, ap))
		diag("got %.17g, want %.17g within %g", got, want, room);
	va_end(ap);
	return good;
}

static inline __attribute__((format(printf, 3, 4))) bool is_str(const char *got, const char *want,
								const char *fmt, ...)
{
	bool good = got && want ? strcmp(got, want) == 0 : got == want;
	va_list ap;

	va_start(ap, fmt);
	if (!tap_line(good, fmt, ap))
		diag("got  '%s'\nwant '%s'", got ? got : "(null)", want ? want : "(null)");
	va_end(ap);
	return good;
}

static inline __attribute__((format(printf, 4, 5))) bool is_mem(const void *got, const void *want,
								size_t len, const char *fmt, ...)
{
	const unsigned char *a = got, *b = want;
	size_t at = 0;
	va_list ap;

	while (at < len && a[at] == b[at])
		at++;
	va_start(ap, fmt);
	if (!tap_line(at == len, fmt, ap))
		diag("byte %zu of %zu: got 0x%02x, want 0x%02x", at, len, a[at], b[at]);
	va_end(ap);
	return at == len;
}

/* One check that this machine cannot do. */
static inline void skip(const char *why)
{
	printf("ok %d # SKIP %s\n", ++tap_tests, why);
}

/* Prints the plan; main returns it. */
static inline int plan_done(void)
{
	printf("1..%d\n", tap_tests);
	return tap_failures ? 1 : 0;
}
