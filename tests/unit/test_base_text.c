// SPDX-License-Identifier: GPL-2.0-or-later
// util, buf, err, clock: strings, numbers with units, hostile text, how times are written.
#include "tests/tap.h"

#include "harness/base/buf.h"
#include "harness/base/clock.h"
#include "harness/base/err.h"

#include <errno.h>

static void test_numbers(void)
{
	static const char *const bad[] = {"",	 " 1",	"1 ",	 "1x", "0x10",
					  "nan", "inf", "1e999", "-",  "1,5"};
	static const char *const bad_u64[] = {"", "-1", "+1", "1.0", " 1", "18446744073709551616"};
	double d = 7;
	uint64_t u = 7;

	ok(str_to_double("-1.5e3", &d) && d == -1500, "a double");
	ok(str_to_double(".5", &d) && d == 0.5, "a double without leading zero");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ok(!str_to_double(bad[i], &d) && d == 0.5, "'%s' is no double", bad[i]);
	ok(str_to_u64("18446744073709551615", &u) && u == UINT64_MAX, "the largest u64");
	for (size_t i = 0; i < ARRAY_SIZE(bad_u64); i++)
		ok(!str_to_u64(bad_u64[i], &u) && u == UINT64_MAX, "'%s' is no u64", bad_u64[i]);
}

static void test_units(void)
{
	static const struct {
		const char *text;
		int64_t ns;
	} times[] = {{"90s", 90000000000},	{"10m", 600000000000}, {"4h", 14400000000000},
		     {"1.5d", 129600000000000}, {"200ms", 200000000},  {"0s", 0}};
	static const char *const bad_times[] = {"",    "10", "s",      "-1s",
						"1 s", "1y", "1e300s", "300000d"};
	static const char *const bad_bytes[] = {"", "K", "1Q", "-1K", "1kb", "99999999T"};
	int64_t ns = -1;
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		ok(str_to_duration_ns(times[i].text, &ns) && ns == times[i].ns, "%s",
		   times[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(bad_times); i++)
		ok(!str_to_duration_ns(bad_times[i], &ns), "'%s' is no time", bad_times[i]);
	ok(str_to_bytes("512M", &bytes) && bytes == 512 << 20, "512M");
	ok(str_to_bytes("1.5G", &bytes) && bytes == 3ULL << 29, "1.5G");
	ok(str_to_bytes("123", &bytes) && bytes == 123, "bytes without a unit");
	for (size_t i = 0; i < ARRAY_SIZE(bad_bytes); i++)
		ok(!str_to_bytes(bad_bytes[i], &bytes), "'%s' is no size", bad_bytes[i]);
}

static void test_strings(void)
{
	static const char *const names[] = {"metrics", "runner", "boots", "regression", "run"};
	autostrv char **v = NULL;
	autostrv char **copy = NULL;

	is_str(str_nearest("metrisc", names, ARRAY_SIZE(names)), "metrics", "two letters swapped");
	is_str(str_nearest("boot", names, ARRAY_SIZE(names)), "boots", "one letter short");
	is_str(str_nearest("zzz", names, ARRAY_SIZE(names)), NULL, "nothing is near");
	is_str(str_nearest("x", names, ARRAY_SIZE(names)), NULL, "a short word is near nothing");
	ok(streq(NULL, NULL) && !streq(NULL, "") && streq("a", "a") && !streq("a", "b"), "streq");
	ok(str_starts("abc", "ab") && !str_starts("a", "ab") && str_ends("x.c", ".c") &&
		   !str_ends("c", ".c"),
	   "prefix and suffix");
	strv_push(&v, "one");
	strv_pushf(&v, "%d", 2);
	copy = strv_dup((const char *const *)v);
	is_int(strv_len(v), 2, "two strings");
	ok(streq(copy[1], "2") && !copy[2] && copy[1] != v[1], "copied");
	is_int(strv_len(NULL), 0, "no array has no strings");
}

static void test_buf(void)
{
	autobuf b = {};
	autofree char *taken = NULL;
	autofree char *long_text = xasprintf("%500d", 1);

	is_str(buf_str(&b), "", "empty");
	buf_adds(&b, "ab\ncd");
	buf_pad(&b, 5, '.');
	is_str(buf_str(&b), "ab\ncd...", "padded since the last newline");
	buf_pad(&b, 2, '.');
	is_int(b.len, 8, "already past the column");
	buf_drop(&b, 3);
	is_str(buf_str(&b), "cd...", "front dropped");
	buf_clear(&b);
	buf_printf(&b, "%s", long_text);
	is_str(buf_str(&b), long_text, "printf beyond the first try");
	taken = buf_take(&b);
	ok(b.len == 0 && !b.data && strlen(taken) == 500, "taken");
	buf_add(&b, "a\0b", 3);
	ok(b.len == 3 && b.data[3] == '\0', "bytes with a NUL, and one behind");
	buf_clear(&b);
	for (int i = 0; i < 100000; i++)
		buf_addch(&b, 'x');
	is_int(strlen(buf_str(&b)), 100000, "many small ones");
}

static void is_safe(const char *text, size_t max, bool newlines, const char *want, const char *what)
{
	autobuf b = {};

	buf_add_safe(&b, text, strlen(text), max, newlines);
	is_str(buf_str(&b), want, "%s", what);
}

static void test_safe(void)
{
	static const char lines[] = "one\n\ntwo\n\nthree\nfour\n\n";
	autobuf b = {};

	is_safe("plain \xc3\xa9\tok", 99, false, "plain \xc3\xa9\tok", "UTF-8 and tabs stay");
	is_safe("\033[2J\a\x7f", 99, false, "?[2J??", "escapes do not");
	is_safe("a\nb", 99, false, "a b", "a newline in a line");
	is_safe("a\nb", 99, true, "a\nb", "a newline where lines are wanted");
	is_safe("\xe2\x80\xae"
		"gpj",
		99, false, "?gpj", "right-to-left override");
	is_safe("\xff\xc0\xaf\xed\xa0\x80", 99, false, "??????", "bytes, overlong, surrogate");
	is_safe("\xc2\x9b"
		"31m",
		99, false, "?31m", "8-bit control characters");
	is_safe("123456789", 9, false, "123456789", "just fits");
	is_safe("1234567890", 9, false, "123456...", "cut");
	is_safe("12345\xc3\xa9\xc3\xa9\xc3\xa9", 9, false, "12345...",
		"not cut within a character");
	is_safe("abcd", 2, false, "..", "no room for three dots");
	buf_add_utf8(&b, "a\xff\xc3\xa9", 4);
	is_str(buf_str(&b), "a\xef\xbf\xbd\xc3\xa9", "replaced by U+FFFD");
	buf_clear(&b);
	buf_add_last_lines(&b, lines, strlen(lines), 3);
	is_str(buf_str(&b), "two; three; four", "last lines without the empty ones");
	buf_clear(&b);
	buf_add_last_lines(&b, "\n\n", 2, 3);
	is_str(buf_str(&b), "", "none");
}

static void test_err(void)
{
	struct err err ERR_CLEANUP = {}, other ERR_CLEANUP = {};

	is_int(err_set(&err, ERR_USAGE, "key '%s': unknown", "x"), -ERR_USAGE,
	       "set returns the code");
	err_hint(&err, "did you mean '%s'?", "y");
	is_int(err_wrap(&err, "line %d", 12), -ERR_USAGE, "wrap keeps the code");
	is_str(err.message, "line 12: key 'x': unknown", "context in front");
	is_str(err.hint, "did you mean 'y'?", "the hint stays");
	err_phase(&err, "a phase name that is too long");
	is_str(err.phase, "a phase name th", "cut to its room");
	err_set(&err, ERR_IO, "again: %s", err.message);
	is_str(err.message, "again: line 12: key 'x': unknown", "the old message as argument");
	ok(!err.hint && !err.phase[0], "a new error has no old hint or phase");
	errno = ENOSPC;
	is_int(err_errno(&err, "cannot write '%s'", "f"), -ERR_DISK_FULL,
	       "no space has its own code");
	is_str(err.message, "cannot write 'f': No space left on device", "and message");
	errno = ENOENT;
	is_int(err_errno(&err, "cannot open"), -ERR_NOT_FOUND, "absent");
	errno = EACCES;
	is_int(err_errno(&err, "cannot open"), -ERR_IO, "refused");
	err_move(&other, &err);
	ok(!err.message && !err.code && other.code == ERR_IO, "moved");
	is_int(err_exit_code(ERR_USAGE), 129, "usage");
	is_int(err_exit_code(ERR_UNTESTABLE), 125, "untestable");
	is_int(err_exit_code(ERR_INFRA), 128, "lab");
	is_str(err_code_name(ERR_NOT_FOUND), "not-found", "name in JSON");
}

static void test_clock(void)
{
	static const struct {
		double s;
		const char *text;
	} times[] = {{0, "0.0ms"},     {0.0123, "12ms"}, {3.44, "3.4s"},  {42.3, "42s"},
		     {60, "1m"},       {59.97, "1m"},	 {192, "3m 12s"}, {15120, "4h 12m"},
		     {90000, "1d 1h"}, {3599.9, "1h"},	 {-1, "?"},	  {NAN, "?"}};
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		is_str(clock_format_duration(times[i].s, text), times[i].text, "%g s", times[i].s);
	is_str(clock_format_wall(1796074637, text), "2026-11-30 21:37:17", "wall clock in UTC");
	setenv("CULPRIT_NOW", "86400", 1);
	is_int(clock_wall_s(), 86400, "fixed by the environment");
	setenv("CULPRIT_NOW", "rubbish", 1);
	ok(clock_wall_s() > 1700000000, "rubbish fixes nothing");
	is_int(clock_deadline_ns(NO_DEADLINE), NO_DEADLINE, "no deadline stays none");
	is_int(clock_poll_timeout_ms(NO_DEADLINE), -1, "poll without an end");
	is_int(clock_poll_timeout_ms(clock_now_ns() - NS_PER_S), 0, "past is now");
	ok(clock_poll_timeout_ms(clock_deadline_ns(NS_PER_MS / 2)) <= 1, "rounded up");
	is_int(clock_poll_timeout_ms(NO_DEADLINE - 1), INT32_MAX, "far away does not overflow");
}

int main(void)
{
	test_numbers();
	test_units();
	test_strings();
	test_buf();
	test_safe();
	test_err();
	test_clock();
	return plan_done();
}
