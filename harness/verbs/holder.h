// SPDX-License-Identifier: GPL-2.0-or-later
// Who works on a session now.
#pragma once

#include "db/store.h"

#include <stdbool.h>

/* Is the process that the row names still one of ours? A session left by a killed one is not held. */
bool session_is_held(const struct session_row *row);
