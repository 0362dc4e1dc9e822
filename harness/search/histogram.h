// SPDX-License-Identifier: GPL-2.0-or-later
// Likelihood h of the posterior, which knows no shape of the noise. Not for others.
#pragma once

#include "harness/search/posterior.h"

/* Counts an epoch's values into the bins of their programs; room for all values. */
void histogram_count(const struct posterior *p, size_t epoch, double *room);
/* ln of likelihood h under class k, an epoch at a time; k beyond the last: nothing changed. */
double histogram_log(const struct posterior *p, size_t k);
/*
 * Binary values: levels and scale of a class are those of the shares of ones, since the mean is
 * what differs there.
 */
void histogram_shares(const struct posterior *p, size_t k);
