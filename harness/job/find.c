// SPDX-License-Identifier: GPL-2.0-or-later
// Job directories, jobs by name, and files that jobs name.
#include "harness/job/find.h"

#include "harness/base/fs.h"
#include "harness/job/job.h"

#include <sys/stat.h>

#ifndef CULPRIT_DATADIR
#define CULPRIT_DATADIR "/usr/local/share/culprit"
#endif

static void add_dir(char ***dirs, const char *path)
{
	autofree char *real = realpath(path, NULL);

	if (!real || !fs_is_dir(real))
		return;
	for (size_t i = 0; i < strv_len(*dirs); i++)
		if (streq((*dirs)[i], real))
			return;
	strv_push(dirs, real);
}

static void add_user_dir(char ***dirs)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool xdg = config && *config == '/';
	autofree char *path = xasprintf("%s%s/culprit/jobs",
					xdg    ? config
					: home ? home
					       : "",
					xdg ? "" : "/.config");

	add_dir(dirs, path);
}

static void add_listed_dirs(char ***dirs)
{
	const char *list = getenv("CULPRIT_JOBS");

	for (; list && *list; list += strspn(list, ":")) {
		size_t len = strcspn(list, ":");
		autofree char *path = xstrndup(list, len);

		if (len)
			add_dir(dirs, path);
		list += len;
	}
}

/* The binary of a source tree lies in its build/, beside jobs/, or in a directory of that. */
static void add_source_dir(char ***dirs)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	autofree char *path = NULL, *parent = NULL;
	char *slash;

	if (n <= 0)
		return;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	path = xasprintf("%s/../jobs", exe);
	add_dir(dirs, path);
	slash = strrchr(exe, '/');
	if (!slash)
		return;
	*slash = '\0';
	if (!streq(path_base(exe), "build"))
		return;
	parent = xasprintf("%s/../jobs", exe);
	add_dir(dirs, parent);
}

char **job_dirs(void)
{
	char **dirs = strv_dup(NULL);

	add_user_dir(&dirs);
	add_listed_dirs(&dirs);
	add_source_dir(&dirs);
	add_dir(&dirs, CULPRIT_DATADIR "/jobs");
	return dirs;
}

/* Names of all jobs, each with the path of the nearest of that name. */
static void list_names(char ***names, char ***paths)
{
	autostrv char **dirs = job_dirs();

	*names = strv_dup(NULL);
	*paths = strv_dup(NULL);
	for (size_t i = 0; dirs[i]; i++) {
		ERR_CLEANUP struct err err = {};
		autostrv char **files = NULL;

		if (fs_list(dirs[i], &files, &err) < 0)
			continue;
		for (size_t k = 0; files[k]; k++) {
			size_t len = strlen(files[k]);
			autofree char *name = NULL;
			bool known = false;

			if (len <= 5 || files[k][0] == '.' || !str_ends(files[k], ".yaml"))
				continue;
			name = xstrndup(files[k], len - 5);
			for (size_t j = 0; (*names)[j] && !known; j++)
				known = streq((*names)[j], name);
			if (known)
				continue;
			strv_push(names, name);
			strv_pushf(paths, "%s/%s", dirs[i], files[k]);
		}
	}
}

int job_path(const char *name_or_path, char **ret, struct err *err)
{
	autostrv char **names = NULL, **paths = NULL;
	const char *near;

	if (strchr(name_or_path, '/') || str_ends(name_or_path, ".yaml")) {
		if (!fs_exists(name_or_path))
			return err_set(err, ERR_NOT_FOUND, "no job file '%s'", name_or_path);
		*ret = xstrdup(name_or_path);
		return 0;
	}
	list_names(&names, &paths);
	for (size_t i = 0; names[i]; i++) {
		if (streq(names[i], name_or_path)) {
			*ret = xstrdup(paths[i]);
			return 0;
		}
	}
	near = str_nearest(name_or_path, (const char *const *)names, strv_len(names));
	err_set(err, ERR_NOT_FOUND, "no job called '%s'", name_or_path);
	if (near)
		err_hint(err, "did you mean '%s'? a file is named by its path", near);
	else
		err_hint(err, "'culprit jobs' lists them; a file is named by its path");
	return -ERR_NOT_FOUND;
}

char *job_file_beside(const char *name, const char *from)
{
	const char *slash = strrchr(from, '/');
	autofree char *path = *name == '/' || !slash
				      ? xstrdup(name)
				      : xasprintf("%.*s/%s", (int)(slash - from), from, name);

	return fs_absolute(path);
}

/* Files are read whole and hashed: a device or pipe would not end. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *job_file_find(const char *name, const char *from)
{
	autofree char *path = job_file_beside(name, from);
	autostrv char **dirs = NULL;

	if (is_file(path))
		return take_ptr(&path);
	if (*name == '/' || !*name)
		return NULL;
	dirs = job_dirs();
	for (size_t i = 0; dirs[i]; i++) {
		free(path);
		path = xasprintf("%s/%s", dirs[i], name);
		if (is_file(path))
			return take_ptr(&path);
	}
	return NULL;
}

static void fill_entry(struct job_entry *e)
{
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;

	if (job_load(e->path, &job, &err) < 0) {
		const char *line =
			strchr(err.message, '\n'); /* behind the first, which only names the file */

		line = line ? line + 1 : err.message;
		e->problem = xstrndup(line, strcspn(line, "\n"));
		e->description = xstrdup("");
	} else {
		e->description = xstrdup(job->description);
	}
}

int job_list(struct job_entry **ret, size_t *ret_n, struct err *err)
{
	autostrv char **names = NULL, **paths = NULL;
	struct job_entry *entries;
	size_t n;

	list_names(&names, &paths);
	n = strv_len(names);
	entries = xcalloc(n, sizeof(*entries));
	for (size_t i = 0; i < n; i++) {
		entries[i].name = xstrdup(names[i]);
		entries[i].path = xstrdup(paths[i]);
		fill_entry(&entries[i]);
	}
	*ret = entries;
	*ret_n = n;
	return 0;
}

void job_list_free(struct job_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(entries[i].name);
		free(entries[i].path);
		free(entries[i].description);
		free(entries[i].problem);
	}
	free(entries);
}
