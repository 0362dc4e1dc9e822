// SPDX-License-Identifier: GPL-2.0-or-later
// A bisection as text: the outcome in words first, then what makes it believable.
#include "reports/text.h"

#include "harness/base/clock.h"

#include <math.h>

#define CANDIDATES_MAX 20
#define NOTE_MAX       400

static bool is_outcome(const struct report *r, const char *outcome)
{
	return streq(r->bisect.row.outcome, outcome);
}

static void add_culprit(const struct report_candidate *c, struct buf *out)
{
	char day[32];

	buf_adds(out, "  ");
	text_commit(out, &c->commit, TEXT_SUBJECT);
	if (c->commit.author && *c->commit.author) {
		buf_adds(out, "\n    by ");
		text_safe(out, c->commit.author, 60);
		if (c->commit.date_s)
			buf_printf(out, ", %.10s", clock_format_wall(c->commit.date_s, day));
	}
	buf_addch(out, '\n');
}

static const char *headline(const struct report *r)
{
	static const struct {
		const char *outcome, *words,
			*fix; /* fix: where one was looked for, NULL the same */
	} lines[] = {
		{"culprit", "the culprit is found", "the fix is found"},
		{"merge", "the culprit is a merge: all that it joins is good",
		 "the fix is a merge: all that it joins is still slow"},
		{"several", "several commits made it worse", "several commits made it better"},
		{"range", "no single commit is proved; it is one of these"},
		{"budget", "the budget is used up; what is known so far"},
		{"not-monotone",
		 "the history goes bad, good and bad again: no single first bad commit",
		 "the history is fixed, broken and fixed again: no single fix"},
		{"not-reproduced", "NOT REPRODUCED: good and bad do not differ here",
		 "NOT FIXED: the newer end is no better than the older one here"},
		{"untestable",
		 "UNTESTABLE: too little of this range can be built, booted and measured"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (is_outcome(r, lines[i].outcome))
			return r->bisect.fix && lines[i].fix ? lines[i].fix : lines[i].words;
	return "not ended yet";
}

/* Everything that may be it, with how probable each is. */
static void add_candidates(const struct report_bisect *b, struct buf *out)
{
	for (size_t i = 0; i < MIN(b->n_candidates, (size_t)CANDIDATES_MAX); i++) {
		buf_printf(out, "  %5.1f%%  ", 100 * b->candidates[i].probability);
		text_commit(out, &b->candidates[i].commit, TEXT_SUBJECT);
		buf_addch(out, '\n');
	}
	if (b->n_candidates > CANDIDATES_MAX)
		buf_printf(out, "  and %zu less probable ones\n", b->n_candidates - CANDIDATES_MAX);
}

static void add_smallest(const struct report *r, struct buf *out)
{
	if (is_outcome(r, "not-reproduced") && isfinite(r->bisect.row.smallest_effect_pct))
		buf_printf(out, "\n  A change of %.2g%% or more would have shown in these boots.\n",
			   fabs(r->bisect.row.smallest_effect_pct));
}

static void add_outcome(const struct report *r, struct buf *out)
{
	const struct report_bisect *b = &r->bisect;

	buf_printf(out, "Bisection %lld: %s\n", (long long)r->session.id, headline(r));
	if (b->n_culprits || b->n_candidates)
		buf_addch(out, '\n');
	for (size_t i = 0; i < b->n_culprits; i++)
		add_culprit(&b->culprits[i], out);
	if (!b->n_culprits)
		add_candidates(b, out);
	add_smallest(r, out);
}

/* The level that so few boots reach, and how many they were. */
static void add_effect_boots(const struct report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct comparison *c = &r->rows[i].c;

		if (!text_is_steering(r, &r->rows[i]))
			continue;
		if (c->level > 0)
			buf_printf(out, " (%.3g%% interval)", 100 * c->level);
		buf_printf(out, "\n             from %zu and %zu %s boots", c->a.n, c->b.n,
			   r->bisect.confirmed ? "fresh" : "end");
	}
}

static void add_effect(const struct report *r, struct buf *out)
{
	const struct bisection_row *row = &r->bisect.row;
	char pct[32], good[32], bad[32];

	if (isnan(row->effect_good) || isnan(row->effect_bad))
		return;
	buf_printf(out, "  effect     %s -> %s ", text_value(row->effect_good, good),
		   text_value(row->effect_bad, bad));
	text_safe(out, row->unit, 20);
	if (isfinite(row->effect_pct))
		buf_printf(out, ", %s [%+.1f%%, %+.1f%%]", text_percent(row->effect_pct, pct),
			   row->effect_low, row->effect_high);
	add_effect_boots(r, out);
	buf_addch(out, '\n');
}

static void add_facts(const struct report *r, struct buf *out)
{
	const struct report_bisect *b = &r->bisect;
	const struct bisection_row *row = &b->row;

	buf_addch(out, '\n');
	add_effect(r, out);
	if (b->n_culprits && isfinite(row->probability))
		buf_printf(out, "  certainty  %.1f%% by all boots together\n",
			   100 * row->probability);
	buf_adds(out, "  job        ");
	text_safe(out, r->session.job_name, 40);
	buf_adds(out, " on ");
	text_safe(out, r->session.machine, 30);
	buf_adds(out, "\n  metric     ");
	text_safe(out, row->metric, 50);
	if (*row->cell) {
		buf_adds(out, " of ");
		text_safe(out, row->cell, 60);
	}
	buf_printf(out, " (%s is better)\n  range      %lld commits\n    %s   ",
		   row->better_higher ? "higher" : "lower", (long long)row->n_candidates,
		   b->fix ? "before" : "good  ");
	text_commit(out, &b->good, TEXT_SUBJECT);
	buf_adds(out, b->fix ? "\n    after    " : "\n    bad      ");
	text_commit(out, &b->bad, TEXT_SUBJECT);
	buf_addch(out, '\n');
}

static void add_checks(const struct report *r, struct buf *out)
{
	static const struct {
		const char *name, *words, *fix; /* fix as in headline */
	} checks[REPORT_CHECKS] = {
		{"ends", "good and bad differ when measured again",
		 "before and after differ when measured again"},
		{"parent", "parent against culprit on fresh boots",
		 "parent against fix on fresh boots"},
		{"revert", "bad with the culprit reverted gets at least half of the loss back",
		 "without the fix at least half of the gain is gone"},
		{"same_code", "parent and culprit are different code",
		 "parent and fix are different code"},
		{"config", "parent and culprit have the same effective config",
		 "parent and fix have the same effective config"},
		{"alignment", "the step is still there with functions aligned to 64 bytes"},
		{"reached", "the workload reaches the changed functions"},
	};
	static const struct {
		const char *verdict, *words;
	} verdicts[] = {{"pass", "passed"}, {"fail", "FAILED"}, {"na", "not applicable"}};

	bool any = false;

	for (size_t i = 0; i < REPORT_CHECKS; i++)
		any = any || !streq(r->bisect.checks[i], "not-run");
	buf_adds(out, any ? "\nChecks\n" : "\nChecks: none was run\n");
	for (size_t i = 0; any && i < REPORT_CHECKS; i++) {
		const char *words = "not run";

		for (size_t k = 0; k < ARRAY_SIZE(verdicts); k++)
			if (streq(r->bisect.checks[i], verdicts[k].verdict))
				words = verdicts[k].words;
		buf_printf(out, "  %-14s  %s\n", words,
			   r->bisect.fix && checks[i].fix ? checks[i].fix : checks[i].words);
	}
}

/* What this commit is in the bisection, for the row's first word. */
static const char *role(const struct report_bisect *b, const struct report_tested *t)
{
	if (*t->form)
		return t->form;
	for (size_t i = 0; i < b->n_culprits; i++)
		if (streq(b->culprits[i].commit.sha, t->commit.sha))
			return b->fix ? "fix" : "culprit";
	if (streq(t->commit.sha, b->row.good))
		return b->fix ? "before" : "good";
	if (streq(t->commit.sha, b->row.bad))
		return b->fix ? "after" : "bad";
	return "";
}

static void add_tested(const struct report *r, struct buf *out)
{
	const struct report_bisect *b = &r->bisect;
	char centre[32], spread[32];

	if (!b->n_tested)
		return;
	buf_printf(out,
		   "\nHow it went: what was tried, in this order\n  %8s %5s %10s %7s  commit\n", "",
		   "boots", "value", "spread");
	for (size_t i = 0; i < b->n_tested; i++) {
		const struct report_tested *t = &b->tested[i];
		struct summary of = {.median = t->centre, .sd = t->sd};

		buf_printf(out, "  %8s %5zu %10s %7s  ", role(b, t), t->boots,
			   text_value(t->centre, centre), text_spread(&of, spread));
		text_commit(out, &t->commit, 44);
		buf_addch(out, '\n');
		if (t->trouble) {
			buf_adds(out, "           ");
			text_safe(out, t->trouble, 88);
			buf_addch(out, '\n');
		}
	}
	buf_printf(out, "  step by step: culprit log %lld\n", (long long)r->session.id);
}

static void add_notes(const struct report_bisect *b, struct buf *out)
{
	if (!b->notes)
		return;
	buf_adds(out, "\nNotes\n");
	for (char **note = b->notes; *note; note++) {
		buf_adds(out, "  - ");
		text_safe(out, *note, NOTE_MAX);
		buf_addch(out, '\n');
	}
}

/* One word of a shell command as it must be typed. */
static void add_word(struct buf *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
	autobuf safe = {};

	text_safe(&safe, word, 4096);
	buf_addch(out, ' ');
	if (*word && word[strspn(word, plain)] == '\0') {
		buf_adds(out, word);
		return;
	}
	buf_addch(out, '\'');
	for (const char *s = buf_str(&safe); *s; s++)
		if (*s == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addch(out, *s);
	buf_addch(out, '\'');
}

/* What is to be typed: where, for which job. */
struct typed {
	const struct report *report;
	const char *repo, *job;
};

static void add_command(const struct typed *t, const char *verb, const char *const *words,
			struct buf *out)
{
	size_t line;

	buf_adds(out, "  culprit");
	if (*t->repo) {
		buf_adds(out, " --repo");
		add_word(out, t->repo);
	}
	add_word(out, verb);
	add_word(out, t->job);
	buf_adds(out, " \\\n   ");
	line = out->len;
	for (; *words; words++) {
		autobuf word = {};

		add_word(&word, *words);
		if (out->len - line > 1 && out->len - line + word.len > 66 && **words == '-') {
			buf_adds(out, " \\\n   ");
			line = out->len;
		}
		buf_add(out, word.data, word.len);
	}
	buf_addch(out, '\n');
}

static void add_search_command(const struct typed *t, const char *good, const char *bad,
			       struct buf *out)
{
	const struct bisection_row *row = &t->report->bisect.row;
	autofree char *seed = xasprintf("%llu", (unsigned long long)row->seed);
	const char *words[13] = {"--good", good, "--bad", bad};
	size_t n = 4;

	words[n++] = t->report->bisect.failures ? "--failures" : "--metric";
	if (!t->report->bisect.failures)
		words[n++] = row->metric;
	words[n++] = "--seed";
	words[n++] = seed;
	if (*row->cell) {
		words[n++] = "--cell";
		words[n++] = row->cell;
	}
	if (t->report->bisect.fix)
		words[n++] = "--find-fix";
	words[n] = "--again";
	add_command(t, "bisect", words, out);
}

static void add_pair(const struct typed *t, const char *a, const char *b, struct buf *out)
{
	const char *words[] = {a, b, NULL};

	add_command(t, "compare", words, out);
}

void text_reproduce(const struct report *r, const char *repo, const char *job, struct buf *out)
{
	const struct typed t = {r, repo, job};
	const struct report_bisect *b = &r->bisect;
	autofree char *good = xstrndup(b->row.good, 12), *bad = xstrndup(b->row.bad, 12);

	if (b->confirmed) {
		autofree char *parent = xstrndup(r->sides[0].commit.sha, 12);
		autofree char *culprit = xstrndup(r->sides[1].commit.sha, 12);
		autofree char *without = xasprintf("%s-%s", bad, culprit);

		add_pair(&t, parent, culprit, out);
		/* a culprit that cannot be reverted leaves the ends to compare */
		add_pair(&t, streq(b->checks[2], "na") ? good : without, bad, out);
	} else {
		add_pair(&t, good, bad, out);
	}
	add_search_command(&t, good, bad, out);
}

void text_bisect(const struct report *r, struct buf *out)
{
	add_outcome(r, out);
	add_facts(r, out);
	if (r->bisect.confirmed)
		buf_printf(out, "\nParent against %s, fresh boots\n",
			   r->bisect.fix ? "fix" : "culprit");
	else
		buf_adds(out, r->bisect.fix ? "\nBefore against after\n" : "\nGood against bad\n");
	text_sides(r, out);
	text_table(r, out);
	text_environment(r, out);
	add_checks(r, out);
	add_tested(r, out);
	add_notes(&r->bisect, out);
	text_cost(r, out);
	buf_adds(out, "\nReproduce\n");
	text_reproduce(r, r->session.repo, r->job, out);
}
