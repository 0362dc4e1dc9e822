// SPDX-License-Identifier: GPL-2.0-or-later
// Back over release tags until one is better.

#include "harness/search/auto_good.h"

#include "harness/base/log.h"
#include "harness/measure/rounds.h"

#define FOUND "good"

struct walk {
	struct lab *lab;
	const char *bad;
	const struct cell *cell;
	const struct metric *metric;
	uint64_t seed;
};

/* what an earlier process, or an earlier call, found */
static int found_before(struct lab *lab, char **ret, struct err *err)
{
	struct step_row *steps = NULL;
	size_t n = 0;

	if (store_step_list(lab->store, lab->session, &steps, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		if (streq(steps[i].what, FOUND) && !*ret)
			*ret = xstrdup(steps[i].commit_sha);
		step_row_release(&steps[i]);
	}
	free(steps);
	return *ret ? 1 : 0;
}

static enum verdict judge(const struct walk *w, const struct rounds *r)
{
	struct comparison row;
	struct comparison *rows[] = {&row};

	rounds_compare(r, 0, 1, w->cell, w->metric, &row);
	compare_family(rows, 1);
	log_info("%s to bad: %.3g%% [%.3g, %.3g], %s", r->sides[0].subject.name,
		 row.percent.estimate, row.percent.interval.low, row.percent.interval.high,
		 verdict_name(row.verdict));
	return row.verdict;
}

static size_t enough_boots(const struct job *job, const struct noise *noise, size_t tests)
{
	return plan_boots(job, &(struct noise){}, tests);
}

static int measure(const struct walk *w, struct rounds *r, enum verdict *ret, struct err *err)
{
	struct noise noise;
	size_t tests;

	for (size_t i = 0; i < r->n_sides; i++)
		if (side_prepare(r->lab, &r->sides[i], err) < 0)
			return -err->code;
	if (side_is_out(&r->sides[1]))
		return err_set(err, ERR_UNTESTABLE, "bad cannot be tested: %s",
			       r->sides[1].subject.why);
	if (side_is_out(&r->sides[0]))
		return 0;
	if (rounds_plan(r, enough_boots, &noise, &tests, err) < 0 || rounds_take(r, err) < 0)
		return -err->code;
	if (!side_is_out(&r->sides[0]) && !side_is_out(&r->sides[1]))
		*ret = judge(w, r);
	return 0;
}

/* boots of bad are taken once and serve against every tag */
static int look_at(const struct walk *w, const char *tag, const char *sha, enum verdict *ret,
		   struct err *err)
{
	struct rounds r = {
		.lab = w->lab,
		.sides = xcalloc(2, sizeof(*r.sides)),
		.n_sides = 2,
		.cells = (const struct cell *const *)&w->cell,
		.n_cells = 1,
		.purpose = "auto",
		.seed = w->seed,
		.together = true,
	};
	int rc;

	r.sides[0] = (struct side){.spec = {.name = tag, .sha = sha}, .subject = SUBJECT_NONE};
	r.sides[1] = (struct side){.spec = {.name = "bad", .sha = w->bad}, .subject = SUBJECT_NONE};
	rc = measure(w, &r, ret, err);
	rounds_release(&r);
	return rc;
}

static int walk_back(const struct walk *w, char **tags, size_t n, char **ret, struct err *err)
{
	for (size_t i = 0; i < n; i = 2 * i + 1) {
		autofree char *sha = NULL;
		enum verdict verdict = VERDICT_INCONCLUSIVE;

		if (repo_resolve(w->lab->repo, tags[i], &sha, err) < 0 ||
		    look_at(w, tags[i], sha, &verdict, err) < 0)
			return -err->code;
		if (verdict != VERDICT_REGRESSION)
			continue;
		*ret = take_ptr(&sha);
		return lab_note(w->lab, FOUND, *ret, 0, NULL, err, "%s is better than bad",
				tags[i]);
	}
	err_set(err, ERR_USAGE, "no release tag before %.12s is better than it", w->bad);
	err_hint(err, "name a good commit: --good REV");
	return -ERR_USAGE;
}

int auto_good(struct lab *lab, const char *bad, const struct cell *cell,
	      const struct metric *metric, uint64_t seed, char **ret_good, struct err *err)
{
	struct walk w = {lab, bad, cell, metric, seed};
	autostrv char **tags = NULL;
	int r = found_before(lab, ret_good, err);

	if (r != 0)
		return r < 0 ? r : 0;
	if (repo_release_tags(lab->repo, bad, &tags, err) < 0)
		return -err->code;
	if (!strv_len(tags)) {
		err_set(err, ERR_USAGE, "no release tag is an ancestor of %.12s", bad);
		err_hint(err, "name a good commit: --good REV");
		return -ERR_USAGE;
	}
	return walk_back(&w, tags, strv_len(tags), ret_good, err);
}
