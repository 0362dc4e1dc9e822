// SPDX-License-Identifier: GPL-2.0-or-later
// Where jobs are: the user's directory, $CULPRIT_JOBS, the source tree's jobs/, the installed ones.
#pragma once

#include "harness/base/err.h"

char **job_dirs(void); /* those that exist, nearest first; NULL-terminated, owned */
/* A job's file from a path or a name; owned. ERR_NOT_FOUND names the nearest job. */
int job_path(const char *name_or_path, char **ret, struct err *err);
/* A file that a job names: beside `from`, else in the job directories. Absolute, owned; NULL if
 * nowhere. */
char *job_file_find(const char *name, const char *from);
/* name against the directory of `from`, whether it exists or not. Absolute, owned. */
char *job_file_beside(const char *name, const char *from);
