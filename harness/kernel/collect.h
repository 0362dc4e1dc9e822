// SPDX-License-Identifier: GPL-2.0-or-later
// From an object directory to a stage: image, modules, config, identity, sources, log.
#pragma once

#include "harness/kernel/artefact.h"
#include "harness/kernel/kmake.h"

/*
 * Copies what the store keeps of a finished build and fills in what was learned of it: config_hash,
 * code_hash, release, toolchain. Modules are installed with debug information stripped and without
 * links to the sources; a config with modules that has none built gives no modules directory.
 * ERR_UNTESTABLE, phase build: the build did not leave what a kernel leaves, or without a build-id.
 */
int collect(struct kmake *k, bool modules, const struct stage *stage, struct artefact *made,
	    struct err *err);
/* The log alone, for a failure. */
int collect_log(const struct kmake *k, const struct stage *stage, struct err *err);
