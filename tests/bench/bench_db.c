// SPDX-License-Identifier: GPL-2.0-or-later
// One million samples into the store, one comparison out of them; db.sh sets the shell beside it.
//
//	bench_db insert DIR	prints the seconds that storing all runs took, in one transaction
//	bench_db runs DIR	the same, each run by itself, as a session stores them
//	bench_db csv DIR	writes the same rows as runs.csv and samples.csv
//	bench_db read DIR	prints the milliseconds that one session's samples take
#include "db/store.h"
#include "harness/base/clock.h"
#include "harness/base/util.h"

enum { SESSIONS = 25, BOOTS = 80, RUNS = 10, METRICS = 50 };

static double value_of(int run, int metric)
{
	return 1000 + metric + (run * 7919LL % 1009) / 10.0;
}

static void die(struct err *err)
{
	fprintf(stderr, "bench_db: %s\n", err->message);
	exit(1);
}

static void add_runs(struct store *store, int64_t boot, int first, struct sample_row *samples,
		     struct err *err)
{
	for (int r = 0; r < RUNS; r++) {
		struct run_row run = { .boot = boot,
				       .cell = (char *)"size=64",
				       .number = r + 1,
				       .status = (char *)"ok",
				       .seconds = 1 };

		for (int m = 0; m < METRICS; m++)
			samples[m].value = value_of(first + r, m);
		if (store_run_add(store, &run, samples, METRICS, NULL, err) < 0)
			die(err);
	}
}

/* The rows that runs refer to; both ways of storing begin with them. */
static void add_boots(struct store *store, int64_t *boots, struct err *err)
{
	if (store_begin(store, err) < 0)
		die(err);
	for (int s = 0; s < SESSIONS; s++) {
		struct session_row session = { .kind = (char *)"compare",
					       .key = (char *)"",
					       .state = (char *)"done" };
		struct boot_row boot = { .status = (char *)"ok" };

		if (store_session_add(store, &session, &boot.session, err) < 0)
			die(err);
		for (int b = 0; b < BOOTS; b++) {
			boot.side = (char *)(b % 2 ? "B" : "A");
			if (store_boot_add(store, &boot, &boot.id, err) < 0 ||
			    store_boot_end(store, &boot, err) < 0)
				die(err);
			boots[s * BOOTS + b] = boot.id;
		}
	}
	if (store_commit(store, err) < 0)
		die(err);
}

static void insert(struct store *store, bool at_once, struct err *err)
{
	static int64_t boots[SESSIONS * BOOTS];
	struct sample_row samples[METRICS];
	autostrv char **names = NULL;
	int64_t start;

	for (int m = 0; m < METRICS; m++) {
		strv_pushf(&names, "metric%d", m + 1);
		samples[m] = (struct sample_row){ .metric = names[m], .unit = "s" };
	}
	add_boots(store, boots, err);
	start = clock_now_ns();
	if (at_once && store_begin(store, err) < 0)
		die(err);
	for (int b = 0; b < SESSIONS * BOOTS; b++)
		add_runs(store, boots[b], b * RUNS, samples, err);
	if (at_once && store_commit(store, err) < 0)
		die(err);
	printf("%.3f\n", (clock_now_ns() - start) / 1e9);
}

static void csv(const char *dir)
{
	autofree char *runs_path = xasprintf("%s/runs.csv", dir);
	autofree char *samples_path = xasprintf("%s/samples.csv", dir);
	autofclose FILE *runs = fopen(runs_path, "w");
	autofclose FILE *samples = fopen(samples_path, "w");

	if (!runs || !samples) {
		perror(dir);
		exit(1);
	}
	for (int r = 0; r < SESSIONS * BOOTS * RUNS; r++) {
		fprintf(runs, "%d,%d,size=64,%d,ok,,0,0,1.0,0.0,0.0,0,0,0,0\n", r + 1, r / RUNS + 1,
			r % RUNS + 1);
		for (int m = 0; m < METRICS; m++)
			fprintf(samples, "%d,%d,%.1f\n", r + 1, m + 1, value_of(r, m));
	}
}

static void read_one(struct store *store, struct err *err)
{
	struct sample_list list = {};
	int64_t start = clock_now_ns();

	if (store_samples(store, SESSIONS / 2, NULL, NULL, &list, err) < 0)
		die(err);
	printf("%.1f\n", (clock_now_ns() - start) / 1e6);
	if (list.n != BOOTS * RUNS * METRICS)
		exit(1);
	sample_list_release(&list);
}

int main(int argc, char **argv)
{
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;

	if (argc != 3)
		return 2;
	if (streq(argv[1], "csv")) {
		csv(argv[2]);
		return 0;
	}
	if (store_open(argv[2], &store, &err) < 0)
		die(&err);
	if (!streq(argv[1], "read"))
		insert(store, streq(argv[1], "insert"), &err);
	else
		read_one(store, &err);
	return 0;
}
