// SPDX-License-Identifier: GPL-2.0-or-later
// The boot value: which centre of a metric's runs in one boot stands for the boot.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum centre_kind {
	CENTRE_MEDIAN,
	CENTRE_MEAN,
	CENTRE_HMEAN,
	CENTRE_MIN,
	CENTRE_MAX,
	CENTRE_QUANTILE,
};

/* As jobs write it: median, mean, hmean, min, max, or p95 for a quantile (0 < q < 1 afterwards). */
bool centre_parse(const char *text, enum centre_kind *ret_kind, double *ret_quantile);
const char *centre_name(enum centre_kind kind, double quantile, char buf[16]);
/* NaN for no values, as the functions of summary.h say. */
double centre_value(enum centre_kind kind, double quantile, const double *v, size_t n);
