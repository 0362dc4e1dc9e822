// SPDX-License-Identifier: GPL-2.0-or-later
// Allocation that ends the process in one place, string arrays, numbers with units.
#include "harness/base/util.h"

#include <errno.h>
#include <locale.h>
#include <math.h>

static _Noreturn void alloc_failed(void)
{
	static const char msg[] = "culprit: out of memory\n";

	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(127);
	_exit(128);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		alloc_failed();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		alloc_failed();
	return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		alloc_failed();
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		alloc_failed();
	return p;
}

char *xstrdup(const char *s)
{
	return s ? xstrndup(s, strlen(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		alloc_failed();
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

bool streq(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), end = strlen(suffix);

	return len >= end && memcmp(s + len - end, suffix, end) == 0;
}

size_t strv_len(char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char **strv_dup(const char *const *v)
{
	char **copy = xcalloc(1, sizeof(*copy));

	for (size_t i = 0; v && v[i]; i++)
		strv_push(&copy, v[i]);
	return copy;
}

static void strv_push_owned(char ***v, char *s)
{
	size_t n = strv_len(*v);

	*v = xrealloc(*v, n + 2, sizeof(**v));
	(*v)[n] = s;
	(*v)[n + 1] = NULL;
}

void strv_push(char ***v, const char *s)
{
	strv_push_owned(v, xstrdup(s));
}

void strv_pushf(char ***v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_push_owned(v, xvasprintf(fmt, ap));
	va_end(ap);
}

void strv_free(char **v)
{
	for (size_t i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

/* Optimal string alignment: insert, delete, replace, and two letters swapped cost one each. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 64 };
	size_t na = strlen(a), nb = strlen(b);
	size_t rows[3][LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] =
				MIN(up[j - 1] + (a[i - 1] != b[j - 1]), MIN(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], up2[j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

const char *str_nearest(const char *word, const char *const *names, size_t n)
{
	size_t best = MAX(strlen(word) / 3, (size_t)1) + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = edit_distance(word, names[i]);

		/* A name with nothing in common is not meant, however short it is. */
		if (d < best && d < strlen(names[i])) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

/* strtod in the C locale whatever the process has; stops at the first character it cannot use. */
static bool parse_double(const char *s, double *ret, const char **end)
{
	static locale_t c_locale;
	char *stop;
	double v;

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", NULL);
	if (!c_locale)
		alloc_failed();
	/* Neither spaces, nor "nan" and "inf", nor hexadecimal. */
	if ((*s != '-' && *s != '+' && *s != '.' && (*s < '0' || *s > '9')) || strpbrk(s, "xX"))
		return false;
	errno = 0;
	v = strtod_l(s, &stop, c_locale);
	if (stop == s || (errno == ERANGE && fabs(v) == HUGE_VAL) || !isfinite(v))
		return false;
	*ret = v;
	*end = stop;
	return true;
}

bool str_to_double(const char *s, double *ret)
{
	const char *end;
	double v;

	if (!parse_double(s, &v, &end) || *end)
		return false;
	*ret = v;
	return true;
}

bool str_to_u64(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *s - '0', &v))
			return false;
	}
	*ret = v;
	return true;
}

struct unit {
	const char *name;
	double factor;
};

/* A number that is not negative, directly followed by one of the units. */
static bool parse_with_unit(const char *s, const struct unit *units, size_t n, double *ret)
{
	const char *end;
	double v;

	if (!parse_double(s, &v, &end) || v < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (streq(end, units[i].name)) {
			*ret = v * units[i].factor;
			return true;
		}
	}
	return false;
}

bool str_to_duration_ns(const char *s, int64_t *ret_ns)
{
	static const struct unit units[] = {
		{"ns", 1},   {"us", 1e3},   {"ms", 1e6},   {"s", 1e9},
		{"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9},
	};
	double ns;

	if (!parse_with_unit(s, units, ARRAY_SIZE(units), &ns) || ns >= 0x1p63)
		return false;
	*ret_ns = (int64_t)ns;
	return true;
}

bool str_to_bytes(const char *s, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},       {"B", 1},	{"K", 0x1p10},	 {"M", 0x1p20},	  {"G", 0x1p30},
		{"T", 0x1p40}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
	};
	double bytes;

	if (!parse_with_unit(s, units, ARRAY_SIZE(units), &bytes) || bytes >= 0x1p64)
		return false;
	*ret_bytes = (uint64_t)bytes;
	return true;
}
