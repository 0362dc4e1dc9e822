// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a kernel's console, for messages; results never come from it.
#include "runners/client.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { TAIL_BYTES = 16384, TROUBLE_LINES = 8, LAST_LINES = 8, LINE_BYTES = 160 };

char *boot_console_tail(const struct boot *boot, size_t max_bytes)
{
	autoclose int fd = boot->console_log ? open(boot->console_log, O_RDONLY | O_CLOEXEC) : -1;
	autobuf raw = {}, safe = {};
	struct stat st;
	const char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return xstrdup("");
	n = pread(fd, buf_reserve(&raw, max_bytes), max_bytes,
		  MAX(st.st_size - (off_t)max_bytes, 0));
	buf_truncate(&raw, MAX(n, 0));
	text = raw.data;
	if (st.st_size > (off_t)max_bytes && memchr(text, '\n', raw.len))
		text = (char *)memchr(text, '\n', raw.len) + 1; /* not from the middle of a line */
	buf_add_safe(&safe, text, raw.data + raw.len - text, SIZE_MAX, true);
	return buf_take(&safe);
}

/* A line without the blanks around it; a carriage return has become one. */
static char *bare_line(char *line)
{
	size_t len = strlen(line);

	while (len > 0 && line[len - 1] == ' ')
		line[--len] = '\0';
	return line + strspn(line, " ");
}

static bool is_trouble(const char *line)
{
	static const char *const words[] = {"BUG: ", "Oops: ", "general protection fault",
					    "INFO: task ", "Kernel panic"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

/* From the first line of a trouble, which names the cause, and the panic that came of it; where
 * there is none, the last lines. */
void console_excerpt(const char *text, struct buf *out)
{
	autofree char *copy = xstrdup(text);
	VEC(const char *) lines = {};
	size_t first, end;

	for (char *at = copy, *line; (line = strsep(&at, "\n"));)
		if (*(line = bare_line(line)))
			VEC_PUSH(&lines, line);
	for (first = 0; first < lines.n && !is_trouble(lines.at[first]);)
		first++;
	if (first == lines.n)
		first = lines.n > LAST_LINES ? lines.n - LAST_LINES : 0;
	end = MIN(first + TROUBLE_LINES, lines.n);
	for (size_t i = first; i < lines.n; i++)
		if (i < end || strstr(lines.at[i], "Kernel panic")) {
			buf_adds(out, "\n  ");
			buf_add_safe(out, lines.at[i], strlen(lines.at[i]), LINE_BYTES, false);
		}
	VEC_FREE(&lines);
}

void boot_add_console(const struct boot *boot, struct err *err)
{
	autofree char *tail = boot_console_tail(boot, TAIL_BYTES);
	autobuf lines = {};
	char *message;

	console_excerpt(tail, &lines);
	if (lines.len == 0)
		return;
	message = xasprintf("%s; on the console:%s", err->message, buf_str(&lines));
	free(err->message);
	err->message = message;
}
