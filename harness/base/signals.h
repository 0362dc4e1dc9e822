// SPDX-License-Identifier: GPL-2.0-or-later
// SIGINT and SIGTERM: the first asks for a clean stop, the second ends at once.
#pragma once

#include "harness/base/err.h"

void signals_init(void);      /* once, by main; SIGPIPE is ignored */
int signals_fd(void);	      /* readable once a stop was asked for; for poll */
int signals_pending(void);    /* the signal number, or 0 */
int signals_check(struct err *err); /* 0, or ERR_INTERRUPTED */
