// SPDX-License-Identifier: GPL-2.0-or-later
// A bisection's part of the report: how it ended, what was measured on the way, parent against
// culprit.
#include "reports/fill.h"

#include "harness/base/util.h"

#include <math.h>

const char *const report_check_names[REPORT_CHECKS] = {"ends",	 "parent",    "revert", "same_code",
						       "config", "alignment", "reached"};

/* --- what the driver decided, out of its JSON columns --- */

static int parse(const char *text, const char *what, struct json **ret, struct err *err)
{
	if (!text)
		return 0;
	if (json_parse(text, strlen(text), ret, err) < 0)
		return err_wrap(err, "%s of the bisection", what);
	return 0;
}

static int fill_candidates(struct filling *f, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;
	autojson struct json *list = NULL;
	int rc = parse(b->row.candidates, "candidates", &list, err);

	b->candidates = xcalloc(json_len(list) + 1, sizeof(*b->candidates));
	for (size_t i = 0; rc == 0 && i < json_len(list); i++) {
		struct report_candidate *c = &b->candidates[b->n_candidates++];

		if (!json_num(json_get(json_item(list, i), "probability"), &c->probability))
			c->probability = NAN;
		rc = fill_commit(f, json_str(json_get(json_item(list, i), "commit")), &c->commit,
				 err);
	}
	return rc;
}

static int fill_culprits(struct filling *f, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;
	autojson struct json *list = NULL;
	int rc = parse(b->row.culprits, "culprits", &list, err);

	b->culprits = xcalloc(json_len(list) + 1, sizeof(*b->culprits));
	for (size_t i = 0; rc == 0 && i < json_len(list); i++) {
		struct report_candidate *c = &b->culprits[b->n_culprits++];

		c->probability = i == 0 ? b->row.probability : NAN;
		rc = fill_commit(f, json_str(json_item(list, i)), &c->commit, err);
	}
	return rc;
}

static int fill_checks(struct report_bisect *b, struct err *err)
{
	static const char *const words[] = {"pass", "fail", "na"};
	autojson struct json *checks = NULL;
	int rc = parse(b->row.checks, "checks", &checks, err);

	for (size_t i = 0; i < REPORT_CHECKS; i++) {
		const char *word = json_str(json_get(checks, report_check_names[i]));

		b->checks[i] = "not-run";
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			if (streq(word, words[k]))
				b->checks[i] = words[k];
	}
	return rc;
}

static int fill_notes(struct report_bisect *b, struct err *err)
{
	autojson struct json *list = NULL;
	int rc = parse(b->row.notes, "notes", &list, err);

	for (size_t i = 0; i < json_len(list); i++)
		if (json_str(json_item(list, i)))
			strv_push(&b->notes, json_str(json_item(list, i)));
	return rc;
}

/* by how much builds of one commit differ here, where `aa` had learned that when the search began
 */
static void fill_build_spread(struct report *r)
{
	const struct bisection_row *row = &r->bisect.row;
	const struct json *cell = json_get(json_get(r->options, "aa"), row->cell);
	double pct;

	if (json_num(json_get(json_get(cell, row->metric), "builds_pct"), &pct))
		r->build_spread_pct = pct;
}

static int fill_row(struct filling *f, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;
	int rc = store_bisection_get(f->store, f->report->session.id, &b->row, err);

	if (rc == 0) {
		b->fix = bisection_has(&b->row, "fix");
		b->failures = bisection_has(&b->row, "failures");
		fill_build_spread(f->report);
	}
	if (rc == 0)
		rc = fill_commit(f, b->row.good, &b->good, err);
	if (rc == 0)
		rc = fill_commit(f, b->row.bad, &b->bad, err);
	if (rc == 0)
		rc = fill_candidates(f, err);
	if (rc == 0)
		rc = fill_culprits(f, err);
	if (rc == 0)
		rc = fill_checks(b, err);
	return rc == 0 ? fill_notes(b, err) : rc;
}

/* --- what was measured on the way --- */

static const char *form_of(const struct boot_row *boot)
{
	if (streq(boot->purpose, "aligned"))
		return "aligned";
	return streq(boot->side, "reverted") ? "reverted" : "";
}

static int tested_index(struct filling *f, const char *sha, const char *form, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;

	for (size_t i = 0; i < b->n_tested; i++)
		if (streq(b->tested[i].commit.sha, sha) && streq(b->tested[i].form, form))
			return (int)i;
	b->tested = xrealloc(b->tested, b->n_tested + 1, sizeof(*b->tested));
	b->tested[b->n_tested++] = (struct report_tested){.form = form, .centre = NAN, .sd = NAN};
	if (fill_commit(f, sha, &b->tested[b->n_tested - 1].commit, err) < 0)
		return -(int)err->code;
	return (int)b->n_tested - 1;
}

static void set_trouble(struct report_tested *t, const char *status, const char *why)
{
	free(t->trouble);
	t->trouble = *why ? xasprintf("%s: %s", status, why) : xstrdup(status);
}

static int add_boots(struct filling *f, struct err *err)
{
	for (size_t i = 0; i < f->n_boots; i++) {
		const struct boot_row *boot = &f->boots[i];
		struct report_tested *t;

		f->side[i] = -1;
		if (!boot->commit_sha || fill_is_auxiliary(boot))
			continue;
		f->side[i] = tested_index(f, boot->commit_sha, form_of(boot), err);
		if (f->side[i] < 0)
			return f->side[i];
		t = &f->report->bisect.tested[f->side[i]];
		if (boot->void_why)
			set_trouble(t, "a boot was taken out", boot->void_why);
		else if (!streq(boot->status, "ok") && !streq(boot->status, "started"))
			set_trouble(t, boot->status, boot->message);
	}
	return 0;
}

/* Commits that never booted, since they could not be built. */
static int add_unbuilt(struct filling *f, struct err *err)
{
	for (size_t i = 0; i < f->n_steps; i++) {
		const struct step_row *step = &f->steps[i];
		autojson struct json *data = NULL;
		const char *why;
		int at;

		if (!streq(step->what, "build") || !step->commit_sha || !step->data)
			continue;
		if (json_parse(step->data, strlen(step->data), &data, err) < 0)
			return err_wrap(err, "step %lld", (long long)step->id);
		why = json_str(json_get(data, "why"));
		if (!why || !streq(json_str(json_get(data, "variant")), ""))
			continue;
		at = tested_index(f, step->commit_sha, "", err);
		if (at < 0)
			return at;
		set_trouble(&f->report->bisect.tested[at], "untestable", why);
	}
	return 0;
}

/* Which of the tested ones a boot belongs to; negative: none, or it does not count. */
static int side_of(const struct filling *f, int64_t boot)
{
	for (size_t i = 0; i < f->n_boots; i++)
		if (f->boots[i].id == boot)
			return f->boots[i].void_why ? -1 : f->side[i];
	return -1;
}

/* Where failures are counted, samples do not tell: the share of ones that the search was told. */
static int fill_shares(struct filling *f, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;

	for (size_t i = 0; i < f->n_steps; i++) {
		const struct step_row *step = &f->steps[i];
		int at = streq(step->what, "obs") ? side_of(f, step->boot) : -1;
		autojson struct json *data = NULL;
		struct report_tested *t;
		double value;

		if (at < 0)
			continue;
		if (json_parse(step->data, strlen(step->data), &data, err) < 0)
			return err_wrap(err, "step %lld", (long long)step->id);
		if (!json_num(json_get(data, "value"), &value))
			continue;
		t = &b->tested[at];
		t->centre =
			t->boots ? t->centre + (value - t->centre) / (double)(t->boots + 1) : value;
		t->boots++;
	}
	return 0;
}

/* The steering metric of each, in its cell. */
static int fill_tested(struct filling *f, struct err *err)
{
	struct report_bisect *b = &f->report->bisect;
	struct value_table values = {};
	int rc = add_boots(f, err);

	if (rc == 0 && b->failures)
		rc = fill_shares(f, err);
	else if (rc == 0)
		rc = fill_values(f, b->row.cell, b->row.metric, b->n_tested, &values, err);
	for (size_t m = 0; rc == 0 && m < values.n_metrics; m++) {
		for (size_t i = 0; values.n_cells && i < b->n_tested; i++) {
			const struct value_series *v = value_table_at(&values, 0, m, i);

			if (!v->n)
				continue;
			b->tested[i].boots = v->boots;
			b->tested[i].centre = values_median(v->at, v->n);
			b->tested[i].sd = values_sd(v->at, v->n);
		}
	}
	value_table_release(&values);
	return rc == 0 ? add_unbuilt(f, err) : rc;
}

/* --- parent against culprit --- */

/* Parent and culprit take turns, so the culprit's parent is that of the nearest confirming boot. */
static const char *find_parent(const struct filling *f, const char *culprit)
{
	for (size_t i = 0; i < f->n_boots; i++) {
		if (!streq(f->boots[i].purpose, "confirm") ||
		    !streq(f->boots[i].commit_sha, culprit) || !streq(f->boots[i].side, "culprit"))
			continue;
		for (size_t away = 1; away < f->n_boots; away++) {
			size_t at[] = {i - away,
				       i + away}; /* before the first wraps around and is out */

			for (size_t k = 0; k < 2; k++)
				if (at[k] < f->n_boots &&
				    streq(f->boots[at[k]].purpose, "confirm") &&
				    streq(f->boots[at[k]].side, "parent"))
					return f->boots[at[k]].commit_sha;
		}
	}
	return NULL;
}

static int add_pair(struct filling *f, const char *const names[2], const char *const shas[2],
		    struct err *err)
{
	for (int i = 0; i < 2; i++) {
		struct report_side *side = fill_add_side(f->report);

		side->name = xstrdup(names[i]);
		side->rev = xstrdup(shas[i]);
		if (fill_commit(f, shas[i], &side->commit, err) < 0)
			return -(int)err->code;
	}
	return 0;
}

/* Boots of the wanted purpose and side name, of these very commits. */
static void choose_boots(struct filling *f, const char *purpose, const char *const names[2],
			 const char *const shas[2])
{
	for (size_t i = 0; i < f->n_boots; i++) {
		const struct boot_row *boot = &f->boots[i];

		f->side[i] = -1;
		for (int k = 0; k < 2; k++)
			if (streq(boot->purpose, purpose) && streq(boot->side, names[k]) &&
			    streq(boot->commit_sha, shas[k]))
				f->side[i] = k;
	}
}

static int fill_pair(struct filling *f, struct err *err)
{
	static const char *const proof[] = {"parent", "culprit"}, *const ends[] = {"good", "bad"};
	static const char *const fix_proof[] = {"parent", "fix"};
	static const char *const fix_ends[] = {"before", "after"};
	struct report_bisect *b = &f->report->bisect;
	const char *parent = b->row.culprit ? find_parent(f, b->row.culprit) : NULL;
	const char *shas[2] = {parent ? parent : b->row.good, parent ? b->row.culprit : b->row.bad};
	int rc;

	b->confirmed = parent != NULL;
	rc = add_pair(f, parent ? (b->fix ? fix_proof : proof) : (b->fix ? fix_ends : ends), shas,
		      err);
	choose_boots(f, parent ? "confirm" : "end", parent ? proof : ends, shas);
	if (rc == 0)
		rc = fill_values(f, NULL, NULL, 2, &f->report->values, err);
	if (rc == 0)
		rc = fill_environment(f, err);
	if (rc == 0) {
		fill_count_sides(f);
		fill_compare_rows(f->report);
	}
	return rc;
}

int fill_bisect(struct filling *f, struct err *err)
{
	int rc = fill_row(f, err);

	if (rc == 0)
		rc = fill_tested(f, err);
	return rc == 0 ? fill_pair(f, err) : rc;
}
