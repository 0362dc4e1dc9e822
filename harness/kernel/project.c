// SPDX-License-Identifier: GPL-2.0-or-later
// Builds of commits for the local runner, one worktree each.
#include "harness/kernel/project.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/base/proc.h"
#include "harness/kernel/worktree.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LOG_TAIL_BYTES 8192

/* Everything that the content of the built directory depends on. */
static int make_key(const struct project_spec *spec, char **ret_key, struct err *err)
{
	char hex[HASH_HEX];
	struct hash *h = hash_new();
	int rc = 0;

	hash_adds(h, repo_git_dir(spec->repo));
	hash_adds(h, spec->sha);
	for (const char *const *p = spec->patches; !rc && p && *p; p++) {
		rc = hash_file(*p, hex, err);
		hash_adds(h, hex);
	}
	hash_adds(h, NULL);
	for (const char *const *r = spec->reverts; r && *r; r++)
		hash_adds(h, *r);
	hash_adds(h, NULL);
	for (char *const *a = spec->command; a && *a; a++)
		hash_adds(h, *a);
	hash_end(h, hex);
	if (!rc)
		*ret_key = xasprintf("project-%.12s-%.24s", spec->sha, hex);
	return rc;
}

/* The seconds an earlier build took, from its marker, whose time says when it was last used. */
static bool was_built(const char *marker, double *ret_seconds)
{
	struct err ignored ERR_CLEANUP = {};
	autobuf text = {};

	if (fs_read(marker, 64, &text, &ignored))
		return false;
	if (!text.len || text.data[text.len - 1] != '\n')
		return false;
	buf_truncate(&text, text.len - 1);
	if (!str_to_double(buf_str(&text), ret_seconds))
		return false;
	utimensat(AT_FDCWD, marker, NULL, 0);
	return true;
}

/* The log may hold earlier tries: what counts begins at from. */
static void add_log_tail(const char *path, off_t from, struct buf *out)
{
	char tail[LOG_TAIL_BYTES];
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return;
	n = pread(fd, tail, sizeof(tail), MAX(st.st_size - (off_t)sizeof(tail), from));
	if (n <= 0)
		return;
	buf_adds(out, ": ");
	buf_add_last_lines(out, tail, (size_t)n, 3);
}

static int run_command(const struct project_spec *spec, const char *dir, double *ret_seconds,
		       struct err *err)
{
	autofree char *commit = xasprintf("CULPRIT_COMMIT=%s", spec->sha);
	const char *const env[] = {commit,	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
				   "MAKEFLAGS", "MFLAGS",  "MAKELEVEL",	    NULL};
	struct proc_spec build = {
		.argv = (const char *const *)spec->command,
		.cwd = dir,
		.env = env,
		.log_path = spec->log_path,
		.what = "build",
	};
	struct stat log = {};
	struct proc_result result;
	autobuf tail = {};
	char how[96];
	int rc;

	stat(spec->log_path, &log);
	build.deadline_ns = clock_deadline_ns(spec->timeout_ns);
	rc = proc_run(&build, NULL, NULL, 0, &result, err);

	if (rc)
		return rc;
	*ret_seconds = (double)result.wall_ns / 1e9;
	if (result.end == PROC_EXITED && result.code == 0)
		return 0;
	add_log_tail(spec->log_path, log.st_size, &tail);
	return err_set(err, ERR_UNTESTABLE, "the build %s%s", proc_describe(&result, how),
		       buf_str(&tail));
}

/* A full disk says nothing of the commit, though the build command only knows that it failed. */
static int check_disk(const char *dir, struct err *err)
{
	struct err ignored ERR_CLEANUP = {};
	uint64_t bytes;

	if (err->code != ERR_UNTESTABLE || fs_free_bytes(dir, &bytes, &ignored) || bytes >= 1 << 20)
		return -(int)err->code;
	return err_set(err, ERR_DISK_FULL, "no space is left below '%s' while building", dir);
}

static int build(const struct project_spec *spec, struct worktree *wt, const char *marker,
		 double *ret_seconds, struct err *err)
{
	autofree char *text = NULL;
	double seconds = 0;
	int rc = worktree_put(wt, spec->sha, spec->patches, spec->reverts, true, err);

	if (rc)
		return rc;
	if (spec->command && run_command(spec, worktree_path(wt), &seconds, err)) {
		rc = check_disk(worktree_path(wt), err);
		err_phase(err, "build");
		return rc;
	}
	text = xasprintf("%.3f\n", seconds);
	rc = fs_write(marker, text, strlen(text), err);
	if (!rc)
		*ret_seconds = seconds;
	return rc;
}

int project_build(const struct project_spec *spec, char **ret_dir, double *ret_seconds,
		  bool *ret_from_cache, struct err *err)
{
	autoworktree struct worktree *wt = NULL;
	autofree char *key = NULL, *marker = NULL;
	double seconds = 0;
	bool built;
	int rc = make_key(spec, &key, err);

	if (!rc)
		rc = worktree_open(spec->cache_dir, key, spec->repo, NO_DEADLINE, &wt, err);
	if (rc)
		return rc;
	marker = xasprintf("%s.built", worktree_path(wt));
	built = was_built(marker, &seconds);
	if (!built)
		rc = build(spec, wt, marker, &seconds, err);
	if (rc)
		return rc;
	*ret_dir = xstrdup(worktree_path(wt));
	*ret_seconds = seconds;
	*ret_from_cache = built;
	return 0;
}
