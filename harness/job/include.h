// SPDX-License-Identifier: GPL-2.0-or-later
// `include:` in YAML files: other files merged under the one that names them.
#pragma once

#include "harness/job/yaml.h"

/*
 * Loads a file and what it includes, one tree in *ret: keys of the including file win, mappings
 * merge deeply, of several includes the later ones win. `include` itself is gone from the tree, and
 * so is the `name` of what was included. *ret is NULL where a file could not be read as YAML (d
 * says why); negative only where the first file cannot be read. ret_source: the file's text, or the
 * merged tree as text.
 */
int include_load(const char *path, struct diag *d, struct yaml_node **ret, struct buf *ret_source,
		 struct err *err);
