// SPDX-License-Identifier: GPL-2.0-or-later
// Reports of made-up sessions: the numbers against R, the JSON's keys, the text against
// tests/golden (UPDATE_GOLDEN=1 writes it anew), hostile texts, exit statuses.
#include "tests/tap.h"

#include "harness/base/fs.h"
#include "reports/json.h"
#include "reports/report.h"

#include <math.h>

static const char sha_good[] = "1111111111111111111111111111111111111111";
static const char sha_parent[] = "2222222222222222222222222222222222222222";
static const char sha_culprit[] = "3333333333333333333333333333333333333333";
static const char sha_broken[] = "4444444444444444444444444444444444444444";
static const char sha_bad[] = "5555555555555555555555555555555555555555";

/*
 * R 4.2: a and b below, w <- wilcox.test(log(b), log(a), exact = TRUE, conf.int = TRUE, conf.level
 * = .99), percent = 100 * (exp(w$estimate) - 1), likewise its interval.
 */
static const double a[] = { 100.2, 101.1, 99.7, 100.5, 100.9, 99.9, 100.4, 100.0 };
static const double b[] = { 90.1, 91.0, 89.6, 90.4, 90.9, 90.0, 90.3, 89.8 };
enum { N = 8 };

static char top[] = "/tmp/culprit-report.XXXXXX";
static struct store *store;
static struct err err;

static void must(int rc)
{
	if (rc < 0) {
		diag("%s", err.message);
		exit(1);
	}
}

static int64_t new_session(const char *kind, const char *options)
{
	struct session_row row = { .kind = (char *)kind,
				   .key = (char *)kind,
				   .state = (char *)"done",
				   .job_name = (char *)"sort",
				   .job_hash = (char *)"h",
				   .machine = (char *)"local",
				   .repo = (char *)"/src/it's",
				   .options = (char *)options };
	struct metric_row metrics[] = {
		{ (char *)"rate", (char *)"keys/s", 1, 1, (char *)"median" },
		{ (char *)"time", (char *)"s", 0, 0, (char *)"mean" },
	};
	int64_t id;

	must(store_session_add(store, &row, &id, &err));
	must(store_metrics_put(store, id, metrics, 2, &err));
	return id;
}

static void commit(const char *sha, const char *subject, const char *author)
{
	struct commit_row row = { .sha = (char *)sha,
				  .subject = (char *)subject,
				  .author = (char *)author,
				  .date_s = 1333000000 };

	must(store_commit_put(store, &row, NULL, &err));
}

static int64_t add_boot(int64_t session, const char *sha, const char *side, const char *purpose,
			const char *status, const char *message)
{
	struct boot_row boot = { .session = session,
				 .commit_sha = (char *)sha,
				 .side = (char *)side,
				 .purpose = (char *)purpose,
				 .seconds = 10 };

	must(store_boot_add(store, &boot, &boot.id, &err));
	boot.status = (char *)status;
	boot.message = (char *)message;
	must(store_boot_end(store, &boot, &err));
	return boot.id;
}

static void add_run(int64_t boot, const char *cell, int number, double rate, double time)
{
	struct run_row run = {
		.boot = boot, .cell = (char *)cell, .number = number, .status = (char *)"ok"
	};
	struct sample_row samples[] = { { "rate", "keys/s", rate }, { "time", "s", time } };

	must(store_run_add(store, &run, samples, 2, NULL, &err));
}

/* Three runs whose median is rate and whose mean time is 1000 / rate. */
static void full_boot(int64_t session, const char *sha, const char *side, const char *purpose,
		      const char *cell, double rate)
{
	int64_t boot = add_boot(session, sha, side, purpose, "ok", "");

	add_run(boot, cell, 1, rate - 3, 1000 / rate - 0.5);
	add_run(boot, cell, 2, rate + 7, 1000 / rate + 0.25);
	add_run(boot, cell, 3, rate, 1000 / rate + 0.25);
}

static void pairs(int64_t session, const char *sha_a, const char *sha_b, const char *name_a,
		  const char *name_b, const char *purpose, const char *cell, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % 2)
			full_boot(session, sha_b, name_b, purpose, cell, b[i]);
		full_boot(session, sha_a, name_a, purpose, cell, a[i]);
		if (i % 2 == 0)
			full_boot(session, sha_b, name_b, purpose, cell, b[i]);
	}
}

static void side(int64_t session, const char *name, const char *sha, const char *message)
{
	struct side_row row = { .session = session,
				.name = (char *)name,
				.rev = (char *)name,
				.commit_sha = (char *)sha,
				.message = (char *)message };

	must(store_side_put(store, &row, &err));
}

static void step(int64_t session, const char *what, const char *sha, const char *data)
{
	struct step_row row = { .session = session,
				.what = (char *)what,
				.commit_sha = (char *)sha,
				.detail = (char *)"",
				.data = (char *)data };

	must(store_step_add(store, &row, NULL, &err));
}

/* The text as it is kept; at most 100 columns and nothing but plain characters. */
static void golden(int64_t session, const char *name)
{
	autofree char *path = xasprintf("tests/golden/report-%s.txt", name);
	autobuf text = {}, want = {};
	size_t widest = 0, strange = 0;

	must(report_print(store, session, "text", &text, &err));
	if (getenv("UPDATE_GOLDEN"))
		must(fs_write(path, text.data, text.len, &err));
	must(fs_read(path, 1 << 20, &want, &err));
	is_str(buf_str(&text), buf_str(&want), "%s: text as in %s", name, path);
	for (const char *line = buf_str(&text); *line; line += strcspn(line, "\n") + 1)
		if (!str_starts(line, "  culprit ")) /* commands hold paths */
			widest = MAX(widest, strcspn(line, "\n"));
	for (const char *c = buf_str(&text); *c; c++)
		strange += (unsigned char)*c >= 0x7f || (*c < ' ' && *c != '\n');
	ok(widest <= 100, "%s: at most 100 columns (%zu)", name, widest);
	is_int(strange, 0, "%s: plain characters alone", name);
}

static struct json *document(int64_t session)
{
	autobuf text = {};
	struct json *d = NULL;

	must(report_print(store, session, "json", &text, &err));
	must(json_parse(text.data, text.len, &d, &err));
	ok(str_starts(buf_str(&text), "{\n"), "a document");
	return d;
}

static double number(const struct json *d, const char *path)
{
	double v;

	return json_num(json_at(d, path), &v) ? v : NAN;
}

static int status(int64_t session)
{
	autoreport struct report *r = NULL;

	must(report_fill(store, session, &r, &err));
	return report_exit_status(r);
}

static void runs(void)
{
	int64_t id = new_session("run", "{\"interval_pct\": 1}");
	autojson struct json *d = NULL;

	commit(sha_good, "sort: use fewer comparisons", "Ann Author");
	for (int i = 0; i < N; i++)
		full_boot(id, sha_good, "", "run", "", a[i]);
	full_boot(id, sha_good, "", "pilot", "", 1e6);
	add_boot(id, sha_good, "", "run", "infra", "no power");
	must(store_boot_void(store, add_boot(id, sha_good, "", "run", "ok", ""), "door open",
			     &err));
	step(id, "build", sha_good, "{\"from_cache\": 0, \"seconds\": 30}");
	step(id, "build", sha_good, "{\"from_cache\": 1, \"seconds\": 0}");

	d = document(id);
	is_int((int64_t)number(d, "schema_version"), 1, "schema_version");
	is_int((int64_t)number(d, "rows.0.boots"), 8, "boots: no pilot, none without a value");
	is_int((int64_t)number(d, "rows.0.runs"), 24, "runs");
	is_double(number(d, "rows.0.centre"), 100.3, 1e-12, "median(a)");
	is_double(number(d, "rows.0.mean"), 100.3375, 1e-12, "mean(a)");
	is_double(number(d, "rows.0.spread"), 0.486789775687908, 1e-12, "sd(a)");
	/* mean(a) + c(-1, 1) * qt(.995, 7) * sd(a) / sqrt(8) */
	is_double(number(d, "rows.0.intervals.t.low"), 99.735217312764888, 1e-12, "t low");
	is_double(number(d, "rows.0.intervals.t.high"), 100.939782687235123, 1e-12, "t high");
	is_double(number(d, "rows.0.half_width_percent"), 0.600256820466043, 1e-10,
		  "half width in percent");
	/* r <- 9; K <- (sqrt(r) / .01)^(2/8); h <- sd(a) / sqrt(8) * sqrt(7 * (K - 1) / (1 - K /
	 * r)) */
	is_double(number(d, "rows.0.intervals.always_valid.low"), 99.23318989233157, 1e-12,
		  "always valid low");
	/* sort(a)[c(1, 8)], 1 - 2 * pbinom(0, 8, .5) = .9921875 */
	is_double(number(d, "rows.0.intervals.median.low"), 99.7, 1e-12, "order statistics low");
	is_double(number(d, "rows.0.intervals.median.high"), 101.1, 1e-12, "order statistics high");
	is_str(json_str(json_at(d, "rows.1.metric")), "time",
	       "the other metric comes after the KPI");
	is_double(number(d, "rows.1.centre"), (1000 / 100.2 + 1000 / 100.4) / 2, 1e-12,
		  "its boot values are means");
	is_str(json_str(json_at(d, "commit")), sha_good, "commit");
	is_int((int64_t)number(d, "cost.builds"), 1, "a build out of the cache costs none");
	is_int((int64_t)number(d, "cost.boots"), 11, "all boots cost");
	is_double(number(d, "cost.seconds"), 140, 1e-12, "build and boots");
	is_int(status(id), 0, "exit status");
	golden(id, "run");
}

static void not_converged(void)
{
	int64_t id = new_session("run", "{\"interval_pct\": 0.1, \"unit\": \"run\"}");
	autojson struct json *d = NULL;

	full_boot(id, sha_good, "", "run", "size=64", a[0]);
	full_boot(id, sha_good, "", "run", "size=1024", b[0]);
	d = document(id);
	is_int((int64_t)number(d, "rows.0.boots"), 1, "runs of one boot");
	is_double(number(d, "rows.0.spread"), 5.131601439446884, 1e-12,
		  "sd(c(97.2, 107.2, 100.2)) between its runs");
	is_str(json_str(json_at(d, "rows.0.cell.size")), "64", "cells count as people do");
	golden(id, "run-unit");
}

static void compared(void)
{
	int64_t id = new_session("compare", "{\"min_effect_pct\": 3}");
	autojson struct json *d = NULL;

	commit(sha_bad, "sort: be \"careful\"", "Bob Builder");
	side(id, "v1", sha_good, "");
	side(id, "v2", sha_bad, "");
	side(id, "v3", NULL, "a.diff does not apply");
	pairs(id, sha_good, sha_bad, "v1", "v2", "compare", "", N);
	add_boot(id, sha_bad, "v2", "compare", "failed", "exited with 1");

	d = document(id);
	is_int((int64_t)json_len(json_at(d, "sides")), 3, "all columns");
	is_str(json_str(json_at(d, "sides.2.message")), "a.diff does not apply",
	       "one says why it was not measured");
	is_int((int64_t)json_len(json_at(d, "rows")), 4, "two metrics against two columns");
	is_int((int64_t)number(d, "rows.0.sides.0.boots"), 8, "boots");
	is_int((int64_t)number(d, "rows.0.sides.1.runs"), 24, "runs");
	is_double(number(d, "rows.0.sides.1.centre"), 90.2, 1e-12, "median(b)");
	is_double(number(d, "rows.0.sides.1.spread"), 0.495515604482560, 1e-12, "sd(b)");
	is_double(number(d, "rows.0.percent"), -10.0547562392217, 1e-12,
		  "Hodges-Lehmann as R has it");
	is_double(number(d, "rows.0.low"), -10.8027750247770, 1e-12, "low");
	is_double(number(d, "rows.0.high"), -9.28143712574849, 1e-12, "high");
	is_double(number(d, "rows.0.level"), 0.99, 1e-12, "level");
	is_double(number(d, "rows.0.p"), 1.55400155400155e-04, 1e-12, "p");
	is_double(number(d, "rows.0.p_adjusted"), 1.55400155400155e-04, 1e-12,
		  "one KPI test: the same adjusted");
	is_double(number(d, "rows.0.centre_ratio_percent"), -10.069790628115674, 1e-12,
		  "ratio of centres");
	is_str(json_str(json_at(d, "rows.0.verdict")), "regression", "verdict");
	is_str(json_str(json_at(d, "rows.0.better")), "higher", "better");
	ok(json_at(d, "rows.0.needs_boots") && !json_str(json_at(d, "rows.0.needs_boots")),
	   "needs_boots is there");
	is_str(json_str(json_at(d, "rows.1.verdict")), "too-few-boots", "the column without boots");
	ok(isnan(number(d, "rows.1.percent")) && json_at(d, "rows.1.percent"),
	   "its percent is null");
	is_int(status(id), 1, "a KPI regressed: 1");
	golden(id, "compare");
}

/* without a min_effect of the job, each row has that of its noise, and no less than 1% */
static void learned(void)
{
	int64_t plain = new_session("compare", "{\"min_effect_pct\": 0}"),
		noisy = new_session("compare", "{\"min_effect_pct\": 0, \"aa\": {\"\": {\"rate\":"
					       " {\"spread_pct\": 12.5}}}}"),
		quiet = new_session("compare", "{\"aa\": {\"\": {\"rate\": {\"spread_pct\": 0.2},"
					       " \"time\": {\"spread_pct\": null}}}}"),
		given = new_session("compare", "{\"min_effect_pct\": 2, \"aa\": {\"\": {\"rate\":"
					       " {\"spread_pct\": 12.5}}}}");
	autobuf out = {};

	pairs(plain, sha_good, sha_bad, "v1", "v2", "compare", "", N);
	pairs(noisy, sha_good, sha_bad, "v1", "v2", "compare", "", N);
	pairs(quiet, sha_good, sha_bad, "v1", "v2", "compare", "", N);
	pairs(given, sha_good, sha_bad, "v1", "v2", "compare", "", N);
	is_int(status(plain), 1, "a loss of a tenth is a regression");
	is_int(status(noisy), 0, "but not on a machine whose boots differ by more");
	is_int(status(quiet), 1, "a quiet machine leaves one percent");
	is_int(status(given), 1, "what the job gives goes before what was learned");
	must(report_print(store, noisy, "text", &out, &err));
	ok(strstr(buf_str(&out), "changes under 1 to 12.5% count as none"), "each row has its own");
}

static void undecided(void)
{
	int64_t id = new_session("compare", "{\"min_effect_pct\": 1}"),
		few = new_session("compare", "{}"), empty = new_session("compare", "{}");

	side(id, "old", sha_good, "");
	side(id, "new", sha_bad, "");
	for (int i = 0; i < N; i++) {
		full_boot(id, sha_good, "old", "compare", "size=64,mode=a,b", 100 + 5 * (i % 4));
		full_boot(id, sha_bad, "new", "compare", "size=64,mode=a,b", 101 + 5 * (i % 3));
		full_boot(id, sha_good, "old", "compare", "size=1024,mode=a,b", -100 - i);
		full_boot(id, sha_bad, "new", "compare", "size=1024,mode=a,b", -140 - i);
	}
	is_int(status(id), 1, "smaller negative values are worse where higher is better");
	golden(id, "compare-cells");

	pairs(few, sha_good, sha_bad, "v1", "v2", "compare", "", 3);
	is_int(status(few), 2, "too few boots are undecided: 2");
	golden(few, "compare-few");
	side(empty, "v1", sha_good, "");
	side(empty, "v2", sha_bad, "cannot be built");
	full_boot(empty, sha_good, "v1", "compare", "", a[0]);
	is_int(status(empty), 125, "a side without boots: 125");
}

static int64_t new_bisection(const char *outcome, const char *culprit, const char *culprits,
			     const char *candidates)
{
	int64_t id =
		new_session("bisect", "{\"min_effect_pct\": 3, \"job\": \"/jobs/my sort.yaml\"}");
	struct bisection_row row = {
		.session = id,
		.good = (char *)sha_good,
		.bad = (char *)sha_bad,
		.metric = (char *)"rate",
		.unit = (char *)"keys/s",
		.cell = (char *)"size=64",
		.better_higher = 1,
		.seed = 7,
		.outcome = (char *)outcome,
		.culprit = (char *)culprit,
		.culprits = (char *)culprits,
		.candidates = (char *)candidates,
		.probability = culprit ? 0.998 : NAN,
		.effect_pct = NAN,
		.effect_low = NAN,
		.effect_high = NAN,
		.effect_good = NAN,
		.effect_bad = NAN,
		.checks = (char *)"{\"ends\": \"pass\", \"parent\": \"pass\", \"revert\": \"pass\","
				  " \"same_code\": \"pass\", \"config\": \"na\", \"alignment\": "
				  "\"fail\"}",
		.notes = (char *)"[\"one step explains everything\"]",
		.n_candidates = 44,
		.smallest_effect_pct = 3.21,
	};

	if (culprit) {
		row.effect_pct = -10.05;
		row.effect_low = -10.8;
		row.effect_high = -9.28;
		row.effect_good = 100.3;
		row.effect_bad = 90.2;
	}
	must(store_bisection_put(store, &row, &err));
	return id;
}

/* A subject and an author that would do harm in a terminal or pretend to be other lines. */
static void hostile_commits(void)
{
	commit(sha_culprit, "sort: \033[2J\033]0;own\007 \342\200\256evil\nSubject: fake \377 <b>",
	       "Eve\r\nBcc: all <e@x>");
	commit(sha_parent,
	       "sort: a subject that goes on and on and on and on and on and on and on and on",
	       "Pat");
	commit(sha_broken, "", "");
}

static void bisected(void)
{
	autofree char *culprits = xasprintf("[\"%s\"]", sha_culprit);
	autofree char *candidates =
		xasprintf("[{\"commit\": \"%s\", \"probability\": 0.998}]", sha_culprit);
	int64_t id = new_bisection("culprit", sha_culprit, culprits, candidates);
	autojson struct json *d = NULL;

	hostile_commits();
	pairs(id, sha_good, sha_bad, "good", "bad", "end", "size=64", 3);
	step(id, "build", sha_broken,
	     "{\"from_cache\": 0, \"seconds\": 5, \"variant\": \"\","
	     " \"why\": \"build: sort.c:1: error\"}");
	full_boot(id, sha_culprit, "", "search", "size=64", b[1]);
	/* a confirmation of another commit that failed before */
	pairs(id, sha_good, sha_parent, "parent", "culprit", "confirm", "size=64", 2);
	pairs(id, sha_parent, sha_culprit, "parent", "culprit", "confirm", "size=64", N);
	full_boot(id, sha_bad, "reverted", "revert", "size=64", a[0]);
	add_boot(id, sha_culprit, "", "search", "failed", "exited with 1");

	d = document(id);
	is_int((int64_t)number(d, "bisect"), id, "bisect");
	is_str(json_str(json_at(d, "outcome")), "culprit", "outcome");
	is_str(json_str(json_at(d, "culprit")), sha_culprit, "culprit");
	is_str(json_str(json_at(d, "culprits.0")), sha_culprit, "culprits");
	is_double(number(d, "probability"), 0.998, 0, "probability");
	is_str(json_str(json_at(d, "cell.size")), "64", "cell");
	is_double(number(d, "candidates.0.probability"), 0.998, 0, "candidates");
	is_double(number(d, "effect.percent"), -10.05, 0, "effect");
	is_str(json_str(json_at(d, "effect.unit")), "keys/s", "its unit");
	is_str(json_str(json_at(d, "checks.alignment")), "fail", "a failed check");
	is_str(json_str(json_at(d, "checks.reached")), "not-run",
	       "a check nobody mentions was not run");
	is_int((int64_t)number(d, "cost.builds"), 1, "builds");
	is_int((int64_t)number(d, "cost.boots"), 29, "boots");
	is_str(json_str(json_at(d, "sides.0.commit")), sha_parent, "the culprit's own parent");
	is_int((int64_t)number(d, "rows.0.sides.0.boots"), 8, "its confirmation boots alone");
	is_double(number(d, "rows.0.percent"), -10.0547562392217, 1e-12, "parent against culprit");
	is_int(status(id), 0, "a culprit: 0");
	golden(id, "bisect");
}

static void other_endings(void)
{
	autofree char *candidates = xasprintf("[{\"commit\": \"%s\", \"probability\": 0.7},"
					      " {\"commit\": \"%s\", \"probability\": 0.295}]",
					      sha_culprit, sha_broken);
	int64_t range = new_bisection("range", NULL, "[]", candidates);
	int64_t same = new_bisection("not-reproduced", NULL, "[]", "[]");
	int64_t open = new_bisection("", NULL, NULL, NULL);
	int64_t none = new_bisection("untestable", NULL, "[]", "[]");
	autojson struct json *d = NULL;

	pairs(range, sha_good, sha_bad, "good", "bad", "end", "size=64", N);
	is_int(status(range), 1, "a range: 1");
	golden(range, "bisect-range");
	is_int(status(same), 1, "not reproduced: 1");
	golden(same, "bisect-same");
	must(store_session_state(store, open, "paused", "the disk\033[1m is full", &err));
	is_int(status(open), 128, "not ended: 128");
	is_int(status(none), 125, "untestable: 125");
	golden(open, "bisect-open");
	d = document(open);
	ok(json_at(d, "outcome") && json_at(d, "culprit") && json_at(d, "effect.percent") &&
		   json_at(d, "subject"),
	   "keys without an answer are there");
	ok(!json_str(json_at(d, "outcome")) && isnan(number(d, "effect.percent")), "and null");
	is_int((int64_t)json_len(json_at(d, "candidates")), 0, "lists are empty");
}

static void cells(void)
{
	static const struct {
		const char *name, *json;
	} cases[] = {
		{ "", "{}" },
		{ "size=64", "{\"size\":\"64\"}" },
		{ "size=64,test=a,b", "{\"size\":\"64\",\"test\":\"a,b\"}" },
		{ "a=x,y=z=1,b=", "{\"a\":\"x\",\"y\":\"z=1\",\"b\":\"\"}" },
		{ "odd", "{\"odd\":\"\"}" },
		{ "a=,,c=1", "{\"a\":\",\",\"c\":\"1\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autojson struct json *cell = json_cell(cases[i].name);
		autobuf text = {};

		json_print(cell, false, &text);
		is_str(buf_str(&text), cases[i].json, "cell '%s'", cases[i].name);
	}
}

static void refused(void)
{
	autobuf out = {};

	is_int(report_print(store, 999, "text", &out, &err), -ERR_NOT_FOUND,
	       "a session that is not there");
	is_int(report_print(store, 1, "latex", &out, &err), -ERR_USAGE,
	       "a format that is not there");
	ok(err.hint && strstr(err.hint, "json"), "names those there are");
}

int main(void)
{
	if (!mkdtemp(top))
		return 1;
	must(store_open(top, &store, &err));
	runs();
	not_converged();
	compared();
	undecided();
	bisected();
	other_endings();
	cells();
	learned();
	refused();
	store_close(store);
	err_release(&err);
	fs_remove_tree(top, &err);
	return plan_done();
}
