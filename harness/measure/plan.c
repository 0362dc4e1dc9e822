// SPDX-License-Identifier: GPL-2.0-or-later
// Planning of runs and boots from noise and costs.

#include "harness/measure/plan.h"

#include "harness/base/log.h"
#include "harness/stats/equivalence.h"
#include "harness/stats/levels.h"
#include "harness/stats/power.h"
#include "harness/stats/ranktest.h"
#include "harness/stats/summary.h"

#include <math.h>

#define PILOT_BOOTS 4
#define PILOT_RUNS  3U
#define CLEAR_ALPHA 0.05 /* of each of the two one-sided tests */

/* one kernel's boot values as deviations from their median, in percent of it */
static void add_deviations(const double *values, size_t n, struct welford *pooled, size_t *kernels)
{
	double level = values_median(values, n);

	if (n < 2 || level == 0 || !isfinite(level))
		return;
	for (size_t i = 0; i < n; i++)
		welford_add(pooled, 100 * (values[i] - level) / fabs(level));
	++*kernels;
}

int plan_noise(struct lab *lab, const struct cell *cell, const struct metric *metric,
	       struct noise *ret, struct err *err)
{
	struct known_list known = {};
	autofree double *values = NULL;
	struct welford pooled = {};
	size_t kernels = 0;
	double level;

	*ret = (struct noise){.min_effect_pct = learned_min_effect_pct(lab, cell, metric),
			      .learned = learned_noise(lab, cell, metric)};
	if (store_known(lab->store, lab->job->text_hash, lab->machine_name, cell->name,
			metric->name, 0, &known, err) < 0)
		return -err->code;
	values = xcalloc(known.n + 1, sizeof(*values));
	for (size_t i = 0, n; i < known.n; i += n) {
		for (n = 0; i + n < known.n && known.at[i + n].kernel == known.at[i].kernel; n++)
			values[n] = known.at[i + n].value;
		add_deviations(values, n, &pooled, &kernels);
	}
	for (size_t i = 0; i < known.n; i++)
		values[i] = known.at[i].value;
	level = values_median(values, known.n);
	known_list_release(&known);
	if (pooled.n >= kernels + 3) {
		ret->known = true;
		ret->boots = pooled.n;
		/* each kernel's level cost a degree of freedom */
		ret->sigma_pct = sqrt(pooled.m2 / (double)(pooled.n - kernels));
		ret->sigma = ret->sigma_pct / 100 * fabs(level);
	}
	return 0;
}

/* --- runs per boot --- */

struct pilot {
	size_t boots;
	double boot_seconds, run_seconds; /* sums */
	size_t runs;
};

static void add_boot(struct pilot *pilot, const struct boot_result *result, size_t runs)
{
	pilot->boots++;
	pilot->runs += runs;
	pilot->run_seconds += result->run_seconds;
	pilot->boot_seconds += result->seconds - result->run_seconds;
}

static int take_pilot(struct lab *lab, struct subject *subject, const struct cell *const *cells,
		      size_t n_cells, uint32_t runs, struct pilot *pilot, struct err *err)
{
	struct boot_plan plans[PILOT_BOOTS];
	struct boot_result results[PILOT_BOOTS];

	for (size_t i = 0; i < PILOT_BOOTS; i++)
		plans[i] = (struct boot_plan){.subject = subject,
					      .purpose = "pilot",
					      .cells = cells,
					      .n_cells = n_cells,
					      .runs = runs,
					      .seed = i + 1};
	for (size_t i = 0, n; i < PILOT_BOOTS; i += n) {
		n = MIN(PILOT_BOOTS - i, boots_abreast(lab));
		if (measure_boots(lab, plans + i, n, results, err) < 0)
			return -err->code;
		for (size_t k = 0; k < n; k++) {
			add_boot(pilot, &results[k], runs * n_cells);
			boot_result_release(&results[k]);
		}
	}
	return 0;
}

/* runs per boot that this cell and metric would like best */
static int wanted_runs(struct lab *lab, const struct pilot *pilot, const struct cell *cell,
		       const struct metric *metric, uint32_t *ret, struct err *err)
{
	struct sample_list list = {};
	autofree double *values = NULL;
	autofree size_t *runs = NULL;
	size_t boots = 0;
	struct levels levels;

	if (store_samples(lab->store, lab->session, cell->name, metric->name, &list, err) < 0)
		return -err->code;
	values = xcalloc(list.n + 1, sizeof(*values));
	runs = xcalloc(list.n + 1, sizeof(*runs));
	for (size_t i = 0; i < list.n; i++) {
		boots += i == 0 || list.at[i].boot != list.at[i - 1].boot;
		runs[boots - 1]++;
		values[i] = list.at[i].value;
	}
	levels = levels_estimate(values, runs, boots);
	*ret = (uint32_t)levels_runs_per_boot(&levels, pilot->boot_seconds / (double)pilot->boots,
					      pilot->run_seconds / (double)pilot->runs,
					      lab->job->iterate_min, lab->job->iterate_max);
	sample_list_release(&list);
	return 0;
}

int plan_runs(struct lab *lab, struct subject *subject, const struct cell *const *cells,
	      size_t n_cells, uint32_t *ret, struct err *err)
{
	const struct job *job = lab->job;
	uint32_t runs = job->iterate_min,
		 pilot_runs = MIN(MAX(PILOT_RUNS, job->iterate_min), job->iterate_max);
	struct pilot pilot = {};
	int r;

	*ret = runs;
	if (job->iterate_min == job->iterate_max)
		return 0;
	r = lab_decided(lab, "runs", ret, err);
	if (r != 0)
		return r < 0 ? r : 0;
	log_info("pilot: %d boots of %s, %u runs each, to choose the runs per boot", PILOT_BOOTS,
		 subject->name, pilot_runs);
	if (take_pilot(lab, subject, cells, n_cells, pilot_runs, &pilot, err) < 0)
		return -err->code;
	for (size_t c = 0; c < n_cells; c++) {
		for (size_t m = 0; m < job->n_metrics; m++) {
			uint32_t wanted = 0;

			if (job->metrics[m].kpi &&
			    wanted_runs(lab, &pilot, cells[c], &job->metrics[m], &wanted, err) < 0)
				return -err->code;
			runs = MAX(runs, wanted);
		}
	}
	*ret = runs;
	return lab_decide(lab, "runs", runs, err);
}

/* --- boots a side --- */

size_t plan_boots(const struct job *job, const struct noise *noise, size_t tests)
{
	double error = job->error / (double)MAX(tests, (size_t)1);
	size_t boots =
		MAX((size_t)job->boots_min, rank_test_boots(job->error, MAX(tests, (size_t)1)));

	if (noise->known && noise->sigma_pct > 0) {
		size_t wanted =
			power_boots(noise->min_effect_pct, noise->sigma_pct, error, POWER_DEFAULT);

		boots = wanted ? MAX(boots, wanted) : job->boots_max;
	}
	return MIN(boots, (size_t)job->boots_max);
}

size_t plan_boots_to_clear(const struct job *job, const struct noise *noise, size_t tests)
{
	size_t boots = plan_boots(job, noise, tests), wanted = 0;

	if (noise->known && noise->sigma_pct > 0)
		wanted = equivalence_boots(noise->min_effect_pct, noise->sigma_pct, CLEAR_ALPHA,
					   POWER_DEFAULT);
	return MIN(MAX(boots, wanted), (size_t)MAX(job->boots_max, job->boots_min));
}

static char *sight_by_boots(const struct job *job, const struct noise *noise, size_t boots,
			    size_t tests)
{
	double smallest;

	if (!noise->known)
		return xstrdup("the smallest change it can see is known after the first boots");
	smallest = power_detectable(noise->sigma_pct, boots,
				    job->error / (double)MAX(tests, (size_t)1), POWER_DEFAULT);
	if (!isfinite(smallest))
		return xasprintf("%zu boots a side are too few to show any change at %g%%", boots,
				 100 * job->error);
	return xasprintf(
		"sees changes of %.2g%% and more (noise between boots %.2g%%, from %zu boots)",
		smallest, noise->sigma_pct, noise->boots);
}

char *plan_sight(const struct job *job, const struct noise *noise, size_t boots, size_t tests)
{
	autofree char *sight = sight_by_boots(job, noise, boots, tests);
	autofree char *learned = learned_sentence(&noise->learned);

	return learned ? xasprintf("%s; %s", sight, learned) : take_ptr(&sight);
}
