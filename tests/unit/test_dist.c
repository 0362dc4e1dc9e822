// SPDX-License-Identifier: GPL-2.0-or-later
// Distributions against R 4.2; the R call stands beside each value.
#include "tests/tap.h"

#include <math.h>

#include "harness/stats/dist.h"

static void values(void)
{
	is_double(dist_normal_cdf(1.5), 9.33192798731142e-01, 1e-13, "pnorm(1.5)");
	is_double(dist_normal_sf(10), 7.61985302416053e-24, 1e-13, "pnorm(10, lower = F)");
	is_double(dist_normal_quantile(0.999), 3.09023230616781, 1e-13, "qnorm(.999)");
	is_double(dist_normal_pdf(0.5), 3.52065326764300e-01, 1e-13, "dnorm(.5)");
	is_double(dist_t_cdf(2.5, 7), 9.79503890707124e-01, 1e-13, "pt(2.5, 7)");
	is_double(dist_t_sf(40, 30), 6.86302259720318e-28, 1e-12, "pt(40, 30, lower = F)");
	is_double(dist_t_quantile(0.975, 4), 2.77644510519779, 1e-12, "qt(.975, 4)");
	is_double(dist_t_quantile(0.995, 1), 63.6567411628715, 1e-12, "qt(.995, 1)");
	is_double(dist_chisq_cdf(7, 3), 0.928102227503535, 1e-13, "pchisq(7, 3)");
	is_double(dist_chisq_quantile(0.95, 10), 18.307038053275146, 1e-12, "qchisq(.95, 10)");
	is_double(dist_f_cdf(2, 3, 8), 0.807342573497010, 1e-13, "pf(2, 3, 8)");
	is_double(dist_f_sf(30, 5, 9), 2.35378194132789e-05, 1e-12, "pf(30, 5, 9, lower = F)");
	is_double(dist_f_quantile(0.975, 4, 9), 4.71807845812819, 1e-12, "qf(.975, 4, 9)");
	is_double(dist_binomial_pmf(3, 10, 0.5), 0.1171875, 1e-13, "dbinom(3, 10, .5)");
	is_double(dist_binomial_cdf(3, 10, 0.5), 0.171875, 1e-13, "pbinom(3, 10, .5)");
	is_double(dist_binomial_quantile(0.005, 20, 0.5), 4, 0, "qbinom(.005, 20, .5)");
	is_double(dist_hyper_pmf(2, 5, 7, 4), 0.424242424242424, 1e-13, "dhyper(2, 5, 7, 4)");
	is_double(dist_lgamma(7.5), 7.534364236758733, 1e-13, "lgamma(7.5)");
	is_double(dist_lgamma(-1.5), 0.860047015376481, 1e-13, "lgamma(-1.5)");
	is_double(dist_log_choose(120, 60), 80.556041133934997, 1e-13, "lchoose(120, 60)");
}

static void proportions(void)
{
	is_double(dist_binomial_low(2, 2000, 0.95), 0.00012112759055683, 1e-9,
		  "binom.test(2, 2000)$conf.int, low");
	is_double(dist_binomial_high(2, 2000, 0.95), 0.00360762856982853, 1e-9, "and high");
	is_double(dist_binomial_low(0, 50, 0.99), 0, 0, "none of 50: low is 0");
	is_double(dist_binomial_high(0, 50, 0.99), 0.10054508337476264, 1e-9,
		  "binom.test(0, 50, conf.level = .99)$conf.int, high");
	is_double(dist_binomial_low(50, 50, 0.95), 0.92887826353580238, 1e-9,
		  "binom.test(50, 50)$conf.int, low");
	is_double(dist_binomial_high(50, 50, 0.95), 1, 0, "all of 50: high is 1");
	is_double(dist_binomial_low(0, 0, 0.95), 0, 0, "nothing tried: from 0");
	is_double(dist_binomial_high(0, 0, 0.95), 1, 0, "nothing tried: to 1");
}

static void outside(void)
{
	ok(isnan(dist_normal_quantile(1.5)), "a probability above 1 is NaN");
	ok(isnan(dist_normal_quantile(NAN)), "NaN stays NaN");
	ok(isinf(dist_normal_quantile(1)), "the quantile of 1 is infinite");
	ok(isnan(dist_t_quantile(0.5, 0)), "no degrees of freedom");
	ok(isnan(dist_t_cdf(1, -3)), "negative degrees of freedom");
	ok(isnan(dist_f_cdf(1, 0, 3)), "F without degrees of freedom");
	ok(isnan(dist_binomial_cdf(1, 2.5, 0.5)), "half a trial");
	ok(isnan(dist_binomial_low(3, 2, 0.95)), "more successes than trials");
	ok(isnan(dist_hyper_pmf(1, 2, 2, 5)), "more drawn than there are");
	ok(isinf(dist_lgamma(0)) && isinf(dist_lgamma(-2)), "poles of the gamma function");
	ok(isnan(dist_lgamma(NAN)), "gamma of NaN");
	ok(isnan(dist_log_choose(3, 4)), "four out of three");
}

int main(void)
{
	values();
	proportions();
	outside();
	return plan_done();
}
