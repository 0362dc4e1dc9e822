// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of kernel builds share: a directory of their own, a git repository of the miniature tree.
#pragma once

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/proc.h"
#include "harness/base/signals.h"
#include "harness/base/util.h"
#include "tests/tap.h"

/* A string for a member that is not const. */
#define TEXT(s) ((char[]){ s })

static char *top; /* temporary directory, removed at the end */

/* A temporary directory that is HOME too, so that no file of the user's (ccache, git) has a say. */
static inline void fixture_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	signals_init();
	log_set_level(LOG_ERROR);
	top = xasprintf("%s/culprit-unit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(top)) {
		printf("Bail out! no temporary directory\n");
		exit(1);
	}
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("MAKEFLAGS");
}

static inline int fixture_end(void)
{
	struct err err = {};

	if (fs_remove_tree(top, &err))
		diag("%s", err.message);
	err_release(&err);
	free(top);
	return plan_done();
}

static inline char *in_top(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

/* Runs a shell script in the temporary directory and returns what it printed, without the last newline. */
static inline __attribute__((format(printf, 1, 2))) char *sh(const char *fmt, ...)
{
	const char *argv[] = { "sh", "-ec", NULL, NULL };
	struct proc_spec spec = {
		.argv = argv, .cwd = top, .deadline_ns = clock_deadline_ns(60 * NS_PER_S), .what = "sh"
	};
	struct err err = {};
	autofree char *script = NULL;
	autobuf out = {};
	va_list ap;

	va_start(ap, fmt);
	script = xvasprintf(fmt, ap);
	va_end(ap);
	argv[2] = script;
	if (proc_run_ok(&spec, &out, 1 << 20, ERR_IO, &err)) {
		printf("Bail out! %s\n", err.message);
		exit(1);
	}
	if (out.len && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	return buf_take(&out);
}

/* The same for its effect alone. */
#define sh_do(...) free(sh(__VA_ARGS__))

static inline bool contains(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static inline bool like(const char *text, const char *part, const char *name)
{
	bool good = ok(contains(text, part), "%s", name);

	if (!good)
		diag("no '%s' in '%s'", part, text ? text : "(null)");
	return good;
}
