// SPDX-License-Identifier: GPL-2.0-or-later
// Probability distributions: the one place that knows the mathematics library.

/*
 * cdf is P(X <= x), sf is P(X > x) computed without cancellation, quantile is the inverse
 * of cdf. Arguments outside a distribution's domain, and NaN, give NaN. No state, no output.
 */
#pragma once

#include <stddef.h>

double dist_normal_pdf(double x);
double dist_normal_cdf(double x);
double dist_normal_sf(double x);
double dist_normal_quantile(double p);

double dist_t_cdf(double x, double df);
double dist_t_sf(double x, double df);
double dist_t_quantile(double p, double df);

double dist_chisq_cdf(double x, double df);
double dist_chisq_quantile(double p, double df);

double dist_f_cdf(double x, double df1, double df2);
double dist_f_sf(double x, double df1, double df2);
double dist_f_quantile(double p, double df1, double df2);

/* The probability of exactly, or of at most, x successes in n trials of probability p. */
double dist_binomial_pmf(double x, double n, double p);
double dist_binomial_cdf(double x, double n, double p);
/* The smallest x with dist_binomial_cdf(x) >= q. */
double dist_binomial_quantile(double q, double n, double p);

/* Exactly x white balls among `drawn` taken from an urn of `white` and `black`. */
double dist_hyper_pmf(double x, double white, double black, double drawn);

/* The exact (Clopper-Pearson) limits of a probability seen x times in n. n = 0: 0 and 1. */
double dist_binomial_low(double x, double n, double level);
double dist_binomial_high(double x, double n, double level);

double dist_lgamma(double x);			 /* ln |gamma(x)|, reentrant */
double dist_log_choose(double n, double k);	 /* ln of n over k */
