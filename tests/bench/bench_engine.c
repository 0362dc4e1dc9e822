// SPDX-License-Identifier: GPL-2.0-or-later
// What one decision of the search costs on long histories, and counting all ancestors.
//
//	bench_engine decide COMMITS	a search of a step of two sigma; milliseconds of the
//processor a decision, peak MB 	bench_engine count COMMITS	the number of ancestors of
// every commit; seconds
#include "harness/base/rng.h"
#include "harness/base/util.h"
#include "harness/search/search.h"

#include <sys/resource.h>
#include <time.h>

/* Every tenth commit merges a branch of four that left some commits before. */
static void make_dag(struct dag *dag, int n)
{
	ERR_CLEANUP struct err err = {};
	int line = SEARCH_GOOD;

	for (int i = 0; i < n;) {
		int fork = line;

		for (int k = 0; k < 5 && i < n; k++, line = i++)
			dag_add(dag, &line, 1);
		if (i + 5 >= n)
			continue;
		for (int k = 0; k < 4; k++, fork = i++)
			dag_add(dag, &fork, 1);
		dag_add(dag, (int[]){line, fork}, 2);
		line = i++;
	}
	if (dag_seal(dag, 0, &err) < 0)
		exit(1);
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* Is the step at n/3 in this node? Asked of the dag once. */
static bool *bad_nodes(const struct dag *dag)
{
	bool *bad = xcalloc(dag->n, sizeof(*bad));

	for (size_t i = 0; i < dag->n; i++) {
		const int32_t *parents;
		size_t n = dag_parents(dag, i, &parents);

		bad[i] = i == dag->n / 3;
		for (size_t k = 0; k < n; k++)
			bad[i] |= parents[k] >= 0 && bad[parents[k]];
	}
	return bad;
}

static void decide(int commits)
{
	ERR_CLEANUP struct err err = {};
	struct search_config config = search_config_default();
	struct dag dag = {};
	autosearch struct search *s = NULL;
	autofree bool *bad = NULL;
	struct search_action a;
	struct rng rng;
	clock_t spent = 0, start; /* of the processor: machines are shared */
	int decisions = 0;

	make_dag(&dag, commits);
	bad = bad_nodes(&dag);
	config.better = SEARCH_LOWER;
	config.confirm = config.second = false;
	rng_seed(&rng, 1);
	if (search_new(&config, &dag, &s, &err) < 0)
		exit(1);
	for (;;) {
		start = clock();
		search_next(s, &a);
		spent += clock() - start;
		decisions++;
		if (a.kind != SEARCH_MEASURE)
			break;
		struct search_obs obs = {.node = a.node,
					 .purpose = a.purpose,
					 .target = a.target,
					 .boot_s = 10,
					 .value = 100 + rng_normal(&rng)};

		obs.value += a.node >= 0 && bad[a.node] ? 2 : 0;
		start = clock();
		search_add(s, &obs);
		spent += clock() - start;
	}
	printf("%.3f %.1f %d\n", 1e3 * (double)spent / CLOCKS_PER_SEC / decisions, peak_mb(),
	       decisions);
	dag_release(&dag);
}

static void count(int commits)
{
	struct dag dag = {};
	autofree uint32_t *counts = xcalloc((size_t)commits, sizeof(*counts));
	clock_t start;

	make_dag(&dag, commits);
	start = clock();
	dag_counts(&dag, counts);
	printf("%.2f %.1f %u\n", (double)(clock() - start) / CLOCKS_PER_SEC, peak_mb(),
	       counts[commits - 1]);
	dag_release(&dag);
}

int main(int argc, char **argv)
{
	int commits = argc == 3 ? atoi(argv[2]) : 0;

	if (commits < 16 || (!streq(argv[1], "decide") && !streq(argv[1], "count"))) {
		fprintf(stderr, "usage: bench_engine decide|count COMMITS\n");
		return 129;
	}
	if (streq(argv[1], "decide"))
		decide(commits);
	else
		count(commits);
	return 0;
}
