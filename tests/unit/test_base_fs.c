// SPDX-License-Identifier: GPL-2.0-or-later
// fs: whole files, trees, and locks between processes.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[] = "/tmp/culprit-fs-XXXXXX";

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void test_files(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *deep = in_dir("a/b/c"), *file = in_dir("a/b/c/file"), *copy = in_dir("copy"),
		      *below = in_dir("copy/x");
	autostrv char **names = NULL;
	autobuf text = {};
	struct stat st;

	is_int(fs_mkdirs(deep, &err), 0, "directories");
	is_int(fs_mkdirs(deep, &err), 0, "that are there already");
	is_int(fs_write(file, "hello", 5, &err), 0, "written");
	is_int(fs_write(file, "hello again", 11, &err), 0, "written over");
	is_int(fs_read(file, 100, &text, &err), 0, "read");
	is_str(buf_str(&text), "hello again", "what was written");
	is_int(fs_read(file, 11, &text, &err), 0, "just the size");
	is_int(fs_read(file, 10, &text, &err), -ERR_USAGE, "too large");
	is_str(buf_str(&text), "hello again", "an error leaves the result alone");
	is_int(fs_list(deep, &names, &err), 0, "list");
	ok(strv_len(names) == 1 && streq(names[0], "file"), "no temporary file is left");
	is_int(fs_copy(file, copy, 0750, &err), 0, "copied");
	ok(stat(copy, &st) == 0 && (st.st_mode & 0777) == 0750 && st.st_size == 11,
	   "with its mode");
	is_int(fs_mkdirs(below, &err), -ERR_IO, "a file is in the way");
	is_int(fs_write(below, "x", 1, &err), -ERR_IO, "of a write, too");
	is_int(fs_read(deep, 100, &text, &err), -ERR_IO, "a directory is no file");
	is_int(fs_read("/no/such", 100, &text, &err), -ERR_NOT_FOUND, "absent");
}

static void test_tree(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *victim = in_dir("victim"), *tree = in_dir("tree"),
		      *sub = in_dir("tree/sub/deeper"), *link = in_dir("tree/sub/link"),
		      *file = in_dir("victim/file"), *big = in_dir("tree/big"),
		      *block = xcalloc(1, 100000);
	uint64_t bytes;

	fs_mkdirs(victim, &err);
	fs_write(file, "x", 1, &err);
	fs_mkdirs(sub, &err);
	fs_write(big, block, 100000, &err);
	ok(symlink(victim, link) == 0, "a link that leads out");
	bytes = fs_tree_bytes(tree);
	ok(bytes >= 100000 && bytes < 300000, "size of a tree");
	chmod(sub, 0);
	is_int(fs_remove_tree(tree, &err), 0, "removed");
	ok(!fs_exists(tree) && fs_exists(file), "but nothing behind the link");
	is_int(fs_remove_tree(tree, &err), 0, "absent is fine");
	is_int(fs_tree_bytes(tree), 0, "and has no size");
	ok(fs_is_dir(victim) && !fs_is_dir(file), "directories and others");
	ok(fs_free_bytes(dir, &bytes, &err) == 0 && bytes > 0, "free space");
}

static void test_programs(void)
{
	autofree char *sh = fs_find_program("sh"), *none = fs_find_program("no-such-program"),
		      *absolute = fs_absolute("x/y"), *same = fs_absolute("/x"),
		      *here = getcwd(NULL, 0);

	ok(sh && str_ends(sh, "/sh"), "found along PATH");
	is_str(none, NULL, "not found");
	ok(str_starts(absolute, here) && str_ends(absolute, "/x/y"), "absolute");
	is_str(same, "/x", "already absolute");
}

/* Another process that takes the lock, says so, and holds it. */
static pid_t hold(const char *path)
{
	int told[2];
	char c;
	pid_t pid;

	if (pipe(told))
		return -1;
	pid = fork();
	if (pid == 0) {
		struct err err = {};
		int fd;

		if (fs_lock(path, "bisect 7", 0, &fd, &err) == 0 && write(told[1], "x", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(told[1]);
	if (read(told[0], &c, 1) != 1)
		diag("the other process has no lock");
	close(told[0]);
	return pid;
}

static void test_lock(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *path = in_dir("lock"), *want = NULL;
	pid_t holder = hold(path);
	int fd = -1;

	is_int(fs_lock(path, "bisect 8", 0, &fd, &err), -ERR_BUSY, "held by another process");
	want = xasprintf("'%s' is held by bisect 7 (process %d)", path, (int)holder);
	is_str(err.message, want, "and told by whom");
	ok(err.hint && fd == -1, "a hint, and no descriptor");
	is_int(fs_lock(path, "bisect 8", 50 * NS_PER_MS, &fd, &err), -ERR_BUSY,
	       "a wait that was too short");
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	is_int(fs_lock(path, "bisect 8", 0, &fd, &err), 0, "killed: the lock is free");
	close(fd);
	fd = -1;
	is_int(fs_lock("/no/such/dir/lock", "x", 0, &fd, &err), -ERR_NOT_FOUND, "no directory");
}

int main(void)
{
	struct err err ERR_CLEANUP = {};

	ok(mkdtemp(dir) != NULL, "a directory");
	test_files();
	test_tree();
	test_programs();
	test_lock();
	is_int(fs_remove_tree(dir, &err), 0, "all of it removed");
	return plan_done();
}
