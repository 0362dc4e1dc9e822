// SPDX-License-Identifier: GPL-2.0-or-later
// Boots of several kernels in turn.

#include "harness/measure/rounds.h"

#include "harness/base/log.h"
#include "harness/base/progress.h"

#include <math.h>

int side_prepare(struct lab *lab, struct side *side, struct err *err)
{
	if (subject_prepare(lab, &side->spec, &side->subject, err) < 0)
		return -err->code;
	if (side->subject.untestable)
		log_warn("%s cannot be tested: %s", side->subject.name, side->subject.why);
	return 0;
}

struct side *rounds_first(const struct rounds *r)
{
	for (size_t i = 0; i < r->n_sides; i++)
		if (!side_is_out(&r->sides[i]))
			return &r->sides[i];
	return NULL;
}

/* boots grow with it */
static double relative_noise(const struct noise *noise)
{
	return noise->known ? noise->sigma_pct / noise->min_effect_pct : -1;
}

/* the KPI whose noise is the largest beside its min_effect decides; a cell and metric nobody knows
 * anything of is left out */
static int worst_noise(struct rounds *r, struct noise *ret, size_t *ret_tests, struct err *err)
{
	const struct job *job = r->lab->job;
	size_t kpis = 0;

	*ret = (struct noise){.learned = {NAN, NAN, NAN, NAN}};
	for (size_t i = 0; i < r->n_cells; i++) {
		for (size_t m = 0; m < job->n_metrics; m++) {
			struct noise noise;

			if (!job->metrics[m].kpi)
				continue;
			if (plan_noise(r->lab, r->cells[i], &job->metrics[m], &noise, err) < 0)
				return -err->code;
			if (!kpis++ || relative_noise(&noise) > relative_noise(ret))
				*ret = noise;
		}
	}
	*ret_tests = kpis * (r->n_sides - 1);
	return 0;
}

int rounds_plan(struct rounds *r, boots_fn *decide, struct noise *ret_noise, size_t *ret_tests,
		struct err *err)
{
	struct lab *lab = r->lab;
	int decided;

	if (plan_runs(lab, &rounds_first(r)->subject, r->cells, r->n_cells, &r->runs, err) < 0 ||
	    worst_noise(r, ret_noise, ret_tests, err) < 0)
		return -err->code;
	decided = lab_decided(lab, "boots", &r->boots, err);
	if (decided == 0) {
		r->boots = (uint32_t)decide(lab->job, ret_noise, *ret_tests);
		decided = lab_decide(lab, "boots", r->boots, err);
	}
	return decided < 0 ? decided : 0;
}

static int boot_side(struct rounds *r, struct side *s, uint32_t round, struct err *err)
{
	struct boot_plan boot = {
		.subject = &s->subject,
		.side = s->subject.name,
		.purpose = r->purpose,
		.cells = r->cells,
		.n_cells = r->n_cells,
		.runs = r->runs,
		.seed = r->seed + round, /* the same order of cells on all sides of a round */
	};
	struct boot_result result = {};

	if (measure_boot(r->lab, &boot, &result, err) < 0)
		return -err->code;
	s->barren = result.values.n ? 0 : s->barren + 1;
	if (result.end == BOOT_UNTESTABLE) {
		s->subject.untestable = true;
		log_warn("%s cannot be tested: %s", s->subject.name, result.message);
	} else if (s->barren) {
		log_warn("%s gave no value: %s", s->subject.name,
			 result.message ? result.message : "no metric");
	}
	series_add(&r->series, s->subject.name, r->purpose, &result);
	boot_result_release(&result);
	return 0;
}

static bool is_over(const struct rounds *r)
{
	for (size_t i = 0; i < r->n_sides; i++)
		if (r->together && side_is_out(&r->sides[i]))
			return true;
	return !rounds_first(r);
}

int rounds_take(struct rounds *r, struct err *err)
{
	autofree size_t *done = xcalloc(r->n_sides, sizeof(*done));

	series_release(&r->series);
	if (series_load(r->lab, &r->series, err) < 0)
		return -err->code;
	for (size_t i = 0; i < r->n_sides; i++)
		done[i] = series_boots(&r->series, r->sides[i].subject.name, r->purpose);
	for (uint32_t round = 0; round < r->boots; round++) {
		for (size_t i = 0; i < r->n_sides && !is_over(r); i++) {
			size_t at = round % 2 ? r->n_sides - 1 - i : i;

			progress_total(round * r->n_sides + i, r->boots * r->n_sides, 0);
			if (done[at] <= round && !side_is_out(&r->sides[at]) &&
			    boot_side(r, &r->sides[at], round, err) < 0)
				return -err->code;
		}
	}
	return 0;
}

double *rounds_values(const struct rounds *r, size_t side, const struct cell *cell,
		      const struct metric *metric, size_t *ret_n)
{
	return series_values(&r->series, r->sides[side].subject.name, r->purpose, cell, metric,
			     ret_n);
}

void rounds_compare(const struct rounds *r, size_t a, size_t b, const struct cell *cell,
		    const struct metric *metric, struct comparison *ret)
{
	struct compare_options options = {
		.higher_is_better = metric->better == BETTER_HIGHER,
		.kpi = true,
		.min_effect_pct = learned_min_effect_pct(r->lab, cell, metric),
		.error = r->lab->job->error,
	};
	size_t n_a, n_b;
	autofree double *values_a = rounds_values(r, a, cell, metric, &n_a);
	autofree double *values_b = rounds_values(r, b, cell, metric, &n_b);

	compare_values(values_a, n_a, values_b, n_b, &options, ret);
}

void rounds_release(struct rounds *r)
{
	for (size_t i = 0; i < r->n_sides; i++)
		subject_release(&r->sides[i].subject);
	free(r->sides);
	series_release(&r->series);
	*r = (struct rounds){};
}
