// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of jobs: files in a directory of the test's own, jobs in a text and what is said of
// them.
#pragma once

#include "harness/base/fs.h"
#include "harness/job/job.h"
#include "tests/tap.h"

static char dir[] = "/tmp/test_job.XXXXXX";

#define MINIMAL "culprit: 1\nrun: {command: ./bench}\nmetrics: {m: {better: lower, key: time}}\n"

/* Path of a new file in the test's directory; owned. */
static inline char *put(const char *name, const char *text)
{
	autofree char *path = xasprintf("%s/%s", dir, name);
	autofree char *parent = xstrndup(path, strrchr(path, '/') - path);
	ERR_CLEANUP struct err err = {};

	if (fs_mkdirs(parent, &err) < 0 || fs_write(path, text, strlen(text), &err) < 0)
		diag("%s", err.message);
	return take_ptr(&path);
}

static inline void put_only(const char *name, const char *text)
{
	free(put(name, text));
}

/* The job in a text, or NULL with what was said about it, less the directory, in *ret_faults. */
static inline struct job *load(const char *text, char **ret_faults)
{
	autofree char *path = put("job.yaml", text);
	ERR_CLEANUP struct err err = {};
	struct job *job = NULL;
	autobuf faults = {};

	if (job_load(path, &job, &err) < 0) {
		size_t n = strlen(dir) + 1;

		for (const char *s = strchr(err.message, '\n') + 1; *s;) {
			bool prefix = strncmp(s, dir, n - 1) == 0;

			s += prefix ? n : 0;
			if (*s)
				buf_addch(&faults, *s++);
		}
	}
	free(*ret_faults);
	*ret_faults = buf_take(&faults);
	return job;
}

static inline struct job *load_good(const char *text, const char *what)
{
	autofree char *faults = NULL;
	struct job *job = load(text, &faults);

	if (!ok(job != NULL, "%s loads", what))
		diag("%s", faults);
	return job;
}

static inline void refused(const char *text, const char *message, const char *what)
{
	autofree char *faults = NULL;
	autojob struct job *job = load(text, &faults);

	ok(!job, "%.*s: refused", (int)strcspn(what, "\n"), what);
	is_str(faults ? faults : "", message, "%.*s: why", (int)strcspn(what, "\n"), what);
}

/* The minimal job with more lines, from line 4 on. */
static inline void refused_more(const char *lines, const char *message)
{
	autofree char *text = xasprintf(MINIMAL "%s\n", lines);

	refused(text, message, lines);
}

static inline bool start(void)
{
	unsetenv("CULPRIT_JOBS");
	if (!mkdtemp(dir))
		return false;
	setenv("XDG_CONFIG_HOME", dir, 1);
	return true;
}

static inline int finish(void)
{
	ERR_CLEANUP struct err err = {};

	fs_remove_tree(dir, &err);
	return plan_done();
}
