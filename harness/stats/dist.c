// SPDX-License-Identifier: GPL-2.0-or-later
// R's mathematics library behind our names. It prints a warning where it loses precision, so
// arguments that are certain to do that are answered here.
#include "harness/stats/dist.h"

#include <math.h>
#include <stdbool.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

static bool probability(double p)
{
	return p >= 0 && p <= 1;
}

double dist_normal_pdf(double x)
{
	return dnorm(x, 0, 1, 0);
}

double dist_normal_cdf(double x)
{
	return pnorm(x, 0, 1, 1, 0);
}

double dist_normal_sf(double x)
{
	return pnorm(x, 0, 1, 0, 0);
}

double dist_normal_quantile(double p)
{
	return probability(p) ? qnorm(p, 0, 1, 1, 0) : NAN;
}

double dist_t_cdf(double x, double df)
{
	return df > 0 ? pt(x, df, 1, 0) : NAN;
}

double dist_t_sf(double x, double df)
{
	return df > 0 ? pt(x, df, 0, 0) : NAN;
}

double dist_t_quantile(double p, double df)
{
	return probability(p) && df > 0 ? qt(p, df, 1, 0) : NAN;
}

double dist_chisq_cdf(double x, double df)
{
	return df > 0 ? pchisq(x, df, 1, 0) : NAN;
}

double dist_chisq_quantile(double p, double df)
{
	return probability(p) && df > 0 ? qchisq(p, df, 1, 0) : NAN;
}

double dist_f_cdf(double x, double df1, double df2)
{
	return df1 > 0 && df2 > 0 ? pf(x, df1, df2, 1, 0) : NAN;
}

double dist_f_sf(double x, double df1, double df2)
{
	return df1 > 0 && df2 > 0 ? pf(x, df1, df2, 0, 0) : NAN;
}

double dist_f_quantile(double p, double df1, double df2)
{
	return probability(p) && df1 > 0 && df2 > 0 ? qf(p, df1, df2, 1, 0) : NAN;
}

/* Counts are whole and not negative; the library warns about others on stdout. */
static bool count(double x)
{
	return x >= 0 && isfinite(x) && floor(x) == x;
}

double dist_binomial_pmf(double x, double n, double p)
{
	return count(x) && count(n) && probability(p) ? dbinom(x, n, p, 0) : NAN;
}

double dist_binomial_cdf(double x, double n, double p)
{
	return count(x) && count(n) && probability(p) ? pbinom(x, n, p, 1, 0) : NAN;
}

double dist_binomial_quantile(double q, double n, double p)
{
	return probability(q) && count(n) && probability(p) ? qbinom(q, n, p, 1, 0) : NAN;
}

double dist_hyper_pmf(double x, double white, double black, double drawn)
{
	if (!count(x) || !count(white) || !count(black) || !count(drawn))
		return NAN;
	return drawn <= white + black ? dhyper(x, white, black, drawn, 0) : NAN;
}

double dist_binomial_low(double x, double n, double level)
{
	if (!count(x) || !count(n) || x > n || !probability(level))
		return NAN;
	return x > 0 ? qbeta((1 - level) / 2, x, n - x + 1, 1, 0) : 0;
}

double dist_binomial_high(double x, double n, double level)
{
	if (!count(x) || !count(n) || x > n || !probability(level))
		return NAN;
	return x < n ? qbeta((1 - level) / 2, x + 1, n - x, 0, 0) : 1;
}

double dist_lgamma(double x)
{
	if (isnan(x) || (x <= 0 && floor(x) == x))
		return isnan(x) ? NAN : INFINITY;
	return lgammafn(x);
}

double dist_log_choose(double n, double k)
{
	return count(n) && count(k) && k <= n ? lchoose(n, k) : NAN;
}
