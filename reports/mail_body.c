// SPDX-License-Identifier: GPL-2.0-or-later
// The text of a mail: the claim and what makes it believable first, at most some 90 lines.
#include "reports/mail.h"

#include "harness/base/clock.h"
#include "harness/base/safe.h"
#include "harness/base/util.h"
#include "reports/cells.h"
#include "reports/rows.h"
#include "reports/text.h"

#include <math.h>

#define COLUMNS	   72
#define OTHERS_MAX 12 /* rows of other metrics and cells */

void mail_wrap(struct buf *out, const char *head, const char *text)
{
	size_t start = out->len, indent = strspn(head, " ");

	buf_adds(out, head);
	while (*text) {
		size_t space = strspn(text, " "), word = strcspn(text + space, " ");

		if (out->len - start + space + word > COLUMNS && word &&
		    out->len - start > indent + 2) {
			buf_addch(out, '\n');
			start = out->len;
			for (size_t i = 0; i < indent + 2; i++)
				buf_addch(out, ' ');
			space = 0;
		}
		for (size_t i = 0; i < space && word; i++)
			buf_addch(out, ' ');
		buf_add(out, text + strspn(text, " "), word);
		text += strspn(text, " ") + word;
	}
	buf_addch(out, '\n');
}

/* A line of prose from parts that are foreign: safe, then wrapped. */
static void add_line(struct buf *out, const char *head, const char *text)
{
	autobuf safe = {};

	text_safe(&safe, text, 400);
	mail_wrap(out, head, buf_str(&safe));
}

static const char *check(const struct report *r, size_t i)
{
	return r->bisect.checks[i];
}

/* "reverts 98% of ..." in words for each of pass, fail, na and not-run. */
static const char *by_check(const char *verdict, const char *pass, const char *na)
{
	if (streq(verdict, "pass"))
		return pass;
	if (streq(verdict, "fail"))
		return "FAILED";
	return streq(verdict, "na") ? na : "was not run";
}

static const struct report_row *steering(const struct report *r)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (text_is_steering(r, &r->rows[i]))
			return &r->rows[i];
	return NULL;
}

static const char *worse(const struct bisection_row *row)
{
	return (row->effect_bad > row->effect_good) == !!row->better_higher ? "better" : "worse";
}

void mail_subject(const struct report *r, const struct mail_facts *facts, struct buf *out)
{
	const struct bisection_row *row = &r->bisect.row;
	const char *subject = r->bisect.culprits[0].commit.subject;
	const char *colon = subject ? strstr(subject, ": ") : NULL;

	buf_addch(out, '[');
	text_safe(out, facts->tree, 30);
	buf_addch(out, ']');
	if (colon && colon - subject < 24 && !memchr(subject, ' ', colon - subject)) {
		autofree char *area = xstrndup(subject, colon - subject);

		buf_adds(out, " [");
		text_safe(out, area, 24);
		buf_addch(out, ']');
	}
	buf_printf(out, " %.10s: ", row->culprit);
	text_safe(out, row->metric, 60);
	if (isfinite(row->effect_pct))
		buf_printf(out, " %.1f%%", fabs(row->effect_pct));
	buf_adds(out, streq(worse(row), "worse") ? " regression" : " improvement");
}

/* --- the first lines --- */

static void add_claim(const struct report *r, struct buf *out)
{
	const struct bisection_row *row = &r->bisect.row;
	const struct report_row *s = steering(r);
	char good[32], bad[32];
	autobuf text = {};

	buf_printf(&text, "%s of %s got ", row->metric, r->session.job_name);
	if (isfinite(row->effect_pct))
		buf_printf(&text, "%.1f%% ", fabs(row->effect_pct));
	buf_printf(&text, "%s: %s -> %s %s", worse(row), text_value(row->effect_good, good),
		   text_value(row->effect_bad, bad), row->unit);
	add_line(out, "", buf_str(&text));
	buf_clear(&text);
	if (isfinite(row->effect_pct))
		buf_printf(&text, "change %+.1f%% [%+.1f%%, %+.1f%%]", row->effect_pct,
			   row->effect_low, row->effect_high);
	if (s && s->c.level > 0)
		buf_printf(&text, " (%.3g%% interval), %zu and %zu fresh boots", 100 * s->c.level,
			   s->c.a.n, s->c.b.n);
	add_line(out, "", buf_str(&text));
}

/* What kind of machine numbers come from is the first thing that readers ask. */
static void add_where(const struct report *r, const struct json *facts, struct buf *out)
{
	const char *clock = json_str(json_get(facts, "clocksource"));
	bool guest = clock && (str_starts(clock, "kvm") || str_starts(clock, "hyperv") ||
			       str_starts(clock, "xen"));
	autobuf text = {};

	if (str_starts(r->session.machine, "qemu"))
		buf_adds(&text, "a virtual machine");
	else if (guest)
		buf_printf(&text, "a virtual machine (its clock source is %s)", clock);
	else if (clock)
		buf_printf(&text, "bare metal, as far as its clock source tells (%s)", clock);
	else
		buf_adds(&text, "not known whether bare metal or virtual");
	buf_printf(&text, ", %s", r->session.machine);
	add_line(out, "machine: ", buf_str(&text));
}

static void add_revert(const struct report *r, struct buf *out)
{
	autofree char *regained =
		isfinite(r->bisect.row.regained_pct)
			? xasprintf("on top of bad regains %.0f%% of the loss",
				    r->bisect.row.regained_pct)
			: xstrdup("on top of bad regains at least half of the loss");

	add_line(out, "revert: ", by_check(check(r, 2), regained, "does not apply on top of bad"));
}

/* Rows of this mail: significant, no noise, not suspect, and neither zero nor the claim itself. */
static bool is_moved(const struct report *r, const struct report_row *row)
{
	return (row->c.verdict == VERDICT_REGRESSION || row->c.verdict == VERDICT_IMPROVEMENT) &&
	       !row_is_noise(&row->c) && !row->suspect && !text_is_steering(r, row);
}

static void add_row_name(const struct report *r, const struct report_row *row, struct buf *out)
{
	text_safe(out, r->metrics[row->metric].name, 50);
	if (!text_one_cell(r)) {
		buf_addch(out, ' ');
		text_safe(out, r->values.cells[row->cell], 50);
	}
}

static void add_better(const struct report *r, struct buf *out)
{
	autobuf text = {};
	char pct[32];
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows && n < 3; i++) {
		const struct report_row *row = &r->rows[i];

		if (!is_moved(r, row) || row->c.verdict != VERDICT_IMPROVEMENT)
			continue;
		buf_adds(&text, n++ ? ", " : "");
		add_row_name(r, row, &text);
		if (!isnan(row_change_pct(&row->c)))
			buf_printf(&text, " %s", text_percent(row_change_pct(&row->c), pct));
	}
	add_line(out,
		 "better by the same commit: ", n ? buf_str(&text) : "nothing that was measured");
}

static void add_first(const struct report *r, const struct mail_facts *facts,
		      const struct json *environment, struct buf *out)
{
	autobuf commit = {};

	add_claim(r, out);
	text_commit(&commit, &r->bisect.culprits[0].commit, 48);
	mail_wrap(out, "commit: ", buf_str(&commit));
	add_where(r, environment, out);
	add_revert(r, out);
	add_line(out, "alignment: ",
		 by_check(check(r, 5), "holds with functions aligned to 64 bytes",
			  "not applicable, nothing was built with other alignment"));
	add_line(out, "changed functions: ",
		 by_check(check(r, 6), "are reached by the workload", "not applicable"));
	add_line(out, "mechanism: ", "no monitor was recorded with these boots");
	add_better(r, out);
	add_line(out, "newest commit: ", facts->newest);
	add_line(out, "second machine: ", facts->second_machine);
}

/* --- the rest --- */

static void add_fact(const struct json *environment, const char *key, const char *label,
		     struct buf *out)
{
	const struct json *value = json_get(environment, key);
	autobuf text = {};

	if (json_str(value))
		buf_adds(&text, json_str(value));
	else if (value)
		json_print(value, false, &text);
	if (text.len)
		add_line(out, label, buf_str(&text));
}

static void add_setup(const struct report *r, const struct mail_facts *facts,
		      const struct json *environment, struct buf *out)
{
	struct cell_words cell = cell_words(r->bisect.row.cell);
	autobuf parameters = {};

	buf_adds(out, "\nSetup\n");
	add_fact(environment, "cpu_model", "  cpu: ", out);
	add_fact(environment, "cpus", "  cpus: ", out);
	add_fact(environment, "memory_mb", "  memory, MB: ", out);
	add_fact(environment, "qemu", "  qemu: ", out);
	add_line(out, "  compiler: ",
		 facts->toolchain && *facts->toolchain ? facts->toolchain : "not recorded");
	add_line(out, "  config: ",
		 facts->config && *facts->config ? "attached as config.txt" : "none, no kernel");
	for (size_t i = 0; i < cell.n; i++)
		buf_printf(&parameters, "%s%s=%s", i ? " " : "", cell.keys[i], cell.values[i]);
	add_line(out, "  parameters: ", parameters.len ? buf_str(&parameters) : "none");
	if (isfinite(r->build_spread_pct)) {
		autofree char *text =
			xasprintf("builds of one commit differ by %.2g%%", r->build_spread_pct);

		add_line(out, "  noise: ", text);
	}
	cell_words_release(&cell);
}

static void add_checks(const struct report *r, struct buf *out)
{
	static const char *const words[REPORT_CHECKS] = {
		"good and bad differ when measured again",
		"parent against culprit on fresh boots",
		"the revert gets at least half of the loss back",
		"parent and culprit are different code",
		"parent and culprit have the same config",
		"still there with functions aligned to 64 bytes",
		"the workload reaches the changed functions",
	};

	buf_adds(out, "\nChecks\n");
	for (size_t i = 0; i < REPORT_CHECKS; i++) {
		const char *verdict = check(r, i);

		buf_printf(out, "  %-14s %s\n",
			   streq(verdict, "pass")   ? "pass"
			   : streq(verdict, "fail") ? "FAIL"
			   : streq(verdict, "na")   ? "not applicable"
						    : "not run",
			   words[i]);
	}
}

static void add_untested(const struct report *r, struct buf *out)
{
	autobuf text = {};

	for (size_t i = 0; i < REPORT_CHECKS; i++)
		if (streq(check(r, i), "not-run"))
			buf_printf(&text, "%s, ", report_check_names[i]);
	if (isnan(r->build_spread_pct))
		buf_adds(&text, "spread between builds of one commit, ");
	buf_adds(&text, "a profile of both sides");
	add_line(out, "Not tested: ", buf_str(&text));
}

static void add_moved_row(const struct report *r, const struct report_row *row, struct buf *out)
{
	const struct comparison *c = &row->c;
	char value[32], spread[32];
	autobuf line = {}, interval = {};

	buf_printf(&line, "  %9s %7s", text_value(c->a.median, value), text_spread(&c->a, spread));
	if (isnan(row_change_pct(c)))
		buf_printf(&line, " %8s", text_value(c->difference.estimate, value));
	else
		buf_printf(&line, " %8s", text_percent(row_change_pct(c), value));
	text_interval(c, &interval);
	buf_printf(&line, " %-15s", buf_str(&interval));
	buf_printf(&line, " %9s %7s  ", text_value(c->b.median, value), text_spread(&c->b, spread));
	add_row_name(r, row, &line);
	mail_ascii(out, buf_str(&line));
	buf_addch(out, '\n');
}

/* The claim's row, then what else moved either way; all of it is in the attached table. */
static void add_table(const struct report *r, struct buf *out)
{
	const struct report_row *first = steering(r);
	size_t shown = 0, moved = 0;

	buf_printf(out, "\n  %9s %7s %8s %-15s %9s %7s\n", "parent", "spread", "change", "interval",
		   "culprit", "spread");
	if (first)
		add_moved_row(r, first, out);
	for (size_t i = 0; i < r->n_rows; i++) {
		if (!is_moved(r, &r->rows[i]))
			continue;
		moved++;
		if (shown < OTHERS_MAX) {
			shown++;
			add_moved_row(r, &r->rows[i], out);
		}
	}
	if (!moved)
		buf_adds(out, "No other metric or cell moved.\n");
	else if (moved > shown)
		buf_printf(out, "%zu more moved: see table.txt\n", moved - shown);
	add_line(out, "",
		 "Centres are medians of boot values, changes Hodges-Lehmann with their interval.");
}

static void add_reproduce(const struct report *r, struct buf *out)
{
	autobuf name = {};

	safe_filename(&name, r->session.job_name, 60);
	buf_adds(&name, ".yaml");
	buf_adds(out, "\nTo reproduce, with the attached job file in the tree's directory\n");
	text_reproduce(r, "", buf_str(&name), out);
}

static void add_tags(const struct report *r, const struct mail_facts *facts, struct buf *out)
{
	const struct commit_row *c = &r->bisect.culprits[0].commit;

	buf_adds(out, "\nFor the fix\n");
	if (address_is_valid(facts->from.address)) {
		buf_adds(out, "Reported-by: ");
		text_safe(out, facts->from.name, 60);
		buf_printf(out, "%s<%s>\n", *facts->from.name ? " " : "", facts->from.address);
	}
	if (facts->link)
		buf_printf(out, "Closes: %s\n", facts->link);
	buf_printf(out, "Fixes: %.12s (\"", c->sha);
	text_safe(out, c->subject, 120);
	buf_adds(out, "\")\n");
	if (facts->regzbot)
		buf_printf(out, "\n#regzbot introduced: %s\n", c->sha);
}

void mail_body(const struct report *r, const struct mail_facts *facts, struct buf *out)
{
	ERR_CLEANUP struct err ignored = {};
	autojson struct json *environment = NULL;

	if (facts->environment)
		json_parse(facts->environment, strlen(facts->environment), &environment, &ignored);
	add_first(r, facts, environment, out);
	add_setup(r, facts, environment, out);
	add_checks(r, out);
	add_untested(r, out);
	add_table(r, out);
	add_reproduce(r, out);
	add_tags(r, facts, out);
}
