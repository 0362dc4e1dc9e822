// SPDX-License-Identifier: GPL-2.0-or-later
// Marks object directories and repairs them after a kill.
#include "harness/kernel/objtree.h"

#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/util.h"

#include <sys/stat.h>

#define SUSPECT_SECONDS 60
#define DEPTH_MAX	64

static char *mark_path(const char *obj)
{
	return xasprintf("%s.building", obj);
}

/* Calls itself for each directory; finds the newest file (remove_from 0), or removes those not
 * older. */
static int walk(const char *dir, int depth, time_t remove_from, time_t *newest, struct err *err)
{
	autostrv char **names = NULL;
	int rc = fs_list(dir, &names, err);

	for (size_t i = 0; !rc && names[i]; i++) {
		autofree char *path = xasprintf("%s/%s", dir, names[i]);
		struct stat st;

		if (streq(names[i], ".config") || lstat(path, &st))
			continue; /* .config is written whole, and may be newer than the kill */
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			rc = walk(path, depth + 1, remove_from, newest, err);
		else if (!remove_from)
			*newest = MAX(*newest, st.st_mtime);
		else if (S_ISREG(st.st_mode) && st.st_mtime >= remove_from)
			rc = fs_remove_tree(path, err);
	}
	return rc;
}

int objtree_begin(const char *obj, struct err *err)
{
	autofree char *mark = mark_path(obj);
	time_t newest = 0;
	int rc = fs_mkdirs(obj, err);

	if (!rc && fs_exists(mark)) {
		log_info("an earlier build was interrupted; what it wrote last is made again");
		rc = walk(obj, 0, 0, &newest, err);
		if (!rc && newest)
			rc = walk(obj, 0, newest - SUSPECT_SECONDS, &newest, err);
	}
	return rc ? rc : fs_write(mark, "", 0, err);
}

void objtree_end(const char *obj)
{
	autofree char *mark = mark_path(obj);

	unlink(mark);
}

int objtree_remove(const char *obj, struct err *err)
{
	int rc = fs_remove_tree(obj, err);

	if (!rc)
		objtree_end(obj);
	return rc;
}
