// SPDX-License-Identifier: GPL-2.0-or-later
// What printers ask about a row: is there a percentage, is it noise, which mean, is a cell suspect.
#pragma once

#include "reports/report.h"

/* The change of the printed centres; NaN where one is negative or the first is zero: there a
 * difference is all that can be said. */
double row_ratio_pct(const struct comparison *c);
/* The change that counts: Hodges-Lehmann in percent, NaN where only a difference is defined. */
double row_change_pct(const struct comparison *c);
/* Standard deviation in percent of the centre; NaN without one, or where the centre is not
 * positive. */
double row_spread_pct(const struct summary *s);
/* A side spreads as widely as its centre is large: no percentage of it says anything. */
bool row_is_noise(const struct comparison *c);
bool row_is_measured(const struct comparison *c);

/* Rates are averaged harmonically, everything else arithmetically; by the unit. */
bool metric_is_rate(const struct metric_row *m);
/* The metric's mean of boot values; NaN without any, and of a rate that is not positive. */
double metric_mean(const struct metric_row *m, const struct value_series *v);
/*
 * The geometric mean over all cells of side's mean against that of side 0; NaN unless there are two
 * cells or more and every ratio is positive.
 */
double metric_gmean_ratio(const struct report *r, size_t metric, size_t side);

/*
 * Sets row->suspect where a cell is far off (a factor of 5) the next steps of every parameter that
 * counts something, on both sides of the comparison alike: then the cell measures something else
 * there, and its small change is no comfort. At the end of a sweep the one neighbour decides if the
 * step to it goes against all that the sweep did before.
 */
void rows_mark_suspect(struct report *r); /* suspect.c */
