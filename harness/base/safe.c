// SPDX-License-Identifier: GPL-2.0-or-later
// Escapes for HTML, gnuplot, file names and mail headers.
#include "harness/base/safe.h"

#define LINE_MAX_COLUMNS 76
#define WORD_MAX	 75 /* of an encoded word, by RFC 2047 */
#define ADDRESS_MAX	 254

static void clean(struct buf *out, const char *text, size_t max)
{
	text = text ? text : "";
	buf_add_safe(out, text, strlen(text), max, false);
}

void safe_html(struct buf *out, const char *text, size_t max)
{
	autobuf line = {};

	clean(&line, text, max);
	for (const char *s = buf_str(&line); *s; s++) {
		switch (*s) {
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addch(out, *s);
		}
	}
}

void safe_gnuplot(struct buf *out, const char *text, size_t max)
{
	autobuf line = {};

	clean(&line, text, max);
	buf_addch(out, '\'');
	for (const char *s = buf_str(&line); *s; s++) {
		if (*s == '`') /* runs a command where somebody makes it double-quoted */
			buf_addch(out, '?');
		else if (*s == '\\') /* would escape in `enhanced` text */
			buf_addch(out, '/');
		else
			buf_adds(out, *s == '\'' ? "''" : (const char[]){*s, 0});
	}
	buf_addch(out, '\'');
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void safe_filename(struct buf *out, const char *text, size_t max)
{
	size_t start = out->len;

	for (const char *s = text ? text : ""; *s && out->len - start < max; s++) {
		bool plain = is_word_char(*s) || *s == '_' ||
			     (out->len > start && (*s == '.' || *s == '-'));

		if (plain)
			buf_addch(out, *s);
		else if (out->len > start && out->data[out->len - 1] != '-')
			buf_addch(out, '-');
	}
	while (out->len > start && out->data[out->len - 1] == '-')
		buf_truncate(out, out->len - 1);
	if (out->len == start)
		buf_addch(out, '_');
}

/* --- headers --- */

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static size_t column(const struct buf *out)
{
	const char *newline = out->len ? memrchr(out->data, '\n', out->len) : NULL;

	return newline ? (size_t)(out->data + out->len - newline - 1) : out->len;
}

/* Words by their spaces; a space starts the next line where the word would not fit. */
static void add_folded(struct buf *out, const char *text)
{
	while (*text) {
		size_t space = strspn(text, " "), word = strcspn(text + space, " ");

		if (space && word && column(out) + space + word > LINE_MAX_COLUMNS)
			buf_adds(out, "\n");
		/* a line of nothing but spaces would end the headers for some readers */
		buf_add(out, text, word ? space + word : 0);
		text += space + word;
	}
}

static size_t char_len(const char *s)
{
	size_t n = 1;

	while (((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* One character in the Q encoding. */
static void add_q(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ' ')
			buf_addch(out, '_');
		else if (is_word_char(s[i]))
			buf_addch(out, s[i]);
		else
			buf_printf(out, "=%02X", (unsigned char)s[i]);
	}
}

/* Encoded words that never split a character, one a line. */
static void add_encoded(struct buf *out, const char *text)
{
	static const char head[] = "=?UTF-8?Q?", tail[] = "?=";
	size_t room = WORD_MAX - strlen(tail);
	autobuf word = {};

	if (column(out) > LINE_MAX_COLUMNS / 2)
		buf_adds(out, "\n ");
	else
		room -= column(out);
	buf_adds(&word, head);
	while (*text) {
		size_t n = char_len(text);
		autobuf next = {};

		add_q(&next, text, n);
		if (word.len + next.len > room) {
			buf_printf(out, "%s%s\n ", buf_str(&word), tail);
			buf_clear(&word);
			buf_adds(&word, head);
			room = WORD_MAX - strlen(tail);
		}
		buf_add(&word, next.data, next.len);
		text += n;
	}
	buf_printf(out, "%s%s", buf_str(&word), tail);
}

/* A value or name on one line, its tabs blanks. */
static void clean_header(struct buf *out, const char *text, size_t max)
{
	clean(out, text, max);
	for (char *tab = out->data; tab && (tab = strchr(tab, '\t'));)
		*tab = ' ';
}

/* Can it stand as it is? What looks like an encoded word would be decoded. */
static bool is_literal(const char *text)
{
	return is_ascii(text) && !strstr(text, "=?");
}

void safe_header(struct buf *out, const char *name, const char *value, size_t max)
{
	autobuf line = {};

	clean_header(&line, value, max);
	buf_printf(out, "%s: ", name);
	if (is_literal(buf_str(&line)))
		add_folded(out, buf_str(&line));
	else
		add_encoded(out, buf_str(&line));
	buf_addch(out, '\n');
}

/* --- addresses --- */

bool address_is_valid(const char *address)
{
	static const char local[] = "!#$%&'*+-/=?^_{|}~.";
	const char *at = strchr(address, '@'), *s = address;

	if (!at || at == address || *address == '-' || *address == '.' ||
	    strlen(address) > ADDRESS_MAX)
		return false;
	for (; s < at; s++)
		if (!is_word_char(*s) && !strchr(local, *s))
			return false;
	if (!is_word_char(at[1]) || str_ends(address, ".") || strstr(address, ".."))
		return false;
	for (s = at + 1; *s; s++)
		if (!is_word_char(*s) && *s != '.' && *s != '-')
			return false;
	return true;
}

static void add_quoted(struct buf *out, const char *name)
{
	buf_addch(out, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			buf_addch(out, '\\');
		buf_addch(out, *name);
	}
	buf_addch(out, '"');
}

bool safe_address(struct buf *out, const char *name, const char *address)
{
	autobuf line = {};
	const char *s;
	bool plain = true;

	if (!address_is_valid(address))
		return false;
	clean_header(&line, name, 100);
	for (s = buf_str(&line); *s; s++)
		plain = plain && (is_word_char(*s) || *s == ' ' || *s == '-' || *s == '\'');
	if (!line.len) {
		buf_adds(out, address);
		return true;
	}
	if (plain)
		buf_adds(out, buf_str(&line));
	else if (is_literal(buf_str(&line)))
		add_quoted(out, buf_str(&line));
	else
		add_encoded(out, buf_str(&line));
	buf_printf(out, "%s<%s>", column(out) + strlen(address) > LINE_MAX_COLUMNS ? "\n " : " ",
		   address);
	return true;
}

bool address_split(const char *text, char **ret_name, char **ret_address)
{
	const char *open = strrchr(text, '<'), *close = open ? strchr(open, '>') : NULL;
	autofree char *address = NULL;
	bool quoted;
	size_t n;

	if (open && (!close || close[1 + strspn(close + 1, " \t")] != '\0'))
		return false;
	text += strspn(text, " \t");
	address = open ? xstrndup(open + 1, close - open - 1) : xstrdup(text);
	n = open ? (size_t)(open - text) : 0;
	if (!address_is_valid(address))
		return false;
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	quoted = n > 1 && text[0] == '"' && text[n - 1] == '"';
	if (quoted) {
		text++;
		n -= 2;
	}
	/* what else it holds might be read as a second address, or a header */
	for (size_t i = 0; i < n; i++)
		if (strchr(quoted ? "<>\"" : "<>\",;:@", text[i]))
			return false;
	*ret_name = xstrndup(text, n);
	*ret_address = take_ptr(&address);
	return true;
}
