// SPDX-License-Identifier: GPL-2.0-or-later
// The screen for two modes: a fit checked against R, edges, rates on normal and mixed data.
#include "tests/tap.h"

#include <math.h>

#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/stats/modes.h"

/*
 * R: w <- 1 * (v > 12); 1000 times { s <- c(mean(1-w), mean(w)); m, d <- the weighted means and
 * deviations; f <- s * dnorm(v, m, d); w <- f[2] / sum(f) }; dBIC = 2 * (sum(log(f1 + f2)) -
 * sum(dnorm(v, mean(v), sqrt(mean((v - mean(v))^2)), log = T))) - 3 * log(12)
 */
static void values(void)
{
	static const double v[] = { 10.1, 10.4, 9.8, 10.2, 9.9, 10.0, 10.3, 14.9, 15.3, 15.1, 14.8, 9.7 };
	struct modes m = modes_screen(v, ARRAY_SIZE(v));

	ok(m.two, "two clear modes");
	is_double(m.low.centre, 10.05, 1e-6, "lower centre");
	is_double(m.high.centre, 15.025, 1e-6, "upper centre");
	is_double(m.low.sd, 0.2291287847478, 1e-6, "lower deviation");
	is_double(m.high.sd, 0.1920286436967, 1e-6, "upper deviation");
	is_double(m.low.share, 2 / 3.0, 1e-6, "lower share");
	is_double(m.high.share, 1 / 3.0, 1e-6, "upper share");
	is_double(m.dbic, 34.6053810350649, 1e-6, "dBIC");
	is_double(m.ashman_d, 23.5342333603655, 1e-6, "Ashman's D");
}

static void edges(void)
{
	static const double two[] = { 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9 };
	double v[20];

	ok(!modes_screen(NULL, 0).two && isnan(modes_screen(NULL, 0).dbic), "no values");
	ok(!modes_screen(two + 1, 9).two, "nine values are too few");
	for (int i = 0; i < 20; i++)
		v[i] = 7;
	ok(!modes_screen(v, 20).two && isnan(modes_screen(v, 20).low.centre), "all equal");
	v[3] = NAN;
	ok(!modes_screen(v, 20).two, "NaN");
	v[3] = INFINITY;
	ok(!modes_screen(v, 20).two, "an infinity");
	ok(!modes_screen(two, ARRAY_SIZE(two)).two,
	   "two values alone may be the rounding of one: the gap is their only scale");
	for (int i = 0; i < 20; i++)
		v[i] = (i % 2 ? 100 : 200) + i % 3;
	ok(modes_screen(v, 20).two, "a gap of many roundings is one");
	for (int i = 0; i < 20; i++)
		v[i] = i < 18 ? 100 + i % 5 : 500 + i;
	ok(!modes_screen(v, 20).two, "two outliers of twenty are no mode");
}

static double draw(struct rng *r, int kind)
{
	double v = rng_normal(r);

	switch (kind) {
	case 1: return v + (rng_uniform(r) < 0.02 ? 5 + 5 * rng_exp(r) : 0);
	case 2: return round(v * 0.5);
	case 3: return v + (rng_uniform(r) < 0.3 ? 6 : 0);
	default: return v;
	}
}

static double rate(int kind, size_t n)
{
	int fired = 0, trials = 600;
	double v[60];
	struct rng r;

	rng_seed(&r, 71 + (uint64_t)kind);
	for (int t = 0; t < trials; t++) {
		for (size_t i = 0; i < n; i++)
			v[i] = draw(&r, kind);
		fired += modes_screen(v, n).two;
	}
	return (double)fired / trials;
}

/* Long-run rates, from 3000 trials: normal 0.015 (n = 10), 0.005 (20), modes 0.84 (20), 0.99 (40). */
static void rates(void)
{
	ok(rate(0, 10) < 0.04 && rate(0, 20) < 0.02, "normal values hardly ever fire it");
	ok(rate(1, 20) < 0.03, "nor do 2%% of outliers");
	ok(rate(2, 20) < 0.01, "nor a coarsely rounded normal");
	ok(rate(3, 20) > 0.76 && rate(3, 40) > 0.96, "30%% of boots six sigma away do");
}

int main(void)
{
	values();
	edges();
	rates();
	return plan_done();
}
