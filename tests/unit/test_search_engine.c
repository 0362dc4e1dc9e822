// SPDX-License-Identifier: GPL-2.0-or-later
// The search engine on scripted histories: ancestor sets by brute force, outcomes, and that what it
// does is a function of what it was told.

#include "harness/base/rng.h"
#include "harness/search/grid.h"
#include "harness/search/search.h"
#include "tests/tap.h"

#include <math.h>

#define MAX_NODES 200

/* --- ancestor sets --- */

static void test_ancestors(void)
{
	enum { N = 150 };
	static bool reach[N][N];
	struct dag dag = {};
	struct rng rng;
	ERR_CLEANUP struct err err = {};
	uint32_t counts[N];
	size_t wrong = 0;

	rng_seed(&rng, 5);
	for (int i = 0; i < N; i++) {
		int parents[2] = {SEARCH_GOOD, SEARCH_GOOD};
		size_t n = i && rng_below(&rng, 5) == 0 ? 2 : 1;

		reach[i][i] = true;
		for (size_t k = 0; k < n && i; k++) {
			parents[k] = (int)rng_below(&rng, (uint64_t)i);
			for (int j = 0; j < N; j++)
				reach[i][j] |= reach[parents[k]][j];
		}
		dag_add(&dag, parents, n);
	}
	is_int(dag_seal(&dag, 0, &err), 0, "a history with merges");
	dag_counts(&dag, counts);
	for (int i = 0; i < N; i++) {
		uint64_t bits[(N + 63) / 64] = {};
		uint32_t count = 0;

		dag_ancestors(&dag, (size_t)i, bits);
		for (int j = 0; j < N; j++) {
			count += reach[i][j];
			wrong += bits_test(bits, (size_t)j) != reach[i][j];
		}
		wrong += counts[i] != count;
	}
	is_int(wrong, 0, "ancestors and their counts are those of brute force");
	dag_release(&dag);

	int forward[] = {1};

	dag_add(&dag, forward, 1);
	is_int(dag_seal(&dag, 0, &err), -ERR_USAGE, "a parent that comes later is refused");
	dag_release(&dag);
}

/* --- scripted searches --- */

struct script {
	int n;
	double level[MAX_NODES]; /* of each candidate; good is at good_level */
	double good_level, noise;
	double reverted, revert_noise; /* with the culprit reverted on top of bad */
	bool broken[MAX_NODES];
	double min_effect;
	bool binary;	/* levels are shares of boots that fail */
	bool fix;	/* good is the worse end */
	double missing; /* share of boots without a value */
	bool plain;	/* neither revert nor a look for a second step */
	bool dag_merge; /* the last commit but one is a merge of a side branch of three */
	uint64_t seed;
	/* what happened */
	struct search_obs log[1000];
	int logged, boots;
};

static struct dag make_dag(const struct script *s, struct err *err)
{
	struct dag dag = {};

	for (int i = 0; i < s->n; i++) {
		int parents[2] = {i ? i - 1 : SEARCH_GOOD, 0};
		size_t n = 1;

		if (s->dag_merge && i == 3) /* the side branch 3, 4, 5 leaves at 0 */
			parents[0] = 0;
		if (s->dag_merge && i == 6) {
			parents[0] = 2;
			parents[1] = 5;
			n = 2;
		}
		dag_add(&dag, parents, n);
	}
	dag_seal(&dag, 0, err);
	return dag;
}

static double level_of(const struct script *s, int node)
{
	if (node == SEARCH_REVERT)
		return s->reverted;
	if (node == SEARCH_GOOD)
		return s->good_level;
	return s->level[node];
}

static void tell(struct search *search, struct script *s, const struct search_action *a,
		 struct rng *rng)
{
	struct search_obs obs = {.node = a->node,
				 .purpose = a->purpose,
				 .target = a->target,
				 .boot_s = 1,
				 .value = NAN};

	if (a->node >= 0 && s->broken[a->node]) {
		obs.status = SEARCH_UNTESTABLE;
	} else {
		double noise = a->purpose == SEARCH_REVERTED ? s->revert_noise : s->noise;

		obs.value = s->binary ? rng_uniform(rng) < level_of(s, a->node)
				      : level_of(s, a->node) + noise * rng_normal(rng);
		if (s->missing > 0 && rng_uniform(rng) < s->missing) {
			obs.status = SEARCH_FAILED;
			obs.value = NAN;
		}
		s->boots++;
	}
	s->log[s->logged++] = obs;
	search_add(search, &obs);
}

static void act(struct search *search, struct script *s, const struct search_action *a,
		struct rng *rng)
{
	switch (a->kind) {
	case SEARCH_MEASURE:
		tell(search, s, a, rng);
		break;
	case SEARCH_BUILD:
		if (a->node >= 0 && s->broken[a->node])
			tell(search, s, a, rng);
		else
			search_built(search, a->node);
		break;
	case SEARCH_COMPARE:
		search_check(search, a->node, a->partner, CHECK_CONFIG, CHECK_NA);
		search_check(search, a->node, a->partner, CHECK_SAME_CODE, CHECK_NA);
		break;
	case SEARCH_DONE:
		break;
	}
}

static struct search_config config(void)
{
	struct search_config c = search_config_default();

	c.better = SEARCH_LOWER;
	c.ends_max = 40;
	c.revert = true;
	return c;
}

/* runs the script to its end */
static void run_script(struct script *s, struct search_result *ret)
{
	struct search_config c = config();
	ERR_CLEANUP struct err err = {};
	struct dag dag = make_dag(s, &err);
	autosearch struct search *search = NULL;
	struct search_action a;
	struct rng rng;
	int asked = 0;

	c.revert = c.second = !s->plain;
	c.min_effect = s->min_effect;
	c.binary = s->binary;
	c.fix = s->fix;
	rng_seed(&rng, s->seed);
	if (search_new(&c, &dag, &search, &err) < 0) {
		ok(false, "search: %s", err.message);
		return;
	}
	for (search_next(search, &a); a.kind != SEARCH_DONE && asked < 900;
	     search_next(search, &a), asked++)
		act(search, s, &a, &rng);
	if (asked == 900)
		ok(false, "it comes to an end (%d boots)", s->boots);
	search_result(search, ret);
	dag_release(&dag);
}

static struct script linear(int n, int culprit, double step, double noise)
{
	struct script s = {.n = n, .good_level = 100, .noise = noise, .seed = 3};

	s.min_effect = 0.001;
	s.reverted = s.good_level;
	s.revert_noise = noise;

	for (int i = 0; i < n; i++)
		s.level[i] = culprit >= 0 && i >= culprit ? 100 + step : 100;
	return s;
}

static void test_outcomes(void)
{
	struct search_result r = {};
	struct script s = linear(64, 40, 10, 1);

	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "culprit", "an easy step");
	is_int(r.n_culprits ? r.culprits[0].commit : -1, 40, "at the right place");
	is_int(r.n_culprits ? r.culprits[0].checks[CHECK_PARENT] : 0, CHECK_PASS,
	       "confirmed against its parent");
	is_int(r.n_culprits ? r.culprits[0].checks[CHECK_REVERT] : 0, CHECK_PASS, "and reverted");
	search_result_release(&r);

	s = linear(64, 40, 10, 1);
	s.broken[39] = true;
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "range", "next to a commit that does not build");
	ok(r.n_candidates >= 2, "the set holds both");
	is_int(r.n_culprits, 0, "and nobody is named");
	search_result_release(&r);

	s = linear(16, -1, 0, 1);
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "not-reproduced", "no step");
	is_int(r.n_culprits, 0, "nobody is named");
	search_result_release(&r);

	s = linear(16, 8, -10, 1);
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "not-reproduced", "an improvement is no regression");
	search_result_release(&r);

	s = linear(1, 0, 10, 1);
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "culprit", "a range of one commit");
	search_result_release(&r);

	s = linear(12, -1, 0, 0);
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "not-reproduced", "a constant metric");
	search_result_release(&r);

	s = linear(12, 6, 10, 0);
	s.good_level = s.reverted = -100;
	for (int i = 0; i < s.n; i++)
		s.level[i] -= 200;
	run_script(&s, &r);
	is_int(r.n_culprits ? r.culprits[0].commit : -1, 6, "negative values without noise");
	search_result_release(&r);

	s = linear(12, 4, 10, 1);
	for (int i = 0; i < s.n; i++)
		s.broken[i] = i < s.n - 1;
	run_script(&s, &r);
	ok(r.n_culprits == 0, "nothing is named where nothing between the ends builds (%s)",
	   search_outcome_name(r.outcome));
	search_result_release(&r);
}

/* how a search ends, with the commit that it names (-1: none) */
static const char *ending(struct script *s, int *ret_culprit)
{
	struct search_result r = {};
	const char *name;

	run_script(s, &r);
	*ret_culprit = r.n_culprits ? r.culprits[0].commit : -1;
	name = search_outcome_name(r.outcome);
	search_result_release(&r);
	return name;
}

/* values that are odd, but values */
static void test_odd_values(void)
{
	struct script s = linear(16, 9, 0, 0);
	int culprit;

	s.good_level = s.reverted = 0;
	memset(s.level, 0, sizeof(s.level));
	is_str(ending(&s, &culprit), "not-reproduced", "a metric that is always zero");
	ok(s.boots <= 10, "is known to be after the first boots (%d)", s.boots);

	for (int i = 9; i < s.n; i++)
		s.level[i] = 5;
	is_str(ending(&s, &culprit), "culprit", "one that is zero without noise until the culprit");
	is_int(culprit, 9, "which is named");

	s = linear(16, 9, 0, 1);
	s.good_level = s.reverted = -8;
	for (int i = 0; i < s.n; i++)
		s.level[i] = i < 9 ? -8 : 8;
	is_str(ending(&s, &culprit), "culprit", "a metric that changes its sign");
	is_int(culprit, 9, "at the right place");

	s = linear(16, 9, 10, 1);
	s.good_level = s.reverted = -100;
	for (int i = 0; i < s.n; i++)
		s.level[i] -= 200;
	is_str(ending(&s, &culprit), "culprit", "negative values with noise");
	is_int(culprit, 9, "are searched like others");

	s = linear(16, 9, 10, 1);
	s.missing = 0.5;
	is_str(ending(&s, &culprit), "culprit", "a metric that is missing in half of the boots");
	is_int(culprit, 9, "is measured in the others");
}

static void test_bad_ranges(void)
{
	struct search_config c = config();
	struct dag none = {};
	struct search *search = NULL;
	ERR_CLEANUP struct err err = {};
	struct script s;
	int culprit;

	dag_seal(&none, 0, &err);
	is_int(search_new(&c, &none, &search, &err), -ERR_USAGE, "a range without commits");
	dag_release(&none);

	s = linear(12, 4, 10, 1);
	memset(s.broken, true, sizeof(s.broken));
	is_str(ending(&s, &culprit), "untestable", "nothing of the range can be tested");
	is_int(culprit, -1, "and nobody is named");
	ok(s.boots <= 5, "bad is not built again and again (%d boots of good)", s.boots);

	s = linear(16, 8, -10, 1);
	s.fix = true;
	is_str(ending(&s, &culprit), "culprit", "a fix is found");
	is_int(culprit, 8, "where it is");
	s = linear(16, 8, 10, 1);
	s.fix = true;
	is_str(ending(&s, &culprit), "not-reproduced", "where it got worse, nothing was fixed");
}

/* 2% of the boots fail before the culprit, 40% or all of them after it */
static void test_failures(void)
{
	const double shares[] = {0.4, 1};

	for (size_t k = 0; k < ARRAY_SIZE(shares); k++) {
		int right = 0, wrong = 0, boots = 0, culprit;

		for (uint64_t seed = 1; seed <= 40; seed++) {
			struct script s = linear(32, (int)(seed * 7 % 32), 0, 0);

			s.binary = s.plain = true;
			s.seed = seed;
			s.good_level = 0.02;
			for (int i = 0; i < s.n; i++)
				s.level[i] = i < (int)(seed * 7 % 32) ? 0.02 : shares[k];
			ending(&s, &culprit);
			right += culprit == (int)(seed * 7 % 32);
			wrong += culprit != -1 && culprit != (int)(seed * 7 % 32);
			boots += s.boots;
		}
		is_int(wrong, 0, "failures in %.0f%% of the boots: nobody else is named",
		       100 * shares[k]);
		ok(right >= 36, "the culprit is found in %d of 40 searches, %d boots each", right,
		   boots / 40);
	}
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct script s = linear(32, -1, 0, 0);
		int culprit;

		s.binary = true;
		s.seed = seed;
		s.good_level = 0.2;
		for (int i = 0; i < s.n; i++)
			s.level[i] = 0.2;
		ending(&s, &culprit);
		if (culprit != -1)
			ok(false, "a fifth fails everywhere: nobody is named (seed %d)", (int)seed);
	}
}

static void test_merges(void)
{
	struct search_result r = {};
	struct script s = linear(10, -1, 0, 1);

	/* bad comes in by the side branch's second commit */
	s.dag_merge = true;
	for (int i = 4; i < 10; i++)
		s.level[i] = 110;
	run_script(&s, &r);
	is_int(r.n_culprits ? r.culprits[0].commit : -1, 4, "a culprit on a side branch");
	search_result_release(&r);

	/* both parents are good, the merge is bad */
	s = linear(10, 6, 10, 1);
	s.dag_merge = true;
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "merge", "a merge whose parents are good");
	is_int(r.n_culprits ? r.culprits[0].commit : -1, 6, "is named as such");
	search_result_release(&r);
}

/* passes of the revert check over 60 searches */
static int reverts_passed(double reverted, double revert_noise, int *ret_boots)
{
	int passed = 0;

	*ret_boots = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct script s = linear(12, 5, 6, 1);
		struct search_result r = {};

		s.seed = seed;
		s.reverted = reverted;
		s.revert_noise = revert_noise;
		run_script(&s, &r);
		passed += r.n_culprits && r.culprits[0].checks[CHECK_REVERT] == CHECK_PASS;
		*ret_boots += s.boots;
		search_result_release(&r);
	}
	return passed;
}

/* the smallest effect that counts is 1%: a step beside it, and a whole range below it */
static void test_small_steps(void)
{
	struct search_result r = {};
	struct script s = linear(24, 8, 10, 0.05);

	s.min_effect = 0.01;
	for (int i = 15; i < s.n; i++)
		s.level[i] += 0.5;
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "culprit", "a second step that is too small");
	is_int((long)r.n_culprits, 1, "is nobody's fault");
	ok(s.boots < 60, "and no reason to go on (%d boots)", s.boots);
	search_result_release(&r);

	s = linear(24, 8, 0.5, 0.05);
	s.min_effect = 0.01;
	run_script(&s, &r);
	is_str(search_outcome_name(r.outcome), "not-reproduced",
	       "a range with a step of half of it");
	ok(strstr(r.reason, "less than the smallest"), "says so: %s", r.reason);
	ok(s.boots < 60, "and soon (%d boots)", s.boots);
	search_result_release(&r);
}

static void test_revert(void)
{
	int boots, quiet;

	is_int(reverts_passed(100, 1, &quiet), 60, "a revert that takes all back passes");
	ok(reverts_passed(100, 3, &boots) >= 57,
	   "also where the machine is three times noisier than the search has seen");
	is_int(reverts_passed(106, 1, &boots), 0, "one that takes nothing back never does");
	ok(boots <= quiet + 4 * 60, "and is not tried again and again (%d boots, %d)", boots,
	   quiet);
	ok(reverts_passed(104.5, 1, &boots) <= 3,
	   "nor, but by chance, one that takes a quarter back");
}

/* the same log told again leads to the same next action, at every point of it */
static void test_replay(void)
{
	struct script s = linear(32, 20, 4, 1);
	struct search_config c = config();
	ERR_CLEANUP struct err err = {};
	struct dag dag = make_dag(&s, &err);
	autosearch struct search *first = NULL;
	struct search_action a, b;
	struct rng rng;
	int differ = 0, looked = 0;

	rng_seed(&rng, 9);
	search_new(&c, &dag, &first, &err);
	for (search_next(first, &a); a.kind == SEARCH_MEASURE && s.logged < 60;
	     search_next(first, &a)) {
		if (s.logged % 7 == 0) {
			autosearch struct search *second = NULL;

			search_new(&c, &dag, &second, &err);
			for (int i = 0; i < s.logged; i++)
				search_add(second, &s.log[i]);
			search_next(second, &b);
			differ += a.kind != b.kind || a.node != b.node || a.purpose != b.purpose;
			looked++;
		}
		tell(first, &s, &a, &rng);
	}
	ok(looked >= 2 && differ == 0, "told again, it asks the same (%d looks, %d differ)", looked,
	   differ);
	dag_release(&dag);
}

/* easy steps are cheap: at ten times the noise the ends, the search and the proof in few boots */
static void test_cost(void)
{
	struct search_result r = {};
	int boots = 0, right = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct script s = linear(64, (int)(seed * 6), 10, 1);

		s.seed = seed;
		s.plain = true;
		run_script(&s, &r);
		boots += s.boots;
		right += r.n_culprits && r.culprits[0].commit == (int)(seed * 6);
		search_result_release(&r);
	}
	is_int(right, 10, "ten easy searches, all right");
	ok(boots <= 350, "ends, search and proof take %.1f boots each", boots / 10.0);
}

/* --- what an observation tells --- */

/* By the definition, in steps of a fiftieth of the narrowest component. */
static double information_by_steps(const struct mixture *m)
{
	double low = INFINITY, high = -INFINITY, narrow = INFINITY, sum = 0;

	for (size_t k = 0; k < m->n; k++) {
		double s = sqrt(m->var[k]);

		low = fmin(low, m->mean[k] - 9 * s);
		high = fmax(high, m->mean[k] + 9 * s);
		narrow = fmin(narrow, s);
	}
	for (double x = low; x < high; x += narrow / 50) {
		double f[MIXTURE_MAX], all = 0;

		for (size_t k = 0; k < m->n; k++) {
			double z = (x - m->mean[k]) / sqrt(m->var[k]);

			f[k] = exp(-z * z / 2) / sqrt(2 * M_PI * m->var[k]);
			all += m->p[k] * f[k];
		}
		for (size_t k = 0; k < m->n; k++)
			if (m->p[k] * f[k] > 0)
				sum += m->p[k] * f[k] * log(f[k] / all) * narrow / 50;
	}
	return sum;
}

/* Steps from a tenth of the noise to a thousand times it, some levels well known and some not. */
static void test_information(void)
{
	double worst[2] = {};
	int above = 0;
	struct rng rng;

	rng_seed(&rng, 3);
	for (int i = 0; i < 400; i++) {
		bool unknown = i % 2;
		struct mixture m = {.n = 2 + (size_t)rng_below(&rng, 7)};
		double far = pow(10, -1 + 4 * rng_uniform(&rng)), total = 0, entropy = 0;

		for (size_t k = 0; k < m.n; k++) {
			m.mean[k] = rng_below(&rng, 2) ? far : 0.1 * rng_uniform(&rng);
			m.var[k] = !unknown || rng_below(&rng, 3) ? 1 + rng_uniform(&rng)
								  : 1 + far * far / 12;
			m.p[k] = 0.01 + rng_uniform(&rng);
			total += m.p[k];
		}
		for (size_t k = 0; k < m.n; k++) {
			m.p[k] /= total;
			entropy -= m.p[k] * log(m.p[k]);
		}

		double told = mixture_information(&m);

		above += told > entropy + 1e-6;
		worst[unknown] = fmax(worst[unknown], fabs(told - information_by_steps(&m)));
	}
	is_int(above, 0, "no observation tells more than which of the components it was");
	ok(worst[0] < 0.01, "between levels of like width it is within %.4f nats of the integral",
	   worst[0]);
	ok(worst[1] < 0.25, "where some are not known, within %.4f", worst[1]);
}

int main(void)
{
	test_information();
	test_ancestors();
	test_outcomes();
	test_odd_values();
	test_bad_ranges();
	test_failures();
	test_merges();
	test_small_steps();
	test_revert();
	test_replay();
	test_cost();
	return plan_done();
}
