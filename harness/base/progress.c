// SPDX-License-Identifier: GPL-2.0-or-later
// The progress line on stderr: rewritten in place on a terminal, plain lines elsewhere.
#include "harness/base/progress.h"

#include "harness/base/buf.h"
#include "harness/base/clock.h"

#include <sys/ioctl.h>

#define REDRAW_NS (100 * NS_PER_MS)
#define REPEAT_NS (30 * NS_PER_S)

/* There is one terminal line, so there is one of these. */
static struct {
	bool on, drawn, changed;
	size_t done, of;
	double left_s;
	char phase[200], detail[100];
	int64_t phase_start_ns, shown_ns;
} line;

static size_t terminal_columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
}

/* "[4 of about 9, 12m left] building 3f2a9c1d (34s)" */
static void compose(struct buf *b, size_t columns)
{
	char text[32];

	if (line.of)
		buf_printf(b, "[%zu of about %zu", line.done, line.of);
	else if (line.done)
		buf_printf(b, "[step %zu", line.done);
	if (b->len && line.left_s > 0)
		buf_printf(b, ", %s left", clock_format_duration(line.left_s, text));
	if (b->len)
		buf_adds(b, "] ");
	clock_format_duration((double)((clock_now_ns() - line.phase_start_ns) / NS_PER_S), text);
	buf_add_safe(b, line.phase, strlen(line.phase), MAX(columns, b->len + 20) - b->len - 12,
		     false);
	if (line.detail[0] && isatty(STDERR_FILENO) && b->len + strlen(line.detail) + 14 < columns)
		buf_printf(b, ": %s", line.detail);
	buf_printf(b, " (%s)", streq(text, "0.0ms") ? "0s" : text);
}

static void show(void)
{
	autobuf b = {};

	line.shown_ns = clock_now_ns();
	line.changed = false;
	if (isatty(STDERR_FILENO)) {
		compose(&b, terminal_columns());
		fprintf(stderr, "\r%s\033[K", buf_str(&b));
		line.drawn = true;
	} else {
		compose(&b, sizeof(line.phase));
		fprintf(stderr, "%s\n", buf_str(&b));
	}
}

void progress_enable(bool on)
{
	if (!on)
		progress_clear();
	line.on = on;
}

void progress_total(size_t done, size_t of, double left_s)
{
	line.changed |= done != line.done || of != line.of;
	line.done = done;
	line.of = of;
	line.left_s = left_s;
}

void progress_phase(const char *fmt, ...)
{
	char text[sizeof(line.phase)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!streq(text, line.phase)) {
		memcpy(line.phase, text, sizeof(text));
		line.phase_start_ns = clock_now_ns();
		line.changed = true;
		line.detail[0] = '\0';
	}
	progress_tick();
}

void progress_detail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line.detail, sizeof(line.detail), fmt, ap);
	va_end(ap);
	progress_tick();
}

void progress_tick(void)
{
	int64_t since = clock_now_ns() - line.shown_ns;

	if (!line.on || !line.phase[0])
		return;
	if (isatty(STDERR_FILENO) ? since >= REDRAW_NS : line.changed || since >= REPEAT_NS)
		show();
}

void progress_clear(void)
{
	if (line.drawn)
		fputs("\r\033[K", stderr);
	line.drawn = false;
}
