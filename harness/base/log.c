// SPDX-License-Identifier: GPL-2.0-or-later
// Messages on stderr by level, all of them with the time in the log file.
#include "harness/base/log.h"

#include "harness/base/clock.h"
#include "harness/base/progress.h"
#include "harness/base/util.h"

#include <errno.h>
#include <fcntl.h>

static enum log_level shown = LOG_INFO;
static int log_fd = -1;

void log_set_level(enum log_level level)
{
	shown = level;
}

int log_open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	if (log_fd >= 0)
		close(log_fd);
	log_fd = fd;
	return 0;
}

bool log_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !streq(term, "dumb");
}

static void log_to_stderr(enum log_level level, const char *message)
{
	static const struct {
		const char *word, *colour;
	} levels[] = {
		[LOG_ERROR] = {"error: ", "\033[1;31m"},
		[LOG_WARN] = {"warning: ", "\033[1;33m"},
		[LOG_INFO] = {"", ""},
		[LOG_DEBUG] = {"", "\033[2m"},
	};
	bool colour = log_colour(STDERR_FILENO);

	progress_clear();
	fprintf(stderr, "%s%s%s%s\n", colour ? levels[level].colour : "", levels[level].word,
		message, colour ? "\033[0m" : "");
}

static void log_to_file(enum log_level level, const char *message)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	char when[32];
	autofree char *line = xasprintf("%s [%d] %s: %s\n", clock_format_wall(clock_wall_s(), when),
					(int)getpid(), names[level], message);

	/* One write, so that lines of several processes do not mix; a full disk must not stop us.
	 */
	if (write(log_fd, line, strlen(line)) < 0)
		return;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	autofree char *message = NULL;
	va_list ap;

	if (level > shown && log_fd < 0)
		return;
	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	if (level <= shown)
		log_to_stderr(level, message);
	if (log_fd >= 0)
		log_to_file(level, message);
	errno = saved;
}
