// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of LKP and MMTests from published figures: what was printed then comes out again, and
// what was nonsense does not.
#include "tests/unit/report_csv.h"

#include <math.h>

static char rate_unit[] = "Mbit/s", none[] = "", centre[] = "median";

static struct metric_row metric(const char *name, const char *unit, int higher, int kpi)
{
	return (struct metric_row){(char *)name, (char *)unit, higher, kpi, centre};
}

/* --- MMTests' table --- */

/* size, then a column's value and its percentage by turns; the columns' names are the header's. */
static int64_t netperf_session(const struct csv *csv, const struct csv *times)
{
	struct metric_row m = metric("throughput", rate_unit, 1, 1);
	int64_t id = new_session(&m, 1);

	for (size_t col = 1; csv->rows[0][col]; col += 2) {
		int64_t boot = new_boot(id, csv->rows[0][col], 0);

		for (size_t i = 1; i < csv->n; i++) {
			autofree char *cell = xasprintf("size=%s", csv->rows[i][0]);
			struct times t = {};

			if (times && i == 1)
				t = (struct times){csv_number(times->rows[1][(col + 1) / 2]),
						   csv_number(times->rows[2][(col + 1) / 2]),
						   csv_number(times->rows[3][(col + 1) / 2])};
			new_run(boot, cell, "throughput", csv_number(csv->rows[i][col]), t);
		}
	}
	return id;
}

static void percents(const char *text, const struct csv *csv)
{
	for (size_t i = 1; i < csv->n; i++) {
		autofree char *label = xasprintf("Hmean size=%s ", csv->rows[i][0]);
		autofree char *line = line_with(text, label);

		for (size_t col = 1; csv->rows[0][col]; col += 2) {
			autofree char *pct = xasprintf(" %s%%)", csv->rows[i][col + 1]);
			autofree char *first = xasprintf("(%s%%)", csv->rows[i][col + 1]);

			ok(strstr(line, pct) || strstr(line, first), "%s in %s: %s%%",
			   csv->rows[0][col], label, csv->rows[i][col + 1]);
		}
	}
}

static void reverts(void)
{
	struct csv csv = csv_read("netperf-udp_stream-revert");
	int64_t id = netperf_session(&csv, NULL);
	autofree char *text = printed(id, "mmtests"), *plain = printed(id, "text");
	autofree char *line = line_with(text, "Hmean size=64 "), *kpi = NULL;
	autofree char *mean = line_with(text, "Gmean");
	autofree char *plain_mean = line_with(plain, " B 1.24");

	is_int((int64_t)csv.n, 10, "nine sizes");
	percents(text, &csv);
	has(line, " 328.38 (    0.00%)", "the baseline first");
	has(line, " 436.58 (   32.95%)", "the revert");
	has(line, " 312.51 (   -4.83%)", "the later kernel");
	/* exp(mean(log(v33_revert / v33))) in R */
	has(mean, " 1.2423 (   24.23%)", "geometric mean of the nine reverts");
	has(plain_mean, "1.2423 (+24.2%)", "the same in the plain text");
	kpi = line_with(text, "v3.3.0-revert-518cd623: ");
	has(kpi, "too few boots; 1 and 1 boots", "a KPI row says how many boots");
	has(kpi, "Hodges-Lehmann change +32.9%", "and which change is which");
	has(text, "TOO FEW BOOTS: so few can show no change, however large; about 8 a side would",
	    "in words");
	csv_release(&csv);
}

static void durations(void)
{
	struct csv csv = csv_read("netperf-udp_stream-sendipi"), times = csv_read("duration");
	int64_t id = netperf_session(&csv, &times);
	autofree char *text = printed(id, "mmtests"), *lkp = printed(id, "lkp");
	autofree char *user = line_with(text, "User "), *sys = line_with(text, "System ");
	autofree char *elapsed = line_with(text, "Elapsed ");

	percents(text, &csv);
	for (size_t col = 1; times.rows[0][col]; col++) {
		has(user, times.rows[1][col], "user time");
		has(sys, times.rows[2][col], "system time");
		has(elapsed, times.rows[3][col], "elapsed time");
	}
	has(lkp, "Elapsed ", "LKP's table has it, too");
	csv_release(&csv);
	csv_release(&times);
}

static void times_are_lower_better(void)
{
	struct csv csv = csv_read("hackbench-runs");
	struct metric_row m = metric("time", "s", 0, 1);
	int64_t id = new_session(&m, 1);
	autofree char *text = NULL, *line = NULL;

	for (size_t i = 1; i < csv.n; i++) {
		autofree char *cell = xasprintf("groups=%s", csv.rows[i][1]);

		if (!streq(csv.rows[i][2], "20000"))
			continue;
		new_run(new_boot(id, csv.rows[i][0], 0), cell, "time", csv_number(csv.rows[i][3]),
			(struct times){NAN, NAN, NAN});
	}
	text = printed(id, "mmtests");
	line = line_with(text, "Amean groups=100 ");
	/* mean(c(308.731, 311.591, 310.2)), mean(c(300.289, 301.462, 301.173)); less is better */
	has(line, " 310.17 (    0.00%)", "arithmetic mean of times");
	has(line, " 300.97 (    2.97%)", "faster is plus");
	ok(!strstr(text, "Elapsed"), "no duration table where no times were recorded");
	csv_release(&csv);
}

/* Eight boots a side without overlap: significant. */
static void stars(void)
{
	struct metric_row m[] = {metric("latency", "ms", 0, 1), metric("unspread", "ms", 0, 0)};
	int64_t id = new_session(m, 2);
	autofree char *text = NULL, *line = NULL, *lkp = NULL, *small = NULL;

	for (int i = 0; i < 16; i++) {
		int64_t boot = new_boot(id, i % 2 ? "new" : "old", 0);

		new_run(boot, "", "latency", (i % 2 ? 110 : 100) + 0.1 * i,
			(struct times){NAN, NAN, NAN});
		new_run(boot, "", "unspread", 7, (struct times){NAN, NAN, NAN});
	}
	text = printed(id, "mmtests");
	line = line_with(text, "Amean latency");
	has(line, "* ", "stars in place of brackets");
	has(line, "-10.03%*", "slower is minus"); /* means 100.7 and 110.8 */
	lkp = printed(id, "lkp");
	small = line_with(lkp, "  latency\n");
	has(small, "+-  0.5%", "a spread under one percent keeps a decimal");
	free(line);
	line = line_with(lkp, "KPI:");
	has(line, "REGRESSION; 8 and 8 boots; Hodges-Lehmann change +10.0% [", "KPI row");
	has(line, "99%; adjusted p 0.00016", "level and p"); /* 2 / choose(16, 8) */
}

/* --- LKP's table --- */

/* Three boots around a centre with exactly this standard deviation. */
static void three_boots(int64_t id, const char *side, const char *name, double at, double spread)
{
	static const double around[] = {-1, 0, 1};

	for (int i = 0; i < 3; i++) {
		int64_t boot = new_boot(id, side, 0);

		new_run(boot, "", name, at * (1 + around[i] * MAX(spread, 0.0) / 100),
			(struct times){NAN, NAN, NAN});
	}
}

static void netpipe_row(const char *text, char *const *row)
{
	double spread = MAX(fabs(csv_number(row[1])), fabs(csv_number(row[4])));
	double a = csv_number(row[0]), b = csv_number(row[3]), want = csv_number(row[2]), got;
	autofree char *name = xasprintf("  %.57s", row[5]), *line = line_with(text, name);
	const char *sign = strchr(line, '%');

	if (spread >= 100) {
		ok(strstr(line, " noise "), "no percentage at a spread of %.0f%%: %.40s", spread,
		   name);
		ok(!strstr(line, row[2]), "not %s", row[2]);
	} else if (a < 0) {
		has(line, " +6.38 ", "a negative centre has a difference");
		ok(!sign, "and no percentage");
	} else {
		while (sign && sign > line && sign[-1] != ' ' && sign[-1] != '+')
			sign--;
		if (a != b && strstr(line, "+-")) /* the change is the second percentage */
			sign = strpbrk(strchr(line, '%') + 1, "+-");
		else
			sign = strpbrk(line, "+-");
		got = sign ? strtod(sign, NULL) : NAN;
		/* the robot rounded the centres that it printed */
		ok(fabs(got - want) < 0.15, "%.40s: %+.1f, printed %s", name, got, row[2]);
	}
}

static void netpipe(void)
{
	struct csv csv = csv_read("lkp-netpipe-rows");
	struct metric_row *metrics = xcalloc(csv.n, sizeof(*metrics));
	autofree char *text = NULL, *line = NULL, *plain = NULL;
	int64_t id;

	for (size_t i = 1; i < csv.n; i++)
		metrics[i - 1] = metric(csv.rows[i][5], i == 1 ? rate_unit : none, 1, i == 1);
	id = new_session(metrics, csv.n - 1);
	for (size_t i = 1; i < csv.n; i++) {
		char **row = csv.rows[i];

		three_boots(id, "parent", row[5], csv_number(row[0]), csv_number(row[1]));
		three_boots(id, "commit", row[5], csv_number(row[3]), csv_number(row[4]));
	}
	text = printed(id, "lkp");
	plain = printed(id, "text");
	for (size_t i = 1; i < csv.n; i++)
		netpipe_row(text, csv.rows[i]);
	line = line_with(text, "netpipe.bigger_5M_Mbps.avg");
	has(line, " -5.5% ", "throughput");
	ok(strstr(text, "bigger_5M") < strstr(text, "voluntary_context_switches"), "KPIs first");
	free(line);
	line = line_with(text, "voluntary_context_switches");
	has(line, " +28.6% ", "context switches");
	free(line);
	line = line_with(text, "call_rwsem_down_read_failed.__do");
	has(line, " 0.00           latency", "zero without a spread");
	has(plain, " noise ", "no percentage of noise in the plain text");
	ok(!strstr(plain, "6926") && !strstr(text, "6926"), "+6926%% is nowhere");
	free(metrics);
	csv_release(&csv);
}

/* --- suspect cells --- */

static int64_t matrix_session(const struct csv *csv, const char *machine)
{
	struct metric_row m = metric("netperf.Throughput_total_tps", "tps", 1, 1);
	int64_t id = new_session(&m, 1),
		boots[] = {new_boot(id, "base", 0), new_boot(id, "patched", 0)};

	for (size_t i = 1; i < csv->n; i++) {
		char **row = csv->rows[i], *plus = strchr(row[2], '+');
		autofree char *cell = NULL;

		if (!streq(row[0], m.name) || !streq(row[1], machine) || !plus)
			continue;
		cell = xasprintf("load=%.*s,test=%s", (int)(plus - row[2]), row[2], plus + 1);
		new_run(boots[0], cell, m.name, csv_number(row[3]), (struct times){});
		new_run(boots[1], cell, m.name, csv_number(row[5]), (struct times){});
	}
	return id;
}

static void suspects(void)
{
	struct csv csv = csv_read("machine-cell-matrix");
	size_t machines = 0;

	for (size_t i = 1; i < csv.n; i++) {
		autoreport struct report *r = NULL;
		size_t found = 0;

		if (streq(csv.rows[i][1], csv.rows[i - 1][1]) ||
		    !streq(csv.rows[i][0], csv.rows[1][0]))
			continue;
		machines++;
		must(report_fill(store, matrix_session(&csv, csv.rows[i][1]), &r, &err));
		for (size_t k = 0; k < r->n_rows; k++) {
			found += r->rows[k].suspect;
			if (r->rows[k].suspect)
				is_str(r->values.cells[r->rows[k].cell], "load=125%,test=TCP_RR",
				       "74389 where 1928064 stood at the next step");
		}
		is_int((int64_t)found, streq(csv.rows[i][1], "Commet Lake 20 CPUs"),
		       "suspect cells on %s", csv.rows[i][1]);
		if (found) {
			autobuf text = {};

			must(report_format(r, "text", &text, &err));
			has(buf_str(&text), ", SUSPECT\n", "the row says so");
			has(buf_str(&text), "SUSPECT: on both sides this cell is far off",
			    "and what it means");
		}
	}
	ok(machines >= 5, "%zu machines", machines);
	csv_release(&csv);
}

/* A dip in the middle is suspect on both sides only; a sweep that grows is not. */
static void sweeps(void)
{
	static const struct {
		double a[4], b[4];
		int suspect; /* cell, or -1 */
	} cases[] = {
		{{100, 3, 100, 100}, {100, 3, 100, 100}, 1},
		{{100, 3, 100, 100}, {100, 100, 100, 100}, -1},
		{{1, 10, 100, 1000}, {1, 10, 100, 1000}, -1},
		{{100, 100, 101, 900}, {100, 101, 100, 900}, 3},
		{{50, 100, 90, 40}, {50, 100, 90, 40}, -1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct metric_row m = metric("v", none, 1, 1);
		int64_t id = new_session(&m, 1), a = new_boot(id, "a", 0), b = new_boot(id, "b", 0);
		autoreport struct report *r = NULL;
		int found = -1;

		for (int c = 0; c < 4; c++) {
			autofree char *cell = xasprintf("size=%d", 1 << (4 * c));

			new_run(a, cell, "v", cases[i].a[c], (struct times){});
			new_run(b, cell, "v", cases[i].b[c], (struct times){});
		}
		must(report_fill(store, id, &r, &err));
		for (size_t k = 0; k < r->n_rows; k++)
			if (r->rows[k].suspect)
				found = (int)r->rows[k].cell;
		is_int(found, cases[i].suspect, "sweep %zu", i);
	}
}

/* --- the environment --- */

static void environments(void)
{
	struct metric_row m = metric("v", none, 1, 1);
	int64_t id = new_session(&m, 1), plain, other, third;
	autofree char *text = NULL;

	must(store_fingerprint_put(store, "{\"cpus\": 2, \"governor\": \"powersave\"}", &plain,
				   &err));
	must(store_fingerprint_put(
		store, "{\"cpus\": 2, \"governor\": \"performance\", \"thp\": \"always\"}", &other,
		&err));
	must(store_fingerprint_put(store, "{\"cpus\": 2, \"governor\": \"schedutil\"}", &third,
				   &err));
	new_run(new_boot(id, "old", plain), "", "v", 1, (struct times){});
	new_run(new_boot(id, "new", other), "", "v", 1, (struct times){});
	new_run(new_boot(id, "new", third), "", "v", 1, (struct times){});
	text = printed(id, "mmtests");
	has(text, "  governor\n    A  powersave\n    B  performance | schedutil\n",
	    "each side's values");
	has(text, "  thp\n    A  -\n    B  always\n", "a fact that one side lacks");
	ok(!strstr(text, "cpus"), "what is equal is not there");
}

static void refused(void)
{
	struct session_row row = {.kind = (char *)"run",
				  .key = (char *)"r",
				  .state = (char *)"done",
				  .job_name = (char *)"j"};
	autobuf out = {};
	int64_t id;

	must(store_session_add(store, &row, &id, &err));
	is_int(report_print(store, id, "lkp", &out, &err), -ERR_USAGE, "a run is no comparison");
	is_int(report_print(store, id, "mmtests", &out, &err), -ERR_USAGE, "in neither format");
}

int main(void)
{
	if (!mkdtemp(csv_top))
		return 1;
	must(store_open(csv_top, &store, &err));
	reverts();
	durations();
	times_are_lower_better();
	stars();
	netpipe();
	suspects();
	sweeps();
	environments();
	refused();
	store_close(store);
	err_release(&err);
	fs_remove_tree(csv_top, &err);
	return plan_done();
}
