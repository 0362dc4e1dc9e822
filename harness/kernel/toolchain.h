// SPDX-License-Identifier: GPL-2.0-or-later
// The programs that build a kernel: are they here, which versions, and the environment they run in.
#pragma once

#include "harness/base/err.h"

#include <stdbool.h>

struct toolchain {
	char *cc;     /* "gcc" */
	char *text;   /* first line of `$cc --version`, newline, first line of `ld --version` */
	char *probed; /* text, and what else a config may depend on (pahole's version) */
	bool ccache;  /* is along PATH */
};

/* ERR_INFRA where one is missing, with the package to install. */
int toolchain_probe(const char *compiler, struct toolchain *ret, struct err *err);
void toolchain_release(struct toolchain *t);

/*
 * For proc_spec.env: removes everything of ours but what a compiler may need to work at all (PATH,
 * HOME, TMPDIR, ccache's and include path variables), so that neither a make around us nor a user's
 * ARCH or KCFLAGS gets into a kernel, and sets what makes builds reproducible. Owned.
 */
char **toolchain_environment(void);

/* Debian's package of a build program or of a header of the host's, or NULL. */
const char *toolchain_package(const char *program);
