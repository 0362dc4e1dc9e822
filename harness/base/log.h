// SPDX-License-Identifier: GPL-2.0-or-later
// Messages for people on stderr, and the same with more detail in the state's log file.
#pragma once

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);     /* -q: ERROR, default INFO, -v: DEBUG */
int log_open_file(const char *path);	      /* everything also goes there; -errno if it cannot */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_msg(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)
bool log_colour(int fd); /* a terminal, and NO_COLOR unset */
