// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions and the processes that hold them.
#include "harness/verbs/holder.h"

#include "harness/base/fs.h"

/* A number may have been given to another program since. */
static bool is_culprit(int64_t pid)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = xasprintf("/proc/%lld/comm", (long long)pid);
	autobuf name = {};

	return pid > 1 && fs_exists(path) && fs_read(path, 64, &name, &err) == 0 &&
	       streq(buf_str(&name), "culprit\n");
}

bool session_is_held(const struct session_row *row)
{
	return streq(row->state, "running") && is_culprit(row->pid);
}
