// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine was told: configuration, facts and observations, and what follows from each.
#include "harness/search/search.h"

#include <math.h>

#include "harness/search/engine.h"
#include "harness/stats/summary.h"

#define FAILED_BOOTS 3 /* without any value: untestable for this metric */
#define FAILED_BY_CHANCE                                                                           \
	0.002 /* unless boots without a value are so common that it happens by chance */
/* Likelihood h repairs a slight overconfidence of t; fresh boots do that too. */
#define HIST_SHARE	  0.1
#define HIST_SHARE_PROVED 0.02
#define DRIFT_ERRORS	  3.5
#define MEDIAN_ERROR	  1.25 /* standard error of a median against that of a mean */

struct search_config search_config_default(void)
{
	return (struct search_config){
		.error = 0.01,
		.min_effect = 0.01,
		.worse_only = true,
		.ends_min = 5,
		.ends_max = 120,
		.confirm = true,
		.second = true,
		.build_s = 60,
		.boot_s = 10,
	};
}

static int check_config(const struct search_config *c, struct err *err)
{
	if (!(c->error > 0 && c->error < 0.5))
		return err_set(err, ERR_USAGE, "an error of %g: it lies between 0 and 0.5",
			       c->error);
	if (!(c->min_effect >= 0 && c->min_effect < INFINITY))
		return err_set(err, ERR_USAGE, "a smallest effect of %g", c->min_effect);
	if (!(c->build_s >= 0 && c->boot_s > 0 && c->budget_s >= 0 && c->sigma >= 0) ||
	    !isfinite(c->build_s + c->boot_s + c->budget_s + c->sigma))
		return err_set(err, ERR_USAGE,
			       "costs, budget and noise are finite and not negative");
	return 0;
}

static void open_stage(struct search *s, int good, int bad, uint64_t *mask, int proof_boots,
		       double sigma)
{
	struct post_options options = {
		.worse = s->worse,
		.worse_only = s->config.worse_only,
		.known_sigma = sigma,
		.hist_share = s->config.confirm ? HIST_SHARE_PROVED : HIST_SHARE,
		.binary = s->config.binary,
	};
	struct stage st = {
		.posterior = posterior_new(&s->facts, &options, good, bad, mask),
		.culprit = SEARCH_NONE,
		.proof_boots = proof_boots,
	};

	for (size_t i = 0; i < s->values.n; i++) {
		const struct post_value *v = &s->values.at[i];

		if (posterior_covers(st.posterior, v->node))
			posterior_add(st.posterior, v->node, v->epoch, v->value);
	}
	VEC_PUSH(&s->stages, st);
}

static void open_whole_range(struct search *s)
{
	uint64_t *mask = xcalloc(bits_words(s->dag.n), sizeof(*mask));

	dag_ancestors(&s->dag, s->dag.n - 1, mask);
	open_stage(s, SEARCH_GOOD, bad_end(s), mask, 0, s->config.sigma);
}

int search_new(const struct search_config *config, const struct dag *dag, struct search **ret,
	       struct err *err)
{
	struct search *s;

	if (check_config(config, err) < 0)
		return -err->code;
	if (!dag->n)
		return err_set(err, ERR_USAGE, "no commit lies between good and bad");
	s = xcalloc(1, sizeof(*s));
	s->config = *config;
	s->config.ends_min = MAX(s->config.ends_min, POST_FIRST);
	s->config.ends_max = MAX(s->config.ends_max, s->config.ends_min);
	s->dag = dag_copy(dag);
	s->worse = (config->better == SEARCH_HIGHER) != config->fix ? -1 : 1;
	s->slots = dag_slot(&s->dag, SEARCH_AHEAD) + 1;
	s->built = xcalloc(s->slots, sizeof(*s->built));
	s->untestable = xcalloc(s->slots, sizeof(*s->untestable));
	s->valued = xcalloc(s->slots, sizeof(*s->valued));
	s->failed = xcalloc(s->slots, sizeof(*s->failed));
	s->program = xcalloc(s->slots, sizeof(*s->program));
	s->prior = xcalloc(s->dag.n, sizeof(*s->prior));
	s->weight = xcalloc(s->dag.n, sizeof(*s->weight));
	for (size_t i = 0; i < s->slots; i++)
		s->program[i] = (int)i;
	for (size_t i = 0; i < s->dag.n; i++)
		s->prior[i] = s->weight[i] = 1;
	s->facts = (struct facts){.dag = &s->dag, .prior = s->weight, .program = s->program};
	s->recheck.node = SEARCH_NONE;
	s->build_s = config->build_s;
	s->boot_s = config->boot_s;
	open_whole_range(s);
	*ret = s;
	return 0;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->stages.n; i++)
		posterior_free(s->stages.at[i].posterior);
	for (size_t i = 0; i < s->trials.n; i++)
		trial_release(&s->trials.at[i]);
	VEC_FREE(&s->stages);
	VEC_FREE(&s->trials);
	VEC_FREE(&s->answers);
	VEC_FREE(&s->values);
	VEC_FREE(&s->epochs);
	free(s->built);
	free(s->untestable);
	free(s->valued);
	free(s->failed);
	free(s->program);
	free(s->prior);
	free(s->weight);
	dag_release(&s->dag);
	free(s);
}

static bool is_node(const struct search *s, int node)
{
	return node >= SEARCH_AHEAD && (node < 0 || (size_t)node < s->dag.n + s->dag.outside);
}

bool node_untestable(const struct search *s, int node)
{
	return s->untestable[dag_slot(&s->dag, node)];
}

int node_program(const struct search *s, int node)
{
	return s->program[dag_slot(&s->dag, node)];
}

size_t node_values(const struct search *s, int node, int epoch, double *ret)
{
	int program = node_program(s, node);
	size_t n = 0;

	for (size_t i = 0; i < s->values.n; i++) {
		const struct post_value *v = &s->values.at[i];

		if (node_program(s, v->node) != program || (epoch >= 0 && v->epoch != epoch))
			continue;
		if (ret)
			ret[n] = v->value;
		n++;
	}
	return n;
}

size_t node_count(const struct search *s, int node, int epoch)
{
	return node_values(s, node, epoch, NULL);
}

int current_epoch(const struct search *s)
{
	return s->values.n ? s->values.at[s->values.n - 1].epoch : 0;
}

struct choice_view stage_view(const struct search *s, const struct stage *st)
{
	return (struct choice_view){
		.posterior = st->posterior,
		.built = s->built,
		.untestable = s->untestable,
		.build_s = s->build_s,
		.boot_s = s->boot_s,
	};
}

size_t culprit_parents(const struct search *s, int commit, int *ret)
{
	const int32_t *parents;
	size_t all = dag_parents(&s->dag, (size_t)commit, &parents), n = 0;

	for (size_t i = 0; i < all; i++) {
		bool seen = false;

		for (size_t j = 0; j < n; j++)
			seen |= ret[j] == parents[i];
		if (!seen)
			ret[n++] = parents[i];
	}
	if (!all)
		ret[n++] = SEARCH_GOOD; /* a root: everything before it is good's side */
	return n;
}

/* --- facts --- */

void search_prior(struct search *s, int commit, double factor)
{
	if (!is_candidate(s, commit) || !(factor > 0) || s->prior[commit] == factor)
		return;
	if (s->weight[commit] > 0)
		s->weight[commit] = factor;
	s->prior[commit] = factor;
	s->facts.version++;
}

void search_built(struct search *s, int node)
{
	if (is_node(s, node))
		s->built[dag_slot(&s->dag, node)] = true;
}

bool search_is_built(const struct search *s, int node)
{
	return is_node(s, node) && s->built[dag_slot(&s->dag, node)];
}

void search_skip(struct search *s, int node)
{
	if (is_node(s, node))
		s->untestable[dag_slot(&s->dag, node)] = true;
}

/* The candidates that make a node bad: none for those on good's side. */
static void add_ancestors(const struct search *s, int node, uint64_t *ret_toggled)
{
	size_t words = bits_words(s->dag.n);
	autofree uint64_t *bits = xcalloc(words, sizeof(*bits));

	if (!is_candidate(s, node))
		return;
	dag_ancestors(&s->dag, (size_t)node, bits);
	for (size_t w = 0; w < words; w++)
		ret_toggled[w] ^= bits[w];
}

void search_join(struct search *s, int a, int b)
{
	autofree uint64_t *differ = NULL;
	int from, to;

	if (!is_node(s, a) || !is_node(s, b) || a == SEARCH_REVERT || b == SEARCH_REVERT ||
	    node_program(s, a) == node_program(s, b))
		return;
	from = MAX(node_program(s, a), node_program(s, b));
	to = MIN(node_program(s, a), node_program(s, b));
	for (size_t i = 0; i < s->slots; i++)
		if (s->program[i] == from)
			s->program[i] = to;
	differ = xcalloc(bits_words(s->dag.n), sizeof(*differ));
	add_ancestors(s, a, differ);
	add_ancestors(s, b, differ);
	for (size_t i = 0; i < s->dag.n; i++)
		if (bits_test(differ, i))
			s->weight[i] = 0;
	s->facts.version++;
	s->facts.programs++;
}

enum search_verdict find_answer(const struct search *s, int target, int partner,
				enum search_check check)
{
	for (size_t i = s->answers.n; i-- > 0;) {
		const struct answer *a = &s->answers.at[i];

		if (a->target == target && a->check == check &&
		    (partner == SEARCH_NONE || a->partner == partner))
			return a->verdict;
	}
	return CHECK_NOT_RUN;
}

void search_check(struct search *s, int target, int partner, enum search_check check,
		  enum search_verdict verdict)
{
	struct answer answer = {target, partner, check, verdict};

	VEC_PUSH(&s->answers, answer);
	if (check == CHECK_SAME_CODE && verdict == CHECK_FAIL)
		search_join(s, target, partner);
}

/* --- culprits --- */

/* The range before a culprit, as far as it belongs to the question, and what is left after it. */
static void open_sides(struct search *s, size_t at, int culprit, int proof_boots)
{
	const struct posterior *p = s->stages.at[at].posterior;
	size_t words = bits_words(s->dag.n);
	autofree int *parents =
		xcalloc(s->dag.first[culprit + 1] - s->dag.first[culprit] + 1, sizeof(*parents));
	size_t n = culprit_parents(s, culprit, parents);
	double sigma = p->scale * p->grid.unit * T_SCALE_TO_SIGMA; /* well known by now */
	int good = p->good, bad = p->bad;
	uint64_t *after;

	for (size_t i = 0; i < n; i++) {
		if (!is_candidate(s, parents[i]) || !bits_test(p->mask, (size_t)parents[i]))
			continue;

		uint64_t *before = xcalloc(words, sizeof(*before));

		dag_ancestors(&s->dag, (size_t)parents[i], before);
		for (size_t w = 0; w < words; w++)
			before[w] &= p->mask[w];
		open_stage(s, good, parents[i], before, proof_boots, sigma);
	}
	if (culprit == bad)
		return;
	after = xcalloc(words, sizeof(*after));
	dag_ancestors(&s->dag, (size_t)culprit, after);
	for (size_t w = 0; w < words; w++)
		after[w] = p->mask[w] & ~after[w];
	open_stage(s, culprit, bad, after, proof_boots, sigma);
}

/* A culprit is found once it passed on fresh boots and the posterior, which was fed with them,
 * stands. */
static void find_culprits(struct search *s)
{
	for (size_t i = 0; i < s->stages.n; i++)
		for (size_t t = 0; t < s->trials.n && s->stages.at[i].culprit == SEARCH_NONE; t++) {
			struct stage *st = &s->stages.at[i];
			const struct trial *trial = &s->trials.at[t];

			if (trial->purpose != SEARCH_CONFIRM || !trial->passed ||
			    !bits_test(st->posterior->mask, (size_t)trial->target) ||
			    !posterior_update(st->posterior))
				continue;
			st->culprit_p = posterior_commit(st->posterior, (size_t)trial->target);
			if (st->culprit_p < 1 - s->config.error)
				continue;
			st->culprit = trial->target;
			if (s->config.second)
				open_sides(s, i, trial->target, (int)trial->sides.at[0].values.n);
		}
}

/* --- observations --- */

static void learn_costs(struct search *s, const struct search_obs *obs)
{
	if (obs->build_s > 0) {
		s->built_s += obs->build_s;
		s->longest_build_s = fmax(s->longest_build_s, obs->build_s);
		/* the first build of a tree compiles everything, the ones after it what changed */
		s->build_s = ++s->n_build_s == 1
				     ? obs->build_s
				     : (s->built_s - s->longest_build_s) / (s->n_build_s - 1);
	}
	if (obs->boot_s > 0)
		s->boot_s += (obs->boot_s - s->boot_s) / ++s->n_boot_s;
	s->elapsed_s = fmax(s->elapsed_s, obs->elapsed_s);
}

static int *find_epoch(struct search *s, int driver)
{
	for (size_t i = 0; i < s->epochs.n; i++)
		if (s->epochs.at[i].driver == driver)
			return &s->epochs.at[i].index;
	VEC_PUSH(&s->epochs, (struct epoch){.driver = driver, .index = s->n_epochs++});
	return &s->epochs.at[s->epochs.n - 1].index;
}

static void take_value(struct search *s, int node, int epoch, double value)
{
	VEC_PUSH(&s->values, (struct post_value){node, epoch, value});
	for (size_t i = 0; i < s->stages.n; i++)
		if (posterior_covers(s->stages.at[i].posterior, node))
			posterior_add(s->stages.at[i].posterior, node, epoch, value);
}

/* How far some boots of an end lie from its earlier ones of this epoch, in standard errors. */
static double moved(const struct search *s, int node, int epoch, const double *values, size_t n)
{
	struct posterior *p = s->stages.at[0].posterior;
	autofree double *old = xcalloc(s->values.n + 1, sizeof(*old));
	size_t n_old = node_values(s, node, epoch, old);
	double sigma;

	if (n_old < POST_FIRST || !posterior_update(p))
		return 0;
	sigma = p->scale * p->grid.unit * T_SCALE_TO_SIGMA * (n > 1 ? MEDIAN_ERROR : 1);
	return fabs(values_median(values, n) - values_median(old, n_old)) /
	       (sigma * sqrt(1.0 / (double)n + 1.0 / (double)n_old));
}

/*
 * An end's boot that is not where the end was is held back until three more were taken. If their
 * median is off too, a new epoch begins with them: the machine drifted.
 */
static bool hold_back(struct search *s, const struct search_obs *obs)
{
	struct recheck *r = &s->recheck;
	int *epoch = find_epoch(s, obs->epoch);

	if (s->config.binary) /* a single zero or one is never far off */
		return false;
	if (obs->purpose != SEARCH_END || (obs->node != SEARCH_GOOD && obs->node != bad_end(s)))
		return false;
	if (r->node == SEARCH_NONE && moved(s, obs->node, *epoch, &obs->value, 1) > DRIFT_ERRORS)
		r->node = obs->node;
	if (r->node != obs->node)
		return false;
	r->values[r->n++] = obs->value;
	if (r->n < RECHECK_BOOTS)
		return true;
	if (moved(s, r->node, *epoch, r->values + 1, r->n - 1) > DRIFT_ERRORS)
		*epoch = s->n_epochs++;
	for (size_t i = 0; i < r->n; i++)
		take_value(s, r->node, *epoch, r->values[i]);
	*r = (struct recheck){.node = SEARCH_NONE};
	return true;
}

/*
 * No value in three boots: untestable. Where boots without a value are common (at commits that do
 * give values), it takes more.
 */
static bool gives_no_value(const struct search *s, size_t slot)
{
	double failed = 0.5, boots = 1;

	if (s->valued[slot])
		return s->failed[slot] > 20 + 3 * s->valued[slot];
	for (size_t i = 0; i < s->slots; i++)
		if (s->valued[i]) {
			failed += s->failed[i];
			boots += s->failed[i] + s->valued[i];
		}
	return s->failed[slot] >= FAILED_BOOTS &&
	       pow(failed / boots, s->failed[slot]) < FAILED_BY_CHANCE;
}

/* What a boot says of its node beside a level. A revert, or an aligned build, is another program.
 */
static void note_status(struct search *s, const struct search_obs *obs, bool ok, bool apart)
{
	size_t slot = dag_slot(&s->dag, obs->node);

	if (obs->status == SEARCH_UNTESTABLE) {
		s->untestable[slot] |= !apart;
		return;
	}
	s->boots += !obs->old;
	if (!obs->old)
		s->since_end = obs->purpose == SEARCH_END ? 0 : s->since_end + 1;
	if (apart)
		return;
	s->built[slot] |= !obs->old;
	s->valued[slot] += ok;
	s->failed[slot] += !ok;
	if (!ok)
		s->untestable[slot] |= gives_no_value(s, slot);
}

static void count_step(struct search *s, const struct search_obs *obs)
{
	for (size_t i = 0; i < s->stages.n; i++) {
		struct stage *st = &s->stages.at[i];

		if (obs->purpose == SEARCH_STEP && !obs->old && st->culprit == SEARCH_NONE &&
		    posterior_covers(st->posterior, obs->node))
			st->steps++;
	}
}

void search_add(struct search *s, const struct search_obs *obs)
{
	bool ok = obs->status == SEARCH_OK && isfinite(obs->value);
	bool apart = obs->node == SEARCH_REVERT || obs->purpose == SEARCH_ALIGNED;

	if (!is_node(s, obs->node) || (unsigned)obs->purpose >= SEARCH_PURPOSES)
		return;
	learn_costs(s, obs);
	trials_open(s, obs);
	note_status(s, obs, ok, apart);
	count_step(s, obs);
	if (ok && !apart && !hold_back(s, obs))
		take_value(s, obs->node, *find_epoch(s, obs->epoch), obs->value);
	trials_add(s, obs, ok);
	find_culprits(s);
}
