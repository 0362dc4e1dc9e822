// SPDX-License-Identifier: GPL-2.0-or-later
// Noise of an `aa` session, level by level, from its samples.

#include "harness/measure/aa.h"

#include "harness/stats/nested.h"
#include "harness/stats/power.h"

#include <math.h>

#define SPARE_BOOTS 3

/* one build's boots */
struct build {
	VEC(double) runs;   /* values of all boots */
	VEC(size_t) counts; /* of runs, a boot */
	VEC(double) values; /* boot values */
};

static void build_add(struct build *b, const struct metric *metric, const struct sample *samples,
		      size_t n)
{
	size_t first = b->runs.n;

	for (size_t i = 0; i < n; i++)
		VEC_PUSH(&b->runs, samples[i].value);
	VEC_PUSH(&b->counts, n);
	VEC_PUSH(&b->values, centre_value(metric->centre, metric->quantile, b->runs.at + first, n));
}

static void build_release(struct build *b)
{
	VEC_FREE(&b->runs);
	VEC_FREE(&b->counts);
	VEC_FREE(&b->values);
}

/* which of the builds a boot is of; -1: of none */
static int build_of(const struct boot_row *boots, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (boots[i].id == id && streq(boots[i].purpose, AA_PURPOSE))
			return streq(boots[i].side, AA_ALIGNED);
	return -1;
}

static int read_builds(struct store *store, int64_t session, const struct cell *cell,
		       const struct metric *metric, struct build builds[2], struct err *err)
{
	struct sample_list list = {};
	struct boot_row *boots = NULL;
	size_t n_boots = 0;
	int r = store_boot_list(store, session, &boots, &n_boots, err);

	if (r >= 0)
		r = store_samples(store, session, cell->name, metric->name, &list, err);
	for (size_t i = 0, n; r >= 0 && i < list.n; i += n) {
		int build = build_of(boots, n_boots, list.at[i].boot);

		for (n = 0; i + n < list.n && list.at[i + n].boot == list.at[i].boot; n++)
			continue;
		if (build >= 0)
			build_add(&builds[build], metric, &list.at[i], n);
	}
	sample_list_release(&list);
	for (size_t i = 0; i < n_boots; i++)
		boot_row_release(&boots[i]);
	free(boots);
	return r;
}

static struct aa_level level(double variance, double centre, size_t n)
{
	double sd = sqrt(variance);

	return (struct aa_level){sd, centre == 0 ? NAN : 100 * sd / fabs(centre), n};
}

static struct aa_noise estimate(const struct build builds[2])
{
	struct nested runs = {}, values = {};
	struct aa_noise a = {.centre = values_median(builds[0].values.at, builds[0].values.n)};
	double boot, spread;

	for (size_t i = 0; i < 2; i++) {
		autofree size_t *ones = xcalloc(builds[i].values.n + 1, sizeof(*ones));

		for (size_t k = 0; k < builds[i].values.n; k++)
			ones[k] = 1;
		nested_add(&runs, builds[i].runs.at, builds[i].counts.at, builds[i].counts.n);
		nested_add(&values, builds[i].values.at, ones, builds[i].values.n);
	}
	boot = nested_var_boot(&runs);
	a.value = level(nested_var_boot_means(&values), a.centre, values.boots);
	a.run = level(nested_var_run(&runs), a.centre, runs.values);
	a.boot = isnan(boot) ? a.value : level(boot, a.centre, runs.boots);
	a.build = level(nested_var_build(&values), a.centre, values.builds.n);
	spread = isnan(a.build.pct) ? a.value.pct : hypot(a.value.pct, a.build.pct);
	a.spread_pct = values.boots >= values.builds.n + SPARE_BOOTS ? spread : NAN;
	return a;
}

int aa_estimate(struct store *store, int64_t session, const struct cell *cell,
		const struct metric *metric, struct aa_noise *ret, struct err *err)
{
	struct build builds[2] = {};
	int r = read_builds(store, session, cell, metric, builds, err);

	if (r >= 0)
		*ret = estimate(builds);
	build_release(&builds[0]);
	build_release(&builds[1]);
	return r < 0 ? r : 0;
}

double aa_visible(const struct aa_noise *noise, size_t boots, double error)
{
	return power_detectable(noise->value.sd, boots, error, POWER_DEFAULT);
}
