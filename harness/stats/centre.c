// SPDX-License-Identifier: GPL-2.0-or-later
// The centre of a boot's runs.

#include "harness/stats/centre.h"

#include "harness/stats/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "median", "mean", "hmean", "min", "max" };

bool centre_parse(const char *text, enum centre_kind *ret_kind, double *ret_quantile)
{
	char *end;
	double percent;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*ret_kind = (enum centre_kind)i;
			return true;
		}
	}
	if (text[0] != 'p' || text[1] < '0' || text[1] > '9')
		return false;
	percent = strtod(text + 1, &end);
	if (*end || !(percent > 0 && percent < 100))
		return false;
	*ret_kind = CENTRE_QUANTILE;
	*ret_quantile = percent / 100;
	return true;
}

const char *centre_name(enum centre_kind kind, double quantile, char buf[16])
{
	if (kind != CENTRE_QUANTILE)
		return names[kind];
	snprintf(buf, 16, "p%g", quantile * 100);
	return buf;
}

double centre_value(enum centre_kind kind, double quantile, const double *v, size_t n)
{
	switch (kind) {
	case CENTRE_MEDIAN:
		return values_median(v, n);
	case CENTRE_MEAN:
		return values_mean(v, n);
	case CENTRE_HMEAN:
		return values_hmean(v, n);
	case CENTRE_MIN:
		return summary_of(v, n).min;
	case CENTRE_MAX:
		return summary_of(v, n).max;
	case CENTRE_QUANTILE:
		return values_quantile(v, n, quantile);
	}
	return NAN;
}
