// SPDX-License-Identifier: GPL-2.0-or-later
// The growing buffer, and hostile text made safe for terminals and logs.
#include "harness/base/buf.h"

char *buf_reserve(struct buf *b, size_t extra)
{
	size_t need;

	if (__builtin_add_overflow(b->len, extra, &need) || __builtin_add_overflow(need, 1, &need))
		need = SIZE_MAX; /* which xrealloc takes for out of memory */
	if (need > b->cap) {
		size_t cap = b->cap < SIZE_MAX / 2 ? MAX(need, MAX(b->cap * 2, (size_t)64)) : need;

		b->data = xrealloc(b->data, cap, 1);
		b->cap = cap;
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (len)
		memcpy(buf_reserve(b, len), data, len);
	else
		buf_reserve(b, 0);
	buf_truncate(b, b->len + len);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addch(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(buf_reserve(b, 63), 64, fmt, ap);
	if (len > 63)
		vsnprintf(buf_reserve(b, len), (size_t)len + 1, fmt, again);
	if (len > 0)
		b->len += len;
	va_end(again);
	va_end(ap);
}

void buf_pad(struct buf *b, size_t column, char c)
{
	const char *newline = b->len ? memrchr(b->data, '\n', b->len) : NULL;
	size_t have = newline ? b->len - (newline + 1 - b->data) : b->len;

	if (have < column) {
		memset(buf_reserve(b, column - have), c, column - have);
		buf_truncate(b, b->len + column - have);
	}
}

void buf_drop(struct buf *b, size_t n)
{
	n = MIN(n, b->len);
	if (n) {
		memmove(b->data, b->data + n, b->len - n);
		buf_truncate(b, b->len - n);
	}
}

void buf_truncate(struct buf *b, size_t len)
{
	b->len = len;
	if (b->data)
		b->data[len] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *s = b->data ? b->data : xstrdup("");

	*b = (struct buf){};
	return s;
}

void buf_clear(struct buf *b)
{
	buf_truncate(b, 0);
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf){};
}

/* Length of the valid UTF-8 character at s and its code point, or 0. */
static size_t utf8_char(const unsigned char *s, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80	     ? 1
		   : s[0] >> 5 == 6  ? 2
		   : s[0] >> 4 == 14 ? 3
		   : s[0] >> 3 == 30 ? 4
				     : 0;
	uint32_t c;

	if (n == 0 || n > len)
		return 0;
	c = n == 1 ? s[0] : s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)))
		return 0;
	*ret = c;
	return n;
}

void buf_add_utf8(struct buf *b, const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += MAX(n, (size_t)1)) {
		uint32_t c;

		n = utf8_char((const unsigned char *)text + i, len - i, &c);
		if (n)
			buf_add(b, text + i, n);
		else
			buf_adds(b, "\xef\xbf\xbd");
	}
}

/* Marks that reorder or hide the text around them. */
static bool is_deceiving(uint32_t c)
{
	return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0x61c || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

void buf_add_safe(struct buf *b, const char *text, size_t len, size_t max, bool keep_newlines)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t start = b->len, cut = b->len; /* cut: the last place where "..." still fits */

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c = 0;
		bool bad;

		n = utf8_char(s + i, len - i, &c);
		bad = n == 0 || (c < 0x20 && c != '\t' && !(c == '\n' && keep_newlines)) ||
		      (c >= 0x7f && c < 0xa0) || is_deceiving(c);
		n = MAX(n, (size_t)1);
		if (b->len - start + 3 <= max)
			cut = b->len;
		if (b->len - start + (bad ? 1 : n) > max) {
			buf_truncate(b, cut);
			buf_add(b, "...", MIN((size_t)3, max));
			return;
		}
		if (bad)
			buf_addch(b, c == '\n' || c == '\r' ? ' ' : '?');
		else
			buf_add(b, s + i, n);
	}
}

void buf_add_last_lines(struct buf *b, const char *text, size_t len, size_t lines)
{
	size_t start = len, found = 0;
	bool first = true;

	while (start > 0 && found < lines) {
		const char *newline = memrchr(text, '\n', start - 1);
		size_t line = newline ? (size_t)(newline + 1 - text) : 0;

		found += text[line] != '\n';
		start = line;
	}
	while (start < len) {
		const char *newline = memchr(text + start, '\n', len - start);
		size_t n = newline ? (size_t)(newline - text) - start : len - start;

		if (n) {
			buf_adds(b, first ? "" : "; ");
			buf_add_safe(b, text + start, n, 300, false);
			first = false;
		}
		start += n + 1;
	}
}
