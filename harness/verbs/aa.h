// SPDX-License-Identifier: GPL-2.0-or-later
// How `culprit aa` prints its result, for `report`.
#pragma once

#include "harness/verbs/verbs.h"

/* The document that a finished `aa` session keeps, as text. */
void aa_text(const struct json *document, struct buf *out);
