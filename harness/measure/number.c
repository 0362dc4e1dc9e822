// SPDX-License-Identifier: GPL-2.0-or-later
// A strict number grammar, and the look at both sides of a captured number.
#include "harness/measure/number.h"

#include "harness/base/buf.h"

#include <ctype.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && is_digit(s[n]))
		n++;
	return n;
}

/* Length of "e+06" at s, or 0. */
static size_t exponent(const char *s, size_t len)
{
	size_t sign = len > 1 && (s[1] == '+' || s[1] == '-'), n;

	if (!len || (*s != 'e' && *s != 'E'))
		return 0;
	n = digits(s + 1 + sign, len - 1 - sign);
	return n ? 1 + sign + n : 0;
}

/* Length of the number at s; 0 where none begins. "12." is 2 long: the point belongs to nothing. */
static size_t number_length(const char *s, size_t len)
{
	size_t sign = len && (*s == '-' || *s == '+');
	size_t whole = digits(s + sign, len - sign), n = sign + whole, fraction;

	if (n < len && s[n] == '.') {
		fraction = digits(s + n + 1, len - n - 1);
		if (fraction)
			n += 1 + fraction;
		whole += fraction;
	}
	return whole ? n + exponent(s + n, len - n) : 0;
}

/* Length of what some writers put between the digits of one number, or 0. */
static size_t separator(const char *s, size_t len)
{
	static const char *const marks[] = {",", "'", "_", "\xc2\xa0", "\xe2\x80\xaf"};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t n = strlen(marks[i]);

		if (len >= n && memcmp(s, marks[i], n) == 0)
			return n;
	}
	return 0;
}

static bool goes_on_after_separator(const char *s, size_t len)
{
	size_t n = separator(s, len);

	return n && n < len && is_digit(s[n]);
}

static bool is_no_number_word(const char *s, size_t len)
{
	size_t sign = len && (*s == '-' || *s == '+');

	return len - sign >= 3 &&
	       (strncasecmp(s + sign, "nan", 3) == 0 || strncasecmp(s + sign, "inf", 3) == 0);
}

static bool refuse(const char *s, size_t len, const char *why, char **ret_why)
{
	autobuf text = {};

	buf_addch(&text, '\'');
	buf_add_safe(&text, s, len, 60, false);
	buf_printf(&text, "' %s", why);
	*ret_why = buf_take(&text);
	return false;
}

bool number_read(const char *s, size_t len, double *ret, char **ret_why)
{
	autofree char *text = NULL;
	size_t n;

	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	n = number_length(s, len);
	if (!len)
		return refuse(s, len, "is empty, not a number", ret_why);
	if (is_no_number_word(s, len))
		return refuse(s, len, "is not a finite number", ret_why);
	if (!n)
		return refuse(s, len, "is not a number", ret_why);
	if (goes_on_after_separator(s + n, len - n))
		return refuse(s, len, "has a separator of thousands or a locale's comma", ret_why);
	if (n < len)
		return refuse(s, len, "is not one whole number, it ends in something else",
			      ret_why);
	text = xstrndup(s, n);
	if (!str_to_double(text, ret))
		return refuse(s, len, "is too large for a number", ret_why);
	return true;
}

static bool is_number_byte(char c)
{
	return is_digit(c) || (c && strchr(".,'_\xc2\xa0\xe2\x80\xaf", c));
}

/* Refuses the captured bytes with all that belongs to the number on both sides. */
static bool refuse_whole(struct capture c, const char *why, char **ret_why)
{
	size_t most = 20;

	while (c.start && c.end - c.start < most && is_number_byte(c.text[c.start - 1]))
		c.start--;
	while (c.end < c.len && c.end - c.start < most && is_number_byte(c.text[c.end]))
		c.end++;
	return refuse(c.text + c.start, c.end - c.start, why, ret_why);
}

/* Whether a digit and a separator stand directly before. */
static bool began_before_separator(const struct capture *c)
{
	for (size_t n = 1; n <= 3 && n < c->start; n++)
		if (separator(c->text + c->start - n, n) == n)
			return is_digit(c->text[c->start - n - 1]);
	return false;
}

/* Whether the number is longer than what was captured. */
static bool is_cut(const struct capture *c)
{
	const char *after = c->text + c->end;
	size_t left = c->len - c->end;
	bool digit_before = c->start && is_digit(c->text[c->start - 1]);
	bool point_before =
		c->start > 1 && c->text[c->start - 1] == '.' && is_digit(c->text[c->start - 2]);

	if (c->free_start && (digit_before || point_before))
		return true;
	return c->free_end &&
	       (digits(after, left) || (left > 1 && *after == '.' && is_digit(after[1])));
}

static bool has_sign_before(const struct capture *c)
{
	return c->free_start && c->start && c->text[c->start - 1] == '-' &&
	       is_digit(c->text[c->start]) &&
	       (c->start == 1 || !isalnum((unsigned char)c->text[c->start - 2]));
}

bool number_capture(const struct capture *c, double *ret, char **ret_why)
{
	struct capture whole = *c;
	size_t length = c->end - c->start;

	if (!length || number_length(c->text + c->start, length) != length)
		return number_read(c->text + c->start, length, ret, ret_why);
	if (!c->knows_commas && (began_before_separator(c) ||
				 goes_on_after_separator(c->text + c->end, c->len - c->end)))
		return refuse_whole(*c, "has a separator of thousands or a locale's comma",
				    ret_why);
	if (is_cut(c))
		return refuse(c->text + c->start, length,
			      "is only a part of the number that is printed there", ret_why);
	whole.start -= has_sign_before(c);
	if (c->free_end && !memchr(c->text + c->start, 'e', length) &&
	    !memchr(c->text + c->start, 'E', length))
		whole.end += exponent(c->text + c->end, c->len - c->end);
	return number_read(c->text + whole.start, whole.end - whole.start, ret, ret_why);
}
