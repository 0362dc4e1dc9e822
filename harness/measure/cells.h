// SPDX-License-Identifier: GPL-2.0-or-later
// The runs of one boot: setup, cells in seeded order, teardown.
#pragma once

#include "harness/measure/boot.h"

/*
 * Runs the plan's cells in a started boot and records each run as it ends. Runs that fail leave a
 * row without samples. ERR_UNTESTABLE when a local job's setup fails, ERR_FAILED when the kernel
 * dies.
 */
int cells_run(struct lab *lab, const struct boot_plan *plan, struct boot *boot, int64_t boot_id,
	      struct boot_result *result, struct err *err);
