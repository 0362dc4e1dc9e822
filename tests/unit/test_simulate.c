// SPDX-License-Identifier: GPL-2.0-or-later
// Simulated histories: what a model file becomes, what a model may not be, and what the counts
// mean.
#include "harness/base/buf.h"
#include "harness/search/sim_model.h"
#include "tests/tap.h"

static int parse(const char *text, size_t len, struct sim_model *ret)
{
	ERR_CLEANUP struct err err = {};
	int r = sim_model_parse(text, len, "m.yaml", ret, &err);

	if (r < 0)
		diag("%s", err.message);
	return r;
}

static void is_default(const struct sim_model *m, const char *what)
{
	ERR_CLEANUP struct err err = {};

	ok(!m->dag && m->commits == 64 && !m->merges, "%s: a line of 64 commits", what);
	ok(m->sigma == 1 && m->sigma_boot == 0 && m->outliers == 0.02 && m->outlier_size == 5,
	   "%s: noise of 1 with outliers", what);
	ok(m->drift == 0 && m->drift_period == 40 && m->round == 0 && m->missing == 0 &&
		   !m->known && !m->n_modes,
	   "%s: and nothing else", what);
	ok(m->runs == 1 && !m->n_steps && m->untestable == 0 && m->untestable_run == 4,
	   "%s: one run a boot, no step, all testable", what);
	ok(m->cost_build == 2 && m->cost_boot == 1 && m->cost_run == 0, "%s: costs", what);
	ok(m->error == 0.01 && m->ends_max == 120 && m->confirm, "%s: the search's own", what);
	is_int(sim_model_check(m, &err), 0, "%s: is a good model", what);
}

static void defaults(void)
{
	struct sim_model m = sim_model_default();

	is_default(&m, "default");
	m = (struct sim_model){};
	is_int(parse(" # nothing\n\n#", 13, &m), 0, "a file of comments");
	is_default(&m, "comments");
	m = (struct sim_model){};
	is_int(parse("{}", 2, &m), 0, "a mapping of nothing");
	is_default(&m, "mapping");
	is_int(parse("\0runs: 7", 8, &m), -ERR_USAGE, "a file that hides behind a NUL");
}

static void keys(void)
{
	static const char text[] =
		"history: {shape: dag, commits: 90, merges: 4}\n"
		"noise: {sigma: 2, sigma_boot: 3, outliers: 4%, outlier_size: 6, drift: 7,\n"
		"  drift_period: 8, round: 9, missing: 0.1, known: yes,\n"
		"  modes: [{share: 0.2, shift: 11}, {share: 30%, shift: -12}]}\n"
		"runs: 13\n"
		"steps: [{delta: 14}, {delta: -15, at: 89}, {delta: 0, at: 0}]\n"
		"untestable: {rate: 0.17, run: 18}\n"
		"cost: {build: 19, boot: 20, run: 21}\n"
		"error: 2%\nends_max: 23\nconfirm: no\n";
	struct sim_model m = {};
	ERR_CLEANUP struct err err = {};

	is_int(parse(text, strlen(text), &m), 0, "every key");
	ok(m.dag && m.commits == 90 && m.merges == 4, "history");
	ok(m.sigma == 2 && m.sigma_boot == 3 && m.outliers == 0.04 && m.outlier_size == 6,
	   "sigma and outliers");
	ok(m.drift == 7 && m.drift_period == 8 && m.round == 9 && m.missing == 0.1 && m.known,
	   "the rest of the noise");
	ok(m.n_modes == 2 && m.modes[0].share == 0.2 && m.modes[0].shift == 11 &&
		   m.modes[1].share == 0.3 && m.modes[1].shift == -12,
	   "modes");
	ok(m.n_steps == 3 && m.steps[0].delta == 14 && m.steps[0].at == SIM_ANYWHERE &&
		   m.steps[1].delta == -15 && m.steps[1].at == 89 && m.steps[2].at == 0,
	   "steps");
	ok(m.runs == 13 && m.untestable == 0.17 && m.untestable_run == 18, "runs, untestable");
	ok(m.cost_build == 19 && m.cost_boot == 20 && m.cost_run == 21, "costs");
	ok(m.error == 0.02 && m.ends_max == 23 && !m.confirm, "the search's own");
	is_int(sim_model_check(&m, &err), 0, "is a good model");
}

static void too_many(void)
{
	struct sim_model m = {};
	autobuf text = {};

	buf_adds(&text, "steps: [{delta: 1}");
	for (int i = 1; i < SIM_STEPS_MAX; i++)
		buf_adds(&text, ", {delta: 1}");
	buf_adds(&text, "]");
	is_int(parse(buf_str(&text), text.len, &m), 0, "as many steps as fit");
	is_int(m.n_steps, SIM_STEPS_MAX, "are all there");
	buf_truncate(&text, text.len - 1);
	buf_adds(&text, ", {delta: 1}]");
	m.n_steps = 1;
	is_int(parse(buf_str(&text), text.len, &m), -ERR_USAGE, "one more is a fault");
	is_int(m.n_steps, 1, "which leaves the model as it was");
}

/* What a caller may hand over without a file. */
static void refused(const char *what, struct sim_model m, const char *message)
{
	struct sim_report report = {.trials = -7};
	ERR_CLEANUP struct err err = {};

	is_int(simulate(&m, 5, 1, 1, &report, &err), -ERR_USAGE, "%s", what);
	ok(err.message && strstr(err.message, message), "%s: says why", what);
	is_int(report.trials, -7, "%s: no report", what);
}

static void checks(void)
{
	struct sim_model m = sim_model_default();
	struct sim_report report;
	ERR_CLEANUP struct err err = {};

	m.merges = 3;
	refused("a line with merges", m, "linear");
	m.dag = true;
	m.commits = 8;
	refused("more merges than commits", m, "at least 9");
	m = sim_model_default();
	m.n_steps = 1;
	m.steps[0].at = 64;
	refused("a step outside", m, "0 to 63");
	m = sim_model_default();
	m.untestable = 0.81;
	refused("more untestable than blocks reach", m, "0.8");
	m = sim_model_default();
	m.n_modes = 2;
	m.modes[0].share = m.modes[1].share = 0.51;
	refused("modes of over 100%", m, "shares");
	m.modes[0].share = NAN;
	refused("a share that is no number", m, "share");
	m = sim_model_default();
	is_int(simulate(&m, 0, 1, 1, &report, &err), -ERR_USAGE, "no trial");
	is_int(simulate(&m, 5, 1, 0, &report, &err), -ERR_USAGE, "no worker");
}

static void counts(void)
{
	struct sim_model m = sim_model_default();
	struct sim_report one = {}, three = {};
	ERR_CLEANUP struct err err = {};
	int sum = 0;

	m.commits = 16;
	m.confirm = false;
	m.n_steps = 1;
	m.steps[0] = (struct sim_step){.delta = 10, .at = 5};
	is_int(simulate(&m, 20, 3, 1, &one, &err), 0, "without workers");
	is_int(simulate(&m, 20, 3, 3, &three, &err), 0, "with three");
	is_mem(&one, &three, sizeof(one), "the same report");
	for (int i = 0; i <= OUTCOME_BUDGET; i++)
		sum += one.outcomes[i];
	is_int(sum, 20, "every trial has an outcome");
	is_int(one.outcomes[OUTCOME_NONE], 0, "which is one");
	ok(one.right == 20 && !one.wrong && one.in_set == 20 && one.all == 20,
	   "the planted commit is named");
	is_double(one.cost.mean, one.boots.mean + 2 * one.builds.mean, 1e-12, "costs add up");
	/* R: binom.test(0, 20)$conf.int is 0, 0.1684335 */
	is_double(one.wrong_low, 0, 1e-12, "lower limit of none of 20");
	is_double(one.wrong_high, 0.1684335, 1e-6, "upper limit");

	m.steps[1] = (struct sim_step){.delta = 10, .at = 11};
	m.n_steps = 2;
	is_int(simulate(&m, 20, 3, 1, &one, &err), 0, "two steps");
	ok(one.all == 0 && one.right > 0, "without the confirmation no second one is looked for");
}

int main(void)
{
	defaults();
	keys();
	too_many();
	checks();
	counts();
	return plan_done();
}
