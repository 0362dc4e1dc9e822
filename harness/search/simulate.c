// SPDX-License-Identifier: GPL-2.0-or-later
// Made-up histories, made-up boots, and the real engine between them.
#include "harness/search/simulate.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "harness/base/clock.h"
#include "harness/base/loop.h"
#include "harness/base/progress.h"
#include "harness/base/rng.h"
#include "harness/base/signals.h"
#include "harness/stats/dist.h"
#include "harness/stats/summary.h"

#define OUTLIER_TAIL 5.0
#define BASE_LEVEL   100 /* of good, in sigma: values are far from zero */
#define BOOTS_MAX    20000 /* a search that takes more would never end */

static bool is_share(double v)
{
	return v >= 0 && v <= 1;
}

static int check_noise(const struct sim_model *m, struct err *err)
{
	double sum = 0;

	if (!(m->sigma > 0) || !(m->sigma_boot >= 0) || !(m->round >= 0) ||
	    !(m->drift_period > 0) ||
	    !isfinite(m->sigma + m->sigma_boot + m->round + m->drift + m->drift_period +
		      m->outlier_size))
		return err_set(err, ERR_USAGE,
			       "noise: sigma and drift_period are above 0, all numbers finite");
	if (!is_share(m->outliers) || !is_share(m->missing) || m->missing == 1)
		return err_set(err, ERR_USAGE, "noise: shares lie between 0 and 1");
	for (int i = 0; i < m->n_modes; i++) {
		sum += m->modes[i].share;
		if (!is_share(m->modes[i].share) || !isfinite(m->modes[i].shift))
			return err_set(err, ERR_USAGE,
				       "noise: a mode has a share of 0 to 1 and a finite shift");
	}
	return sum <= 1 + 1e-9 ? 0
			       : err_set(err, ERR_USAGE,
					 "noise: the modes' shares are more than 1 together");
}

double sim_untestable_max(double run)
{
	return run / (run + 1);
}

int sim_model_check(const struct sim_model *m, struct err *err)
{
	if (m->commits < 1 || m->commits > 1000000)
		return err_set(err, ERR_USAGE, "history: %d commits: 1 to 1000000", m->commits);
	if (m->merges && !m->dag)
		return err_set(err, ERR_USAGE, "history: a linear one has no merges");
	if (m->merges < 0 || (m->merges && 3 * m->merges > m->commits))
		return err_set(err, ERR_USAGE, "history: %d merges take at least %d commits",
			       m->merges, 3 * m->merges);
	if (check_noise(m, err) < 0)
		return -err->code;
	if (m->runs < 1 || m->runs > SIM_RUNS_MAX)
		return err_set(err, ERR_USAGE, "%d runs in a boot: 1 to %d", m->runs, SIM_RUNS_MAX);
	for (int i = 0; i < m->n_steps; i++)
		if (!isfinite(m->steps[i].delta) || m->steps[i].at < SIM_ANYWHERE ||
		    m->steps[i].at >= m->commits)
			return err_set(err, ERR_USAGE, "steps: delta is finite, at is 0 to %d",
				       m->commits - 1);
	if (!(m->untestable >= 0 && m->untestable < 1) || !(m->untestable_run >= 1))
		return err_set(err, ERR_USAGE, "untestable: rate is 0 to below 1, run at least 1");
	if (m->untestable > sim_untestable_max(m->untestable_run))
		return err_set(err, ERR_USAGE,
			       "untestable: blocks of %g commits reach a rate of %g",
			       m->untestable_run, sim_untestable_max(m->untestable_run));
	if (!(m->cost_build >= 0 && m->cost_boot > 0 && m->cost_run >= 0))
		return err_set(err, ERR_USAGE,
			       "cost: build and run are not negative, boot is above 0");
	if (!(m->error > 0 && m->error < 0.5) || m->ends_max < 1)
		return err_set(err, ERR_USAGE,
			       "error lies between 0 and 0.5, ends_max is at least 1");
	return 0;
}

/* --- histories --- */

/*
 * A main line with side branches: each forks from one of the 20 commits before its merge (or from
 * good), and about half of the commits lie on branches. In index order a branch comes right before
 * its merge.
 */
static void make_dag(const struct sim_model *m, struct rng *rng, struct dag *d)
{
	int side = m->merges ? MAX(m->merges, (m->commits - m->merges) / 2) : 0;
	int line = m->commits - side; /* merges among them */
	autofree bool *is_merge = xcalloc((size_t)line, sizeof(*is_merge));
	autofree int *length = xcalloc((size_t)m->merges + 1, sizeof(*length));
	autofree int *on_line = xcalloc((size_t)line, sizeof(*on_line));
	int branch = 0, next = 0;

	for (int placed = 0; placed < m->merges;) {
		int at = (int)rng_below(rng, (uint64_t)line);

		placed += at > 0 && !is_merge[at];
		is_merge[at] |= at > 0;
	}
	for (int i = 0; i < side; i++) /* one each, the others anywhere */
		length[i < m->merges ? i : (int)rng_below(rng, (uint64_t)m->merges)]++;
	for (int i = 0; i < line; i++) {
		int parents[2] = {i ? on_line[i - 1] : SEARCH_GOOD};

		if (is_merge[i]) {
			int from = i - 1 - (int)rng_below(rng, (uint64_t)MIN(i + 1, 20));

			parents[1] = from < 0 ? SEARCH_GOOD : on_line[from];
			for (int k = 0; k < length[branch]; k++) {
				dag_add(d, &parents[1], 1);
				parents[1] = next++;
			}
			branch++;
		}
		dag_add(d, parents, is_merge[i] ? 2 : 1);
		on_line[i] = next++;
	}
}

struct world {
	const struct sim_model *model;
	struct rng rng;
	struct dag dag;
	double *level; /* of each candidate */
	bool *untestable;
	bool *built; /* good is the last */
	int steps[SIM_STEPS_MAX];
	int boots, builds;
	double cost;
};

static void plant_steps(struct world *w)
{
	size_t n = w->dag.n;
	autofree uint64_t *planted = xcalloc(bits_words(n), sizeof(*planted));

	for (int i = 0; i < w->model->n_steps; i++) {
		int at = w->model->steps[i].at;
		autofree int *group = xcalloc(n, sizeof(*group));
		autofree double *reached = xcalloc(n, sizeof(*reached));

		do { /* two steps fall on different commits, where there are as many */
			if (w->model->steps[i].at == SIM_ANYWHERE)
				at = (int)rng_below(&w->rng, n);
		} while (bits_test(planted, (size_t)at) && (size_t)i < n &&
			 w->model->steps[i].at == SIM_ANYWHERE);
		bits_set(planted, (size_t)at);
		w->steps[i] = at;
		for (size_t c = 0; c < n; c++)
			group[c] = (int)c == at ? 0 : -1;
		dag_sums(&w->dag, group, (const double[]){1}, 1, reached);
		for (size_t c = 0; c < n; c++)
			w->level[c] += reached[c] * w->model->steps[i].delta * w->model->sigma;
	}
}

/* Blocks of commits that do not build; bad, which the user has seen running, is in none. */
static void plant_untestable(struct world *w)
{
	const struct sim_model *m = w->model;
	double start = m->untestable / (m->untestable_run * (1 - m->untestable));
	bool inside = false;

	for (size_t i = 0; i + 1 < w->dag.n && m->untestable > 0; i++) {
		inside = inside ? rng_uniform(&w->rng) > 1 / m->untestable_run
				: rng_uniform(&w->rng) < start;
		w->untestable[i] = inside;
	}
}

static void world_init(struct world *w, const struct sim_model *m, uint64_t seed)
{
	struct err err = {};

	*w = (struct world){.model = m};
	rng_seed(&w->rng, seed);
	make_dag(m, &w->rng, &w->dag);
	dag_seal(&w->dag, 0, &err); /* made in order, so it cannot fail */
	err_release(&err);
	w->level = xcalloc(w->dag.n, sizeof(*w->level));
	w->untestable = xcalloc(w->dag.n, sizeof(*w->untestable));
	w->built = xcalloc(w->dag.n + 1, sizeof(*w->built));
	plant_steps(w);
	plant_untestable(w);
}

static void world_release(struct world *w)
{
	dag_release(&w->dag);
	free(w->level);
	free(w->untestable);
	free(w->built);
}

/* --- boots --- */

static double one_run(struct world *w)
{
	const struct sim_model *m = w->model;
	double v = m->sigma * rng_normal(&w->rng);

	if (rng_uniform(&w->rng) < m->outliers)
		v += m->sigma * (m->outlier_size + OUTLIER_TAIL * rng_exp(&w->rng));
	return v;
}

static double one_boot(struct world *w, double level)
{
	const struct sim_model *m = w->model;
	double runs[SIM_RUNS_MAX], mode = rng_uniform(&w->rng), v;

	for (int i = 0; i < m->runs; i++)
		runs[i] = one_run(w);
	v = level + values_median(runs, (size_t)m->runs) + m->sigma_boot * rng_normal(&w->rng);
	v += m->sigma * m->drift * sin(2 * M_PI * w->boots / m->drift_period);
	for (int i = 0; i < m->n_modes; i++) {
		if (mode >= 0 && mode < m->modes[i].share)
			v += m->sigma * m->modes[i].shift;
		mode -= m->modes[i].share;
	}
	w->boots++;
	w->cost += m->cost_boot + m->runs * m->cost_run;
	if (rng_uniform(&w->rng) < m->missing)
		return NAN;
	return m->round > 0 ? m->round * m->sigma * round(v / (m->round * m->sigma)) : v;
}

/* Builds what is not built yet; false: it does not build. */
static bool build(struct world *w, int node)
{
	size_t slot = node < 0 ? w->dag.n : (size_t)node;

	if (!w->built[slot]) {
		w->built[slot] = true;
		w->builds++;
		w->cost += w->model->cost_build;
	}
	return node < 0 || !w->untestable[slot];
}

static void measure(struct world *w, struct search *s, const struct search_action *a)
{
	const struct sim_model *m = w->model;
	struct search_obs obs = {
		.node = a->node, .purpose = a->purpose, .target = a->target, .value = NAN};

	if (!build(w, a->node)) {
		obs.status = SEARCH_UNTESTABLE;
		search_add(s, &obs);
		return;
	}
	for (int i = 0; i < a->boots; i++) {
		obs.value =
			one_boot(w, m->sigma * BASE_LEVEL + (a->node < 0 ? 0 : w->level[a->node]));
		obs.status = isnan(obs.value) ? SEARCH_FAILED : SEARCH_OK;
		obs.boot_s = m->cost_boot + m->runs * m->cost_run;
		search_add(s, &obs);
	}
}

/* --- trials --- */

struct trial_result {
	int outcome;
	int boots, builds;
	double cost;
	int set;
	bool right, wrong, in_set, all;
};

static bool is_planted(const struct world *w, int commit)
{
	for (int i = 0; i < w->model->n_steps; i++)
		if (w->steps[i] == commit && w->model->steps[i].delta != 0)
			return true;
	return false;
}

static void judge(const struct world *w, const struct search_result *r, struct trial_result *ret)
{
	int planted = 0, found = 0;

	for (int i = 0; i < w->model->n_steps; i++)
		planted += w->model->steps[i].delta != 0;
	for (size_t i = 0; i < r->n_culprits; i++) {
		found += is_planted(w, r->culprits[i].commit);
		ret->wrong |= !is_planted(w, r->culprits[i].commit);
	}
	ret->in_set = found > 0 || (!planted && !r->n_culprits);
	for (size_t i = 0; i < r->n_candidates; i++)
		ret->in_set |= is_planted(w, r->candidates[i].commit);
	ret->right = planted ? found > 0 : !r->n_culprits;
	ret->all = found == planted;
	/* what did not end within BOOTS_MAX ran out of its budget */
	ret->outcome = r->outcome == OUTCOME_NONE ? OUTCOME_BUDGET : (int)r->outcome;
	ret->set = (int)r->n_candidates;
}

static struct search_config configure(const struct sim_model *m)
{
	struct search_config c = search_config_default();

	c.error = m->error;
	c.min_effect = 0;
	c.better = SEARCH_LOWER;
	c.ends_max = m->ends_max;
	c.confirm = c.second = m->confirm;
	c.build_s = m->cost_build;
	c.boot_s = m->cost_boot + m->runs * m->cost_run;
	if (m->known)
		c.sigma = sqrt(m->sigma * m->sigma / m->runs + m->sigma_boot * m->sigma_boot);
	return c;
}

static void one_trial(const struct sim_model *m, uint64_t seed, struct trial_result *ret)
{
	struct search_config config = configure(m);
	struct search_result result = {};
	struct search_action a;
	struct err err = {};
	struct world w;
	autosearch struct search *s = NULL;

	world_init(&w, m, seed);
	if (search_new(&config, &w.dag, &s, &err) < 0) { /* the model was checked */
		err_release(&err);
		world_release(&w);
		return;
	}
	for (search_next(s, &a); a.kind != SEARCH_DONE && w.boots < BOOTS_MAX && !signals_pending();
	     search_next(s, &a)) {
		if (a.kind == SEARCH_MEASURE)
			measure(&w, s, &a);
		else if (a.kind == SEARCH_COMPARE)
			search_check(s, a.node, a.partner, CHECK_SAME_CODE, CHECK_PASS);
		else if (build(&w, a.node))
			search_built(s, a.node);
		else
			search_skip(s, a.node);
	}
	search_result(s, &result);
	judge(&w, &result, ret);
	ret->boots = w.boots;
	ret->builds = w.builds;
	ret->cost = w.cost;
	search_result_release(&result);
	world_release(&w);
}

/* --- many trials --- */

/* What the workers share. */
struct board {
	atomic_int done;
	struct trial_result results[];
};

struct batch {
	const struct sim_model *model;
	int trials, jobs;
	uint64_t seed;
	int64_t start_ns;
	struct board *board;
};

static void show_progress(const struct batch *b)
{
	int done = atomic_load(&b->board->done);
	double seconds = (double)(clock_now_ns() - b->start_ns) / NS_PER_S;
	char left[32];

	if (done)
		progress_detail("%d done, %s left", done,
				clock_format_duration(seconds / done * (b->trials - done), left));
}

/* Trials worker, worker + jobs, ...: each seeded by its own number. */
static bool work(const struct batch *b, int worker)
{
	for (int i = worker; i < b->trials; i += b->jobs) {
		one_trial(b->model, b->seed * 0x9e3779b97f4a7c15u + (uint64_t)i,
			  &b->board->results[i]);
		if (signals_pending())
			return false;
		atomic_fetch_add(&b->board->done, 1);
		if (b->jobs == 1)
			show_progress(b);
	}
	return true;
}

/* The workers hold the other end of a pipe: it hangs up when the last of them ends. */
static void on_hangup(int fd, short revents, void *arg)
{
	*(bool *)arg = true;
}

static int await_hangup(const struct batch *b, int fd, struct err *err)
{
	autoloop struct loop *loop = loop_new();
	bool ended = false;
	int r = 0;

	loop_add_fd(loop, fd, POLLIN, on_hangup, &ended);
	while (!ended && r >= 0) {
		r = loop_run_once(loop, clock_deadline_ns(100 * NS_PER_MS), err);
		show_progress(b);
	}
	return r < 0 ? r : 0;
}

static pid_t fork_worker(const struct batch *b, int worker)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent && work(b, worker) ? 0 : 1);
	}
	return pid;
}

/* Waits for one, who loses nothing that is kept when it is ended; false: it did not end well. */
static bool reap(pid_t pid, bool end)
{
	int status = 1;

	if (end)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static int fork_workers(const struct batch *b, struct err *err)
{
	autofree pid_t *pids = xcalloc((size_t)b->jobs, sizeof(*pids));
	autoclose int in = -1, out = -1;
	int fds[2], n = 0, r = 0;
	bool good = true;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, "cannot make a pipe to the workers");
	in = fds[0];
	out = fds[1];
	for (; n < b->jobs && r == 0; n += r == 0) {
		pids[n] = fork_worker(b, n);
		if (pids[n] < 0)
			r = err_errno(err, "cannot start a simulation worker");
	}
	close(take_fd(&out));
	if (r == 0)
		r = await_hangup(b, in, err);
	for (int j = 0; j < n; j++)
		good &= reap(pids[j], r < 0);
	if (r == 0)
		r = signals_check(err);
	return r < 0 || good ? r : err_set(err, ERR_IO, "a simulation worker did not end well");
}

static struct sim_spread spread_of(double *v, int n)
{
	return (struct sim_spread){values_mean(v, (size_t)n), values_quantile(v, (size_t)n, 0.95)};
}

static void summarise(const struct trial_result *results, int trials, struct sim_report *ret)
{
	autofree double *boots = xcalloc(3 * (size_t)trials, sizeof(*boots));
	double *builds = boots + trials, *cost = builds + trials, sets = 0, size = 0;

	*ret = (struct sim_report){.trials = trials};
	for (int i = 0; i < trials; i++) {
		const struct trial_result *t = &results[i];

		ret->right += t->right;
		ret->wrong += t->wrong;
		ret->in_set += t->in_set;
		ret->all += t->all;
		ret->outcomes[t->outcome]++;
		boots[i] = t->boots;
		builds[i] = t->builds;
		cost[i] = t->cost;
		sets += t->set > 0;
		size += t->set;
	}
	ret->boots = spread_of(boots, trials);
	ret->builds = spread_of(builds, trials);
	ret->cost = spread_of(cost, trials);
	ret->set_size = sets > 0 ? size / sets : NAN;
	ret->wrong_low = dist_binomial_low(ret->wrong, trials, 0.95);
	ret->wrong_high = dist_binomial_high(ret->wrong, trials, 0.95);
}

int simulate(const struct sim_model *m, int trials, uint64_t seed, int jobs, struct sim_report *ret,
	     struct err *err)
{
	struct batch b = {.model = m, .trials = trials, .jobs = MIN(jobs, trials), .seed = seed};
	size_t bytes = sizeof(*b.board) + (size_t)trials * sizeof(*b.board->results);
	int r = 0;

	if (sim_model_check(m, err) < 0)
		return -err->code;
	if (trials < 1 || trials > SIM_TRIALS_MAX || jobs < 1)
		return err_set(err, ERR_USAGE, "%d trials by %d workers: 1 to %d, by 1 or more",
			       trials, jobs, SIM_TRIALS_MAX);
	b.board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b.board == MAP_FAILED)
		return err_errno(err, "cannot share the results of the workers");
	b.start_ns = clock_now_ns();
	progress_phase("simulating %d searches", trials);
	if (b.jobs > 1)
		r = fork_workers(&b, err);
	else if (!work(&b, 0))
		r = signals_check(err);
	if (r == 0)
		summarise(b.board->results, trials, ret);
	munmap(b.board, bytes);
	return r;
}
