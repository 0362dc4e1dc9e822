// SPDX-License-Identifier: GPL-2.0-or-later
// A repository made by a shell script in a directory of its own, for tests of the kernel room.
#pragma once

#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/proc.h"
#include "harness/kernel/repo.h"

#include <sys/stat.h>

static char fixture_dir[] = "/tmp/culprit-repo-XXXXXX";

/* Runs a script in the fixture's directory, with `commit NAME [FILE CONTENT]` defined, and returns
 * its output. What the user has configured for git does not reach it. */
static inline char *shell(const char *script)
{
	static const char head[] =
		"set -e\n"
		"now=1600000000\n"
		"commit() { now=$((now + 60)); [ $# -lt 2 ] || { printf '%b' \"$3\" > $2; git add "
		"$2; }\n"
		"	GIT_COMMITTER_DATE=\"$now +0000\" GIT_AUTHOR_DATE=\"$now +0000\" "
		"git commit -q --allow-empty -m \"$1\"; }\n";
	autofree char *text = xasprintf("%s%s", head, script);
	autofree char *home = xasprintf("HOME=%s", fixture_dir);
	const char *const env[] = {home,
				   "GIT_CONFIG_NOSYSTEM=1",
				   "GIT_AUTHOR_NAME=A U Thor",
				   "GIT_AUTHOR_EMAIL=author@example.invalid",
				   "GIT_COMMITTER_NAME=C",
				   "GIT_COMMITTER_EMAIL=c@example.invalid",
				   "GIT_DIR",
				   "GIT_WORK_TREE",
				   "GIT_INDEX_FILE",
				   "XDG_CONFIG_HOME",
				   NULL};
	struct proc_spec spec = {.argv = (const char *const[]){"bash", "-c", text, NULL},
				 .cwd = fixture_dir,
				 .env = env,
				 .deadline_ns = clock_deadline_ns(60 * NS_PER_S)};
	struct err err ERR_CLEANUP = {};
	autobuf out = {};

	if (proc_run_ok(&spec, &out, 1 << 20, ERR_IO, &err))
		diag("fixture: %s", err.message);
	if (out.len && out.data[out.len - 1] == '\n')
		buf_truncate(&out, out.len - 1);
	return buf_take(&out);
}

static inline char *sha_of(struct repo *repo, const char *rev)
{
	struct err err ERR_CLEANUP = {};
	char *sha = NULL;

	if (repo_resolve(repo, rev, &sha, &err))
		diag("%s: %s", rev, err.message);
	return sha;
}

/* The directory, which fixture_end removes. */
static inline void fixture_begin(void)
{
	if (!mkdtemp(fixture_dir))
		diag("no temporary directory");
}

static inline void fixture_end(void)
{
	struct err err ERR_CLEANUP = {};

	is_int(fs_remove_tree(fixture_dir, &err), 0, "fixture removed");
}
