// SPDX-License-Identifier: GPL-2.0-or-later
// Is the kernel that runs the one that was built, on the machine as it was?
#pragma once

#include "harness/measure/subject.h"

/*
 * Compares what the agent reports with what was asked for: build-ids of vmlinux and of every loaded
 * module, the command line, and the machine's part of the environment against the session's first
 * boot. Anything else than asked is ERR_INFRA, phase "identity": such a boot gives no samples. A
 * kernel that was not built here is known by what its first boot reported.
 */
int boot_identify(struct lab *lab, struct subject *subject, const struct boot *boot,
		  int64_t *ret_fingerprint, struct err *err);
/* Once more after a setup, which may have loaded modules: those of another build are ERR_INFRA. */
int boot_identify_modules(struct lab *lab, struct subject *subject, struct boot *boot,
			  struct err *err);
