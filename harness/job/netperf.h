// SPDX-License-Identifier: GPL-2.0-or-later
// What a job asks of netperf and would not get, since netperf says nothing about it.
#pragma once

#include "harness/job/job.h"

/*
 * Adds a sentence to *warnings (NULL-terminated, owned strings) for each thing that netperf does in
 * silence with the options of the job's command, parameters of every cell filled in:
 * `-i max,min` beyond 30 repetitions is cut to 30; with several clients at once and max other than
 * min, clients end at different times, and the last ones are measured alone.
 */
void netperf_warnings(const struct job *job, char ***warnings);
