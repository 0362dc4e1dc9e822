// SPDX-License-Identifier: GPL-2.0-or-later
// The table of runners, and where the agent lies.
#include "runners/runner.h"

#ifndef CULPRIT_LIBEXECDIR
#define CULPRIT_LIBEXECDIR "/usr/local/libexec/culprit"
#endif

static const struct runner_ops *const runners[] = {
	[RUNNER_LOCAL] = &runner_local,
	[RUNNER_QEMU] = &runner_qemu,
};

const struct runner_ops *runner_for(const struct job *job)
{
	return (size_t)job->runner < ARRAY_SIZE(runners) ? runners[job->runner] : NULL;
}

size_t runner_parallel_boots(const struct runner_ops *runner, const struct job *job)
{
	int n = runner->parallel_boots ? runner->parallel_boots(job) : 1;

	return n > 1 ? (size_t)n : 1;
}

/* The directory that our own binary lies in; owned. */
static char *binary_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[MAX(n, 0)] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return xstrdup(path);
}

static bool take_if_there(char *path, char **ret)
{
	if (access(path, X_OK) < 0) {
		free(path);
		return false;
	}
	*ret = path;
	return true;
}

static int no_agent(const char *where, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "there is no culprit-agent at '%s'", where);
	err_hint(err, "run 'make', or set CULPRIT_AGENT to its path");
	return -ERR_NOT_FOUND;
}

int agent_path(char **ret, struct err *err)
{
	/* The build tree; its tests, one directory below; an installation, wherever it is. */
	static const char *const beside[] = {"culprit-agent", "../culprit-agent",
					     "../libexec/culprit/culprit-agent"};
	const char *given = getenv("CULPRIT_AGENT");
	autofree char *dir = binary_dir();

	if (given && *given)
		return take_if_there(xstrdup(given), ret) ? 0 : no_agent(given, err);
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++)
		if (take_if_there(xasprintf("%s/%s", dir, beside[i]), ret))
			return 0;
	if (take_if_there(xstrdup(CULPRIT_LIBEXECDIR "/culprit-agent"), ret))
		return 0;
	return no_agent(dir, err);
}
