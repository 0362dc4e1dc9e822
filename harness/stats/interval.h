// SPDX-License-Identifier: GPL-2.0-or-later
// Confidence intervals of one sample's centre, and the rule that stops an iteration.

/*
 * `level` in a result is the level that may be claimed: the one asked for, or a smaller one
 * where the values are too few to give it. Undefined intervals have NaN ends and level 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct interval {
	double low, high;
	double level;	/* 0.99, not 99 */
};

/* True only for an interval that was asked for at `level` and got it. */
bool interval_reached(const struct interval *i, double level);
/* True where the whole interval lies within low..high, ends included. */
bool interval_within(const struct interval *i, double low, double high);
/* True where the interval leaves `point` out. */
bool interval_excludes(const struct interval *i, double point);
/* The full width in percent of |centre|: what a job's `interval: 5%` is compared with. */
double interval_width_pct(const struct interval *i, double centre);

/* Student's t for the mean. Where iteration stopped on it, its coverage is below its level. */
struct interval interval_t(size_t n, double mean, double sd, double level);

/*
 * A t interval that holds at every n at once, so looking after each value costs nothing
 * (Lai 1976; Wang and Ramdas 2023, with g = 1). Infinite while n is too small.
 */
struct interval interval_always_valid(size_t n, double mean, double sd, double level);

/* The median between two order statistics: no assumption but independence. */
struct interval interval_median(const double *v, size_t n, double level);

struct stats_goal {
	double level;		/* 0.99 */
	double width_pct;	/* FULL width wanted, percent of |mean|: 5 is +-2.5% */
	double floor;		/* a full width in units that always suffices; 0 for none */
};

/*
 * True once the t interval of these n values is as narrow as wanted. Never true for NaN,
 * infinities or fewer than two values; a negative mean counts by its size.
 */
bool stats_converged(size_t n, double mean, double sd, const struct stats_goal *goal);
