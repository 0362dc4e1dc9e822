// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this host has the programs of a job, and what installs them.
#include "harness/base/fs.h"
#include "harness/job/job.h"

char *job_install_hint(const struct job *job)
{
	autobuf command = {}, note = {};

	for (size_t i = 0; job->packages && job->packages[i]; i++) {
		const char *package = job->packages[i], *slash = strchr(package, '/');

		buf_printf(&command, " %s", slash ? slash + 1 : package);
		if (slash)
			buf_printf(&note, ", %s is in Debian's component %.*s", slash + 1,
				   (int)(slash - package), package);
	}
	return command.len ? xasprintf("apt-get install%s%s", buf_str(&command), buf_str(&note))
			   : NULL;
}

int job_programs_here(const struct job *job, struct err *err)
{
	for (size_t i = 0; job->guest_programs && job->guest_programs[i]; i++) {
		const char *name = job->guest_programs[i];
		autofree char *path = fs_find_program(name), *hint = NULL;

		if (path || (*name == '/' && fs_exists(name)))
			continue;
		hint = job_install_hint(job);
		err_set(err, ERR_NOT_FOUND, "program '%s' is missing on this machine", name);
		err_hint(err, "%s", hint ? hint : "install it, or give its path");
		return -ERR_NOT_FOUND;
	}
	return 0;
}
