// SPDX-License-Identifier: GPL-2.0-or-later
// One metric written once for a list of values: sizes along a curve, percentiles, operations.
#pragma once

#include "harness/job/yaml.h"

/*
 * In the tree of a job, a metric with `each: [1, 64]` becomes two, `NAME.1` and `NAME.64`, in its
 * place; in the texts of its keys {each} is the value. `each` itself stays as that value.
 */
void each_expand(struct yaml_node *job, struct diag *d);
