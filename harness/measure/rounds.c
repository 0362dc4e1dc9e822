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

static struct boot_plan plan_boot(const struct rounds *r, struct side *s, uint32_t round)
{
	return (struct boot_plan){
		.subject = &s->subject,
		.side = s->subject.name,
		.purpose = r->purpose,
		.cells = r->cells,
		.n_cells = r->n_cells,
		.runs = r->runs,
		.seed = r->seed + round, /* the same order of cells on all sides of a round */
	};
}

static void take_result(struct rounds *r, struct side *s, const struct boot_result *result)
{
	s->barren = result->values.n ? 0 : s->barren + 1;
	if (result->end == BOOT_UNTESTABLE) {
		if (!s->subject.untestable)
			log_warn("%s cannot be tested: %s", s->subject.name, result->message);
		s->subject.untestable = true;
	} else if (s->barren) {
		log_warn("%s gave no value: %s", s->subject.name,
			 result->message ? result->message : "no metric");
	}
	series_add(&r->series, s->subject.name, r->purpose, result);
}

static bool is_over(const struct rounds *r)
{
	for (size_t i = 0; i < r->n_sides; i++)
		if (r->together && side_is_out(&r->sides[i]))
			return true;
	return !rounds_first(r);
}

/* Boots that are due next and may be taken side by side. */
struct due {
	size_t n, room;
	struct side **sides;
	struct boot_plan *plans;
	struct boot_result *results;
};

static int take_due(struct rounds *r, struct due *due, struct err *err)
{
	size_t n = due->n;

	due->n = 0;
	if (n && measure_boots(r->lab, due->plans, n, due->results, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		take_result(r, due->sides[i], &due->results[i]);
		boot_result_release(&due->results[i]);
	}
	return 0;
}

/* All that are missing, in turn: A B B A. */
static int take_missing(struct rounds *r, struct due *due, const size_t *done, struct err *err)
{
	for (size_t k = 0; k < r->boots * r->n_sides; k++) {
		uint32_t round = (uint32_t)(k / r->n_sides);
		size_t i = k % r->n_sides, at = round % 2 ? r->n_sides - 1 - i : i;
		struct side *side = &r->sides[at];

		if (due->n == due->room && take_due(r, due, err) < 0)
			return -err->code;
		if (is_over(r))
			return 0;
		progress_total(k, r->boots * r->n_sides, 0);
		if (done[at] > round || side_is_out(side))
			continue;
		due->sides[due->n] = side;
		due->plans[due->n++] = plan_boot(r, side, round);
	}
	return take_due(r, due, err);
}

int rounds_take(struct rounds *r, struct err *err)
{
	const size_t room = boots_abreast(r->lab);
	autofree size_t *done = xcalloc(r->n_sides, sizeof(*done));
	autofree struct side **sides = xcalloc(room, sizeof(*sides));
	autofree struct boot_plan *plans = xcalloc(room, sizeof(*plans));
	autofree struct boot_result *results = xcalloc(room, sizeof(*results));
	struct due due = {.room = room, .sides = sides, .plans = plans, .results = results};

	series_release(&r->series);
	if (series_load(r->lab, &r->series, err) < 0)
		return -err->code;
	for (size_t i = 0; i < r->n_sides; i++)
		done[i] = series_boots(&r->series, r->sides[i].subject.name, r->purpose);
	return take_missing(r, &due, done, err);
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
