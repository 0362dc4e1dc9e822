// SPDX-License-Identifier: GPL-2.0-or-later
// The rank scan: a value from R, its bounds, missing nights, false alarms and steps found.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/changepoint.h"

static void values(void)
{
	static const double v[] = { 5, 3, 6, 4, 5.5, 3.5, 6.5, 4.5, 9, 8, 10, 9.5, 8.5, 12 };
	struct change c = change_scan(v, ARRAY_SIZE(v));

	/* R: t <- 4:10; max(abs(cumsum(rank(v))[t] - t * 15 / 2) / sqrt(t * (14 - t) * 15 / 12)) */
	is_double(c.z, 3.09838667696593, 1e-12, "z");
	is_int((long)c.at, 8, "the step is before the ninth night");
	is_int((long)c.last_before, 7, "and after the eighth");
	is_double(c.before, 4.75, 1e-13, "level before");
	is_double(c.after, 9.25, 1e-13, "level after");
	is_int(c.state, CHANGE_NONE, "too few nights to say so");
}

static void fill(double *v, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (i < step ? 100 : 200) + (double)(i * 7 % 11) / 10;
}

static void bounds(void)
{
	double v[200];

	for (size_t nights = 1; nights <= 22; nights++) {
		fill(v, nights, nights / 2);
		if (change_scan(v, nights).state == CHANGE_ALARMED)
			ok(false, "an alarm in a series of %zu", nights);
	}
	fill(v, 23, 11);
	is_int(change_scan(v, 23).state, CHANGE_ALARMED, "23 nights can alarm, fewer cannot");
	fill(v, 100, 94);
	is_int(change_scan(v, 100).state, CHANGE_WATCHED, "six nights after a step: watched");
	fill(v, 101, 94);
	is_int(change_scan(v, 101).state, CHANGE_ALARMED, "seven: alarm");
	is_int((long)change_scan(v, 101).at, 94, "at the right night, outside the window's start");
	is_int((long)change_scan(v, 101).nights, CHANGE_WINDOW, "on the last sixty nights");
	fill(v, 200, 100);
	is_int(change_scan(v, 200).state, CHANGE_NONE, "a step that left the window is old");
}

static void edges(void)
{
	double v[80];
	struct change c;

	c = change_scan(NULL, 0);
	ok(c.state == CHANGE_NONE && c.z == 0 && isnan(c.before), "no nights");
	fill(v, 7, 3);
	ok(change_scan(v, 7).z == 0, "seven nights have no four on either side");
	for (int i = 0; i < 60; i++)
		v[i] = 5;
	ok(change_scan(v, 60).z == 0 && change_scan(v, 60).state == CHANGE_NONE, "all equal");
	fill(v, 80, 60);
	for (int i = 0; i < 80; i += 4)
		v[i] = NAN;
	c = change_scan(v, 80);
	is_int(c.state, CHANGE_ALARMED, "missing nights are skipped");
	is_int((long)c.nights, 60, "and not counted");
	is_int((long)c.at, 61, "60 is missing: the first night that shows it is 61");
	is_int((long)c.last_before, 59, "the last that did not is 59");
	fill(v, 60, 30);
	v[10] = INFINITY;
	v[40] = -INFINITY;
	ok(change_scan(v, 60).state == CHANGE_ALARMED, "infinities rank");
}

/* Per 100 nights about 0.01 alarms; steps of two sigma found within 20 nights in 0.94. */
static void rates(void)
{
	int alarmed = 0, found = 0, series = 250, steps = 150;
	double v[160];
	struct rng r;

	rng_seed(&r, 81);
	for (int t = 0; t < series; t++) {
		bool alarm = false;

		for (size_t i = 0; i < 160; i++) {
			v[i] = rng_normal(&r);
			if (i >= 60)
				alarm |= change_scan(v, i + 1).state == CHANGE_ALARMED;
		}
		alarmed += alarm;
	}
	ok(alarmed <= 10, "%d of %d series of 100 quiet nights alarmed", alarmed, series);
	for (int t = 0; t < steps; t++) {
		bool alarm = false;

		for (size_t i = 0; i < 80; i++) {
			v[i] = rng_normal(&r) + (i < 60 ? 0 : 2);
			if (i >= 60)
				alarm |= change_scan(v, i + 1).state == CHANGE_ALARMED;
		}
		found += alarm;
	}
	ok(found >= (0.94 - 4 * sqrt(0.94 * 0.06 / steps)) * steps, "%d of %d steps found", found,
	   steps);
}

int main(void)
{
	values();
	bounds();
	edges();
	rates();
	return plan_done();
}
