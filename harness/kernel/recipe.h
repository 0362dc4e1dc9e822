// SPDX-License-Identifier: GPL-2.0-or-later
// What goes into a kernel beside its sources: base config, fragments, toolchain; and its hash.
#pragma once

#include "harness/base/hash.h"
#include "harness/job/job.h"
#include "harness/kernel/kconfig.h"
#include "harness/kernel/toolchain.h"

/* What `aligned` asks of a tree that knows it (since Linux 5.16); it depends on EXPERT. */
#define ALIGN_OPTION "DEBUG_FORCE_FUNCTION_ALIGN_64B"

struct recipe {
	const struct kernel_options *options; /* borrowed */
	struct toolchain tools;
	char *base;	 /* text of the base config, NULL where options->base is a make target */
	char *fragments; /* all fragments as one text, our own lines last */
	struct kconfig asked; /* what the job's fragments, the extra one and `aligned` ask for */
	char hash[HASH_HEX];  /* of all this: equal recipes make equal kernels of equal trees */
};
#define autorecipe __attribute__((cleanup(recipe_release))) struct recipe

/* extra is one more fragment as text, or NULL. ERR_USAGE, ERR_NOT_FOUND: a file of the job;
 * ERR_INFRA: a tool is missing. */
int recipe_read(const struct kernel_options *options, const char *extra, struct recipe *ret,
		struct err *err);
void recipe_release(struct recipe *r);
