// SPDX-License-Identifier: GPL-2.0-or-later
// Escapes stripped, JSON documents found between other text, in bounded time.
#include "harness/measure/output.h"

enum { ESC = 0x1b, BEL = 7 };
#define JSON_BYTES_MAX (16UL << 20)

static size_t skip_range(const char *s, size_t i, size_t len, char low, char high)
{
	while (i < len && s[i] >= low && s[i] <= high)
		i++;
	return i;
}

/* ESC ] ... BEL, ESC P ... ESC \: up to their end, and never over the end of the line. */
static size_t skip_string(const char *s, size_t i, size_t len)
{
	while (i < len && s[i] != '\n' && s[i] != '\r' && s[i] != BEL) {
		if (s[i] == ESC)
			return i + 1 < len && s[i + 1] == '\\' ? i + 2 : i;
		i++;
	}
	return i < len && s[i] == BEL ? i + 1 : i;
}

/* The place behind the escape sequence at i (ECMA-48); a broken one ends where it stops making
 * sense. */
static size_t skip_escape(const char *s, size_t i, size_t len)
{
	i++;
	if (i < len && s[i] == '[') {
		i = skip_range(s, i + 1, len, 0x30, 0x3f);
		i = skip_range(s, i, len, 0x20, 0x2f);
		return i < len && s[i] >= 0x40 && s[i] <= 0x7e ? i + 1 : i;
	}
	if (i < len && s[i] && strchr("]PX^_", s[i]))
		return skip_string(s, i + 1, len);
	i = skip_range(s, i, len, 0x20, 0x2f);
	return i < len && s[i] >= 0x30 && s[i] <= 0x7e ? i + 1 : i;
}

void output_clean(const char *text, size_t len, struct buf *out)
{
	char *to = buf_reserve(out, len), *start = to;
	size_t i = 0;

	while (i < len) {
		if (text[i] == ESC) {
			i = skip_escape(text, i, len);
		} else if (text[i] == '\r') {
			*to++ = '\n';
			i += 1 + (i + 1 < len && text[i + 1] == '\n');
		} else {
			*to++ = text[i++];
		}
	}
	buf_truncate(out, out->len + (to - start));
}

/* Length of the bracketed text at s, strings skipped; 0 where it does not end. */
static size_t document_length(const char *s, size_t len)
{
	size_t depth = 0;
	bool string = false;

	for (size_t i = 0; i < len; i++) {
		if (string) {
			if (s[i] == '\\')
				i++;
			else if (s[i] == '"')
				string = false;
		} else if (s[i] == '"') {
			string = true;
		} else if (s[i] == '{' || s[i] == '[') {
			depth++;
		} else if ((s[i] == '}' || s[i] == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

static void set_why(struct json_docs *docs, const char *why)
{
	if (!docs->why)
		docs->why = xstrdup(why);
}

static bool read_document(const char *text, size_t len, struct json_docs *docs)
{
	ERR_CLEANUP struct err err = {};
	autobuf clean = {};

	buf_add_utf8(&clean, text, len);
	if (json_parse(buf_str(&clean), clean.len, &docs->at[docs->n], &err) < 0) {
		set_why(docs, err.message);
		return false;
	}
	docs->n++;
	return true;
}

static size_t next_line(const char *text, size_t len, size_t i)
{
	const char *newline = i < len ? memchr(text + i, '\n', len - i) : NULL;

	return newline ? (size_t)(newline - text) + 1 : len;
}

/* A text full of open brackets would be looked through again for each of them: `left` bounds that.
 */
void json_docs_read(const char *text, size_t len, struct json_docs *ret)
{
	size_t left = JSON_BYTES_MAX, i = 0;

	*ret = (struct json_docs){};
	while (i < len && ret->n < ARRAY_SIZE(ret->at)) {
		size_t start = i, n;

		while (start < len && (text[start] == ' ' || text[start] == '\t'))
			start++;
		if (start == len || (text[start] != '{' && text[start] != '[')) {
			i = next_line(text, len, start);
			continue;
		}
		n = document_length(text + start, MIN(len - start, left));
		left -= n ? n : MIN(len - start, left);
		if (!n)
			set_why(ret, left ? "a JSON document that does not end"
					  : "JSON of more than 16 MiB");
		if (!left)
			break;
		i = n && read_document(text + start, n, ret) ? start + n
							     : next_line(text, len, start);
	}
}

void json_docs_release(struct json_docs *docs)
{
	for (size_t i = 0; i < docs->n; i++)
		json_free(docs->at[i]);
	free(docs->why);
	*docs = (struct json_docs){};
}
