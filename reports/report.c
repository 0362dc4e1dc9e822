// SPDX-License-Identifier: GPL-2.0-or-later
// The printer table, and the exit status that goes with a result.
#include "reports/report.h"

#include "reports/json.h"
#include "reports/text.h"

static const struct {
	const char *name;
	void (*print)(const struct report *r, struct buf *out);
	bool of_sides; /* a table of one column is none */
} printers[] = {
	{"text", text_print, false},
	{"json", json_report_print, false},
	{"lkp", text_lkp, true},
	{"mmtests", text_mmtests, true},
};

bool report_has_format(const char *format, struct err *err)
{
	autobuf names = {};

	for (size_t i = 0; i < ARRAY_SIZE(printers); i++) {
		buf_printf(&names, "%s%s", i ? ", " : "", printers[i].name);
		if (streq(printers[i].name, format))
			return true;
	}
	err_set(err, ERR_USAGE, "unknown report format '%s'", format);
	err_hint(err, "there are: %s", buf_str(&names));
	return false;
}

int report_format(const struct report *r, const char *format, struct buf *out, struct err *err)
{
	if (!report_has_format(format, err))
		return -ERR_USAGE;
	for (size_t i = 0; i < ARRAY_SIZE(printers); i++) {
		if (!streq(printers[i].name, format))
			continue;
		if (printers[i].of_sides && r->kind == REPORT_RUN)
			return err_set(err, ERR_USAGE,
				       "'%s' is a table of a comparison, and %lld is a run", format,
				       (long long)r->session.id);
		printers[i].print(r, out);
	}
	return 0;
}

int report_print(struct store *store, int64_t session, const char *format, struct buf *out,
		 struct err *err)
{
	autoreport struct report *r = NULL;
	int rc = report_fill(store, session, &r, err);

	return rc < 0 ? rc : report_format(r, format, out, err);
}

static bool is_undecided(enum verdict v)
{
	return v == VERDICT_INCONCLUSIVE || v == VERDICT_TOO_FEW_BOOTS || v == VERDICT_BIMODAL;
}

static int compare_status(const struct report *r)
{
	bool undecided = false, empty = false;

	for (size_t i = 0; i < r->n_rows; i++) {
		const struct comparison *c = &r->rows[i].c;

		if (c->options.kpi && c->verdict == VERDICT_REGRESSION)
			return 1;
		/* A side without boots is its own answer, not an undecided one. */
		undecided = undecided ||
			    (c->options.kpi && is_undecided(c->verdict) && c->a.n && c->b.n);
	}
	for (size_t i = 0; i < r->n_sides; i++)
		empty = empty || r->sides[i].boots == 0;
	return undecided ? 2 : empty ? 125 : 0;
}

static int bisect_status(const struct report *r)
{
	static const char *const found[] = {"culprit", "merge", "several"};
	const char *outcome = r->bisect.row.outcome;

	for (size_t i = 0; i < ARRAY_SIZE(found); i++)
		if (streq(outcome, found[i]))
			return 0;
	if (!*outcome)
		return 128;
	return streq(outcome, "untestable") ? 125 : 1;
}

int report_exit_status(const struct report *r)
{
	switch (r->kind) {
	case REPORT_COMPARE:
		return compare_status(r);
	case REPORT_BISECT:
		return bisect_status(r);
	default:
		return 0;
	}
}
