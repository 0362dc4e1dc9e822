// SPDX-License-Identifier: GPL-2.0-or-later
// Reports: one filled struct in, printers out. Only fill.c and values.c know the store.
#pragma once

#include "db/store.h"
#include "harness/base/buf.h"
#include "harness/stats/compare.h"
#include "reports/values.h"

/*
 *	if (report_print(store, 7, "text", &out, &err) < 0) ...
 *
 * or, to learn the exit status as well:
 *
 *	report_fill(store, 7, &report, &err);
 *	report_format(report, "json", &out, &err);
 *	status = report_exit_status(report);
 *	report_free(report);
 */
enum report_kind { REPORT_RUN, REPORT_COMPARE, REPORT_BISECT };

struct report_cost {
	size_t builds, boots, runs;
	double seconds; /* of builds and boots */
};

/* A column: the one of a run, those of a comparison, parent and culprit (or good and bad). */
struct report_side {
	char *name, *rev;
	char *message;		  /* why it was not measured; "" */
	struct commit_row commit; /* sha NULL where there is none */
	char *build_id;		  /* of a kernel that was not built here, once it ran; NULL */
	size_t boots;		  /* that gave values */
	size_t lost, voided;	  /* that gave none; that a person took out */
	size_t runs, failed_runs;
	double user_s, sys_s, elapsed_s; /* of a boot's runs together, mean; NaN where not known */
};

/* A fact about the environment that is not the same on all sides. */
struct report_difference {
	char *name;
	char **values; /* one a side: what its boots said, several joined by " | "; NULL: nothing */
};

/* One metric in one cell, measured on one kernel. */
struct report_run_row {
	size_t cell, metric;
	size_t boots, runs;
	struct summary of; /* boot values; runs where they are the unit */
	struct interval t, always, median;
	bool converged;
};

/* One metric in one cell, a side against side 0. */
struct report_row {
	size_t cell, metric, side;
	struct comparison c;
	bool suspect; /* see rows_mark_suspect */
};

enum { REPORT_CHECKS = 7 };
extern const char *const report_check_names[REPORT_CHECKS]; /* "ends", "parent", ... as in JSON */

struct report_candidate {
	struct commit_row commit;
	double probability;
};

/* A commit that was measured or tried on the way. */
struct report_tested {
	struct commit_row commit;
	const char *form;  /* "", or "reverted" (bad without the culprit), "aligned" */
	size_t boots;	   /* that gave values */
	double centre, sd; /* of the steering metric */
	char *trouble;	   /* why it or one of its boots gave none; NULL */
};

struct report_bisect {
	struct bisection_row row;
	struct commit_row good, bad;
	struct report_candidate *candidates,
		*culprits; /* a culprit's probability is NaN but for the first */
	size_t n_candidates, n_culprits;
	const char *checks[REPORT_CHECKS]; /* "pass", "fail", "na", "not-run" */
	char **notes;
	struct report_tested *tested;
	size_t n_tested;
	bool confirmed; /* the sides are parent and culprit; else good and bad */
	bool failures;	/* the metric is the share of boots that failed */
	bool fix;	/* what made it better was looked for: the culprit is a fix */
};

struct report {
	enum report_kind kind;
	struct session_row session;
	char *job;	      /* what to type for JOB, not yet quoted */
	struct json *options; /* of the session */
	struct metric_row *metrics;
	size_t n_metrics;
	double build_spread_pct; /* NaN where not known */
	double confidence, interval_pct, interval_floor, min_effect_pct, error;
	bool by_run; /* the unit is a run of one boot */
	struct report_cost cost;
	struct report_side *sides;
	size_t n_sides;
	struct report_difference *differences;
	size_t n_differences;
	struct value_table values;	 /* by side */
	struct report_run_row *run_rows; /* REPORT_RUN; KPIs first, as below */
	size_t n_run_rows;
	struct report_row *rows; /* the others */
	size_t n_rows;
	struct report_bisect bisect; /* REPORT_BISECT */
};

int report_fill(struct store *store, int64_t session, struct report **ret, struct err *err);
void report_free(struct report *r);
static inline void cleanup_report(struct report **r)
{
	report_free(*r);
}
#define autoreport __attribute__((cleanup(cleanup_report)))

/* "text", "json", "lkp" or "mmtests"; ERR_USAGE names the formats there are. The tables of the last
 * two show comparisons and bisections, a run has only one column. */
int report_format(const struct report *r, const char *format, struct buf *out, struct err *err);
bool report_has_format(const char *format,
		       struct err *err); /* likewise, before there is a report */
int report_print(struct store *store, int64_t session, const char *format, struct buf *out,
		 struct err *err);

/*
 * What the command that made the result exits with. compare: 1 a KPI regressed, 2 one is undecided,
 * 125 a side has no boot; bisect: 0 culprit, merge, several, 125 untestable, 128 not ended, else 1;
 * run: 0.
 */
int report_exit_status(const struct report *r);
