// SPDX-License-Identifier: GPL-2.0-or-later
// Whole files, atomic writes, directory trees, locks and free space.
#include "harness/base/fs.h"

#include "harness/base/clock.h"
#include "harness/base/crew.h"
#include "harness/base/signals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

int fs_mkdirs(const char *path, struct err *err)
{
	autofree char *part = xstrdup(path);

	for (char *slash = part + 1; *part && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(part, 0777) && errno != EEXIST && !fs_is_dir(part))
			return err_errno(err, "cannot make directory '%s'", part);
		*slash = '/';
	}
	if (mkdir(path, 0777) && (errno != EEXIST || !fs_is_dir(path)))
		return err_errno(err, "cannot make directory '%s'", path);
	return 0;
}

int fs_read(const char *path, size_t max_bytes, struct buf *ret, struct err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	autobuf text = {};
	ssize_t n;

	if (fd < 0)
		return err_errno(err, "cannot open '%s'", path);
	do {
		/* One byte over the limit is asked for, which tells a full file from one too big.
		 */
		size_t room = max_bytes - text.len;
		size_t want = MIN(room < SIZE_MAX ? room + 1 : room, (size_t)65536);

		n = read(fd, buf_reserve(&text, want), want);
		if (n < 0 && errno != EINTR)
			return err_errno(err, "cannot read '%s'", path);
		if (n > 0)
			buf_truncate(&text, text.len + n);
		if (text.len > max_bytes)
			return err_set(err, ERR_USAGE, "'%s' is larger than %zu bytes", path,
				       max_bytes);
	} while (n != 0);
	buf_release(ret);
	*ret = text;
	text = (struct buf){};
	return 0;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			data += n;
			len -= n;
		}
	}
	return 0;
}

static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	autofree char *dir = slash ? xstrndup(path, MAX(slash - path, 1)) : xstrdup(".");
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems cannot sync a directory; the rename is atomic all the same. */
	if (fd >= 0)
		fsync(fd);
}

/* A new file beside path, to be renamed over it. */
static int open_temp(const char *path, char **ret_temp, struct err *err)
{
	autofree char *temp = xasprintf("%s.tmp-XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "cannot write '%s'", path);
	*ret_temp = take_ptr(&temp);
	return fd;
}

static int rename_temp(int fd, const char *temp, const char *path, mode_t mode, struct err *err)
{
	if (fchmod(fd, mode) || fsync(fd) || rename(temp, path)) {
		int rc = err_errno(err, "cannot write '%s'", path);

		unlink(temp);
		return rc;
	}
	sync_parent(path);
	return 0;
}

int fs_write(const char *path, const void *data, size_t len, struct err *err)
{
	autofree char *temp = NULL;
	autoclose int fd = open_temp(path, &temp, err);
	mode_t mask;

	if (fd < 0)
		return fd;
	if (write_all(fd, data, len)) {
		int rc = err_errno(err, "cannot write '%s'", path);

		unlink(temp);
		return rc;
	}
	mask = umask(0);
	umask(mask);
	return rename_temp(fd, temp, path, 0666 & ~mask, err);
}

static int copy_bytes(int from, int to)
{
	char block[65536];
	ssize_t n;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0 && write_all(to, block, n))
			return -1;
	}
	return 0;
}

int fs_copy(const char *from, const char *to, mode_t mode, struct err *err)
{
	autoclose int in = open(from, O_RDONLY | O_CLOEXEC);
	autofree char *temp = NULL;
	autoclose int out = -1;

	if (in < 0)
		return err_errno(err, "cannot open '%s'", from);
	out = open_temp(to, &temp, err);
	if (out < 0)
		return out;
	if (copy_bytes(in, out)) {
		int rc = err_errno(err, "cannot copy '%s' to '%s'", from, to);

		unlink(temp);
		return rc;
	}
	return rename_temp(out, temp, to, mode, err);
}

/* Opens a subdirectory without following links; NULL with errno where it cannot. */
static DIR *open_dir_at(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static bool is_dot(const char *name)
{
	return streq(name, ".") || streq(name, "..");
}

/* Removes name below dir_fd and everything in it; 0 or -1 with errno. */
static int remove_at(int dir_fd, const char *name)
{
	struct dirent *entry;
	int rc = 0;
	DIR *dir;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	dir = open_dir_at(dir_fd, name);
	if (!dir && errno == EACCES && fchmodat(dir_fd, name, 0700, 0) == 0)
		dir = open_dir_at(dir_fd, name);
	if (!dir)
		return -1;
	while (!rc && (entry = readdir(dir)))
		rc = is_dot(entry->d_name) ? 0 : remove_at(dirfd(dir), entry->d_name);
	closedir(dir);
	return rc ? rc : unlinkat(dir_fd, name, AT_REMOVEDIR);
}

int fs_remove_tree(const char *path, struct err *err)
{
	if (remove_at(AT_FDCWD, path))
		return err_errno(err, "cannot remove '%s'", path);
	return 0;
}

bool fs_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int fs_list(const char *path, char ***ret, struct err *err)
{
	VEC(char *) names = {};
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return err_errno(err, "cannot list '%s'", path);
	while ((entry = readdir(dir)))
		if (!is_dot(entry->d_name))
			VEC_PUSH(&names, xstrdup(entry->d_name));
	closedir(dir);
	if (names.n)
		qsort(names.at, names.n, sizeof(*names.at), compare_names);
	VEC_PUSH(&names, NULL);
	*ret = names.at;
	return 0;
}

int fs_free_bytes(const char *path, uint64_t *ret, struct err *err)
{
	struct statvfs fs;

	if (statvfs(path, &fs))
		return err_errno(err, "cannot tell the free space of '%s'", path);
	*ret = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

static uint64_t bytes_at(int dir_fd, const char *name)
{
	struct dirent *entry;
	struct stat st;
	uint64_t bytes;
	DIR *dir;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	bytes = (uint64_t)st.st_blocks * 512;
	dir = S_ISDIR(st.st_mode) ? open_dir_at(dir_fd, name) : NULL;
	if (!dir)
		return bytes;
	while ((entry = readdir(dir)))
		if (!is_dot(entry->d_name))
			bytes += bytes_at(dirfd(dir), entry->d_name);
	closedir(dir);
	return bytes;
}

uint64_t fs_tree_bytes(const char *path)
{
	return bytes_at(AT_FDCWD, path);
}

static bool is_program(const char *path)
{
	return access(path, X_OK) == 0 && !fs_is_dir(path);
}

char *fs_find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(path, ":");
		autofree char *full =
			xasprintf("%.*s/%s", len ? (int)len : 1, len ? path : ".", name);

		if (*name && is_program(full))
			return take_ptr(&full);
		if (!path[len])
			return NULL;
		path += len + 1;
	}
}

char *fs_absolute(const char *path)
{
	autofree char *here = NULL;

	if (*path == '/')
		return xstrdup(path);
	here = getcwd(NULL, 0);
	if (!here)
		return xstrdup(path);
	if (streq(path, ".") || !*path)
		return take_ptr(&here);
	return xasprintf("%s/%s", streq(here, "/") ? "" : here, path);
}

/* "bisect 7 (process 4711)" out of the lock file's "4711 bisect 7". */
static void describe_holder(int fd, struct buf *out)
{
	char text[128] = "";
	char *what = text;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	what += strcspn(text, " ");
	if (what == text || !*what) {
		buf_adds(out, "another process");
		return;
	}
	*what++ = '\0';
	buf_add_safe(out, what, strlen(what), 100, false);
	buf_adds(out, " (process ");
	buf_add_safe(out, text, strlen(text), 20, false);
	buf_adds(out, ")");
}

/* flock cannot wait with a deadline, so it is tried ten times a second; a stop signal ends the
 * wait. */
static int wait_for_lock(int fd, int64_t wait_ns, struct err *err)
{
	int64_t deadline = wait_ns > 0 ? clock_deadline_ns(wait_ns) : 0;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		struct pollfd stop = {.fd = signals_fd(), .events = POLLIN};

		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(err, "cannot lock");
		if (signals_check(err))
			return -ERR_INTERRUPTED;
		if (clock_now_ns() >= deadline)
			return err_set(err, ERR_BUSY, "in use");
		crew_poll(&stop, 1, 100);
	}
	return 0;
}

int fs_lock(const char *path, const char *what, int64_t wait_ns, int *ret_fd, struct err *err)
{
	autofree char *text = xasprintf("%d %s\n", (int)getpid(), what);
	autoclose int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	int rc;

	if (fd < 0)
		return err_errno(err, "cannot open lock '%s'", path);
	rc = wait_for_lock(fd, wait_ns, err);
	if (rc == -ERR_BUSY) {
		autobuf holder = {};

		describe_holder(fd, &holder);
		rc = err_set(err, ERR_BUSY, "'%s' is held by %s", path, buf_str(&holder));
		err_hint(err, "wait until it ends, or stop it");
		return rc;
	}
	if (rc)
		return err_wrap(err, "'%s'", path);
	/* The text only serves messages: a full disk must not refuse the lock. */
	if (ftruncate(fd, 0) == 0 && pwrite(fd, text, strlen(text), 0) < 0)
		ftruncate(fd, 0);
	*ret_fd = take_fd(&fd);
	return 0;
}
