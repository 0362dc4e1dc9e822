// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters to cells: the product of all lists, less what `exclude` takes out.
#pragma once

#include "harness/job/job.h"
#include "harness/job/yaml.h"

/*
 * Both nodes may be NULL. cpus: what an unquoted `50%` is a share of; 0 where it cannot be known.
 * There is always at least one cell; without parameters it is the one called "".
 */
void cells_expand(const struct yaml_node *parameters, const struct yaml_node *exclude,
		  uint32_t cpus, struct cell **ret, size_t *ret_n, struct diag *d);
void cells_free(struct cell *cells, size_t n);
/* The one cell that "k=v,k=v" describes: in any order, and parameters may be left out while one
 * fits. */
const struct cell *cells_find(const struct cell *cells, size_t n, const char *text);
