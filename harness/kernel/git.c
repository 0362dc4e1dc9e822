// SPDX-License-Identifier: GPL-2.0-or-later
// The environment git gets, and how its failures are told.
#include "harness/kernel/git.h"

#include "harness/base/clock.h"
#include "harness/base/proc.h"

/* The parents of the longest kernel range take some 100 MB. */
#define OUTPUT_MAX  ((size_t)1 << 30)
#define DEADLINE_NS (30 * 60 * NS_PER_S)

/* What `git rev-parse --local-env-vars` lists and what starts helpers, all removed. */
static const char *const git_env[] = {
	"GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR",
	"GIT_CONFIG",
	"GIT_CONFIG_COUNT",
	"GIT_CONFIG_PARAMETERS",
	"GIT_DIR",
	"GIT_EXTERNAL_DIFF",
	"GIT_GRAFT_FILE",
	"GIT_IMPLICIT_WORK_TREE",
	"GIT_INDEX_FILE",
	"GIT_LITERAL_PATHSPECS",
	"GIT_NAMESPACE",
	"GIT_NO_REPLACE_OBJECTS",
	"GIT_OBJECT_DIRECTORY",
	"GIT_PREFIX",
	"GIT_QUARANTINE_PATH",
	"GIT_REPLACE_REF_BASE",
	"GIT_SHALLOW_FILE",
	"GIT_TEMPLATE_DIR",
	"GIT_TRACE",
	"GIT_WORK_TREE",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_AUTHOR_EMAIL=culprit@localhost",
	"GIT_AUTHOR_NAME=culprit",
	"GIT_COMMITTER_EMAIL=culprit@localhost",
	"GIT_COMMITTER_NAME=culprit",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	"LC_ALL=C",
	NULL,
};

static const char *const git_config[] = {
	"-c", "advice.detachedHead=false", "-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",  "-c", "gc.auto=0",
	"-c", "maintenance.auto=false",	   "-c", "safe.directory=*",
};

/* "git", our configuration, args. */
static const char **make_argv(const char *const *args)
{
	VEC(const char *) argv = {};

	VEC_PUSH(&argv, "git");
	for (size_t i = 0; i < ARRAY_SIZE(git_config); i++)
		VEC_PUSH(&argv, git_config[i]);
	for (; *args; args++)
		VEC_PUSH(&argv, *args);
	VEC_PUSH(&argv, NULL);
	return argv.at;
}

static struct proc_spec make_spec(const char *dir, const char *const *argv, const char *what)
{
	return (struct proc_spec){
		.argv = argv,
		.cwd = dir,
		.env = git_env,
		.deadline_ns = clock_deadline_ns(DEADLINE_NS),
		.what = what,
	};
}

int git_run(const char *dir, const char *const *args, int stdin_fd, struct buf *ret_out,
	    enum err_code code, struct err *err)
{
	autofree char *what = xasprintf("git %s", args[0]);
	autofree const char **argv = make_argv(args);
	struct proc_spec spec = make_spec(dir, argv, what);
	int rc;

	spec.stdin_fd = stdin_fd;
	rc = proc_run_ok(&spec, ret_out, OUTPUT_MAX, code, err);
	if (rc == -(int)code && strstr(err->message, "No space left on device")) {
		err->code = ERR_DISK_FULL;
		rc = -ERR_DISK_FULL;
	}
	return rc;
}

int git_ask(const char *dir, const char *const *args, struct buf *ret_out, struct err *err)
{
	autofree char *what = xasprintf("git %s", args[0]);
	autofree const char **argv = make_argv(args);
	struct proc_spec spec = make_spec(dir, argv, what);
	autobuf errors = {}, said = {};
	struct proc_result result;
	char how[96];
	int rc = proc_run(&spec, ret_out, &errors, OUTPUT_MAX, &result, err);

	if (rc)
		return rc;
	if (result.end == PROC_EXITED && result.code <= 1)
		return !result.code;
	buf_add_last_lines(&said, buf_str(&errors), errors.len, 3);
	return err_set(err, ERR_IO, "%s %s: %s", what, proc_describe(&result, how), buf_str(&said));
}
