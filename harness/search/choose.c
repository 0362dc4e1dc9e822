// SPDX-License-Identifier: GPL-2.0-or-later
// Which of a job's cells steers the search: the one that tells most per second.

#include "harness/base/log.h"
#include "harness/measure/series.h"
#include "harness/search/bisection.h"
#include "harness/stats/summary.h"

#include <math.h>

#define LOOK_BOOTS 3   /* of each end, with all cells */
#define D_ENOUGH   8.0 /* a step this many spreads wide could not tell more if it were wider */

struct look {
	struct bisection *b;
	struct series series;
};

static int look_at(struct look *l, int node, const char *side, struct err *err)
{
	struct bisection *b = l->b;
	struct slot *slot = node_slot(b, node, SEARCH_NONE, false);
	struct boot_plan plan = {
		.subject = &slot->subject,
		.side = side,
		.purpose = "end",
		.cells = b->all_cells,
		.n_cells = b->lab->job->n_cells,
		.runs = b->runs,
		.seed = b->spec->seed + b->boots++,
	};
	struct boot_result result = {};

	if (node_prepare(b, slot, err) < 0)
		return -err->code;
	if (slot->subject.untestable)
		return err_set(err, ERR_UNTESTABLE, "the %s end cannot be tested: %s", side,
			       slot->subject.why);
	if (measure_boot(b->lab, &plan, &result, err) < 0)
		return -err->code;
	if (result.end == BOOT_UNTESTABLE)
		err_set(err, ERR_UNTESTABLE, "the %s end cannot be tested: %s", side,
			result.message);
	series_add(&l->series, side, "end", &result);
	boot_result_release(&result);
	return err->code ? -err->code : 0;
}

static int look_at_ends(struct look *l, struct err *err)
{
	int bad = (int)l->b->spec->range->n - 1;
	size_t good_boots = series_boots(&l->series, "good", "end"),
	       bad_boots = series_boots(&l->series, "bad", "end");

	for (size_t i = 0; i < LOOK_BOOTS; i++) {
		if (i >= good_boots && look_at(l, SEARCH_GOOD, "good", err) < 0)
			return -err->code;
		if (i >= bad_boots && look_at(l, bad, "bad", err) < 0)
			return -err->code;
	}
	return 0;
}

/* mean seconds of one run of this cell in the boots taken so far */
static int run_seconds(struct look *l, const struct cell *cell, double *ret, struct err *err)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < l->series.points.n; i++) {
		struct run_row *runs = NULL;
		size_t n_runs = 0;

		if (l->series.points.at[i].cell != cell ||
		    l->series.points.at[i].metric != l->b->spec->metric)
			continue;
		if (store_run_list(l->b->lab->store, l->series.points.at[i].boot, &runs, &n_runs,
				   err) < 0)
			return -err->code;
		for (size_t k = 0; k < n_runs; k++) {
			if (streq(runs[k].cell, cell->name)) {
				sum += runs[k].seconds;
				n++;
			}
			run_row_release(&runs[k]);
		}
		free(runs);
	}
	*ret = n ? sum / (double)n : 0;
	return 0;
}

/* d^2 is what one boot tells (in nats, near enough); more than D_ENOUGH tells no more */
static double information(struct look *l, const struct cell *cell)
{
	const struct metric *m = l->b->spec->metric;
	size_t n_good, n_bad;
	autofree double *good = series_values(&l->series, "good", "end", cell, m, &n_good);
	autofree double *bad = series_values(&l->series, "bad", "end", cell, m, &n_bad);
	double spread = fmax(values_sd(good, n_good), values_sd(bad, n_bad));
	double step = fabs(values_median(bad, n_bad) - values_median(good, n_good));
	double d = spread > 0 ? fmin(step / spread, D_ENOUGH) : step > 0 ? D_ENOUGH : 0;

	return isfinite(d) ? d * d : 0;
}

static int best_cell(struct look *l, uint32_t *ret, struct err *err)
{
	const struct job *job = l->b->lab->job;
	double best = -1;

	for (size_t i = 0; i < job->n_cells; i++) {
		double seconds = 0, rate;

		if (run_seconds(l, &job->cells[i], &seconds, err) < 0)
			return -err->code;
		rate = information(l, &job->cells[i]) /
		       (seconds * l->b->runs + 1); /* 1 s: a boot is not free */
		if (rate > best) {
			best = rate;
			*ret = (uint32_t)i;
		}
	}
	return 0;
}

/* the boots of the look are boots of the ends: they count for the chosen cell */
static int tell_looks(struct look *l, struct err *err)
{
	struct bisection *b = l->b;

	for (size_t i = 0; i < l->series.points.n; i++) {
		const struct series_point *p = &l->series.points.at[i];
		struct search_obs obs = {
			.node = streq(p->side, "good") ? SEARCH_GOOD : (int)b->spec->range->n - 1,
			.purpose = SEARCH_END,
			.target = SEARCH_NONE,
			.status = SEARCH_OK,
			.value = p->value,
			.elapsed_s = bisection_elapsed_s(b),
		};

		if (p->cell == b->cell && p->metric == b->spec->metric &&
		    streq(p->purpose, "end") && journal_obs(b, &obs, p->boot, err) < 0)
			return -err->code;
	}
	return 0;
}

/* decision and observations come together or not at all */
static int decide(struct look *l, uint32_t cell, struct err *err)
{
	struct bisection *b = l->b;

	b->cell = &b->lab->job->cells[cell];
	log_info("cell '%s' tells most per second; it steers the search", b->cell->name);
	if (store_begin(b->lab->store, err) < 0)
		return -err->code;
	if (lab_decide(b->lab, "cell", cell, err) < 0 || tell_looks(l, err) < 0) {
		store_rollback(b->lab->store);
		return -err->code;
	}
	return store_commit(b->lab->store, err);
}

int choose_cell(struct bisection *b, struct err *err)
{
	struct look look = {.b = b};
	uint32_t cell = 0;
	int r;

	if (b->cell)
		return 0;
	r = lab_decided(b->lab, "cell", &cell, err);
	if (r == 1 && cell < b->lab->job->n_cells) {
		b->cell = &b->lab->job->cells[cell];
		return 0;
	}
	if (r >= 0)
		r = series_load(b->lab, &look.series, err);
	if (r >= 0)
		r = look_at_ends(&look, err);
	if (r >= 0)
		r = best_cell(&look, &cell, err);
	if (r >= 0)
		r = decide(&look, cell, err);
	series_release(&look.series);
	return r < 0 ? r : 0;
}
