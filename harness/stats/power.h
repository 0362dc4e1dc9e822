// SPDX-License-Identifier: GPL-2.0-or-later
// What a number of boots can see, before any is spent.

/*
 * Planned for the exact rank test on normal values: the t formula with the test's efficiency
 * of 3 / pi and one boot more for its coarse steps (within 6% of simulation, within 10% at the
 * smallest possible n), and never fewer boots than the test needs to reach `error` at all.
 * error is two-sided and for one test: divide it by the number of tests in the family.
 */
#pragma once

#include <stddef.h>

#define POWER_DEFAULT 0.9
#define POWER_MAX_BOOTS 1000000

/*
 * The smallest change, in the unit of sigma (one boot value's standard deviation), that n
 * boots a side show with probability `power`. Infinite where n is too small for any.
 */
double power_detectable(double sigma, size_t n, double error, double power);

/* Boots a side to show a change of `delta`. 0: no number up to POWER_MAX_BOOTS will do. */
size_t power_boots(double delta, double sigma, double error, double power);
