// SPDX-License-Identifier: GPL-2.0-or-later
// The report as one JSON document.
#pragma once

#include "reports/report.h"

void json_report_print(const struct report *r, struct buf *out);
struct json *json_cell(const char *name); /* "size=64,test=x" as an object of strings */
