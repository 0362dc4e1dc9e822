// SPDX-License-Identifier: GPL-2.0-or-later
// What the keys of a job say together: defaults that depend on others, cells, and contradictions.
#include "harness/job/cells.h"
#include "harness/job/job_file.h"

static const struct yaml_node *find(const struct job_file *f, const char *group, const char *key)
{
	const struct yaml_node *node = node_get(f->root, group);

	return node && key ? node_get(node, key) : node;
}

/* Without `runner:` the other keys say where the job runs. */
static void settle_runner(struct job_file *f)
{
	if (!find(f, "runner", NULL))
		f->job.runner = find(f, "machine", NULL)  ? RUNNER_MACHINE
				: find(f, "kernel", NULL) ? RUNNER_QEMU
							  : RUNNER_LOCAL;
	f->job.is_kernel = find(f, "kernel", NULL) != NULL;
}

static void check_runner(const struct job_file *f, struct diag *d)
{
	const struct yaml_node *runner = find(f, "runner", NULL),
			       *machine = find(f, "machine", NULL);
	const struct yaml_node *kernel = find(f, "kernel", NULL), *build = find(f, "build", NULL);

	if (runner && f->job.runner == RUNNER_LOCAL && !streq(runner->text, "local"))
		return; /* a word that is no runner: what it would exclude cannot be told */
	if (runner && !machine && f->job.runner == RUNNER_MACHINE)
		node_fault(runner, d, "needs 'machine: NAME' beside it");
	if (runner && machine && f->job.runner != RUNNER_MACHINE)
		diag_add(d, machine->key_at, "machine", "excludes 'runner: %s'",
			 runner->text ? runner->text : "");
	if (kernel && build)
		diag_add(d, build->key_at, "build",
			 "excludes 'kernel' of line %u: kernels are built by culprit",
			 kernel->key_at.line);
	else if (build && f->job.runner != RUNNER_LOCAL)
		diag_add(d, build->key_at, "build", "is for 'runner: local' only");
	if (kernel && f->job.runner == RUNNER_LOCAL)
		diag_add(d, kernel->key_at, "kernel",
			 "needs 'runner: qemu' or a machine, the local runner boots none");
}

/* Read for this host as it runs, a job about kernels needs none of their keys. */
static void settle_here(struct job_file *f, struct diag *d)
{
	const struct yaml_node *build = find(f, "build", NULL);

	if (build)
		diag_add(d, build->key_at, "build",
			 "the job measures what it builds, not this host as it runs");
	f->job.runner = RUNNER_LOCAL;
	f->job.is_kernel = false;
}

static void check_qemu(const struct job_file *f, struct diag *d)
{
	const struct qemu_options *q = &f->job.qemu;
	const struct yaml_node *clock = find(f, "qemu", "clock");

	if (!clock || q->clock != CLOCK_ICOUNT)
		return;
	if (q->cpus > 1)
		node_fault(clock, d, "icount needs 'cpus: 1', not %u", q->cpus);
	if (q->accel == ACCEL_KVM)
		node_fault(clock, d, "icount needs emulation, not 'accel: kvm'");
}

/* What `50%` of the CPUs is a share of; 0 for a lab machine, which is not at hand here. */
static uint32_t count_cpus(const struct job *job)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (job->runner == RUNNER_QEMU)
		return job->qemu.cpus;
	return job->runner == RUNNER_MACHINE ? 0 : online > 0 ? (uint32_t)online : 1;
}

/* Of a pair of which only one was given, the default of the other gives way. */
static void settle_range(const struct job_file *f, const char *group, uint32_t *min, uint32_t *max,
			 struct diag *d)
{
	const struct yaml_node *low = find(f, group, "min"), *high = find(f, group, "max");

	if (*min <= *max || !*max)
		return;
	if (low && high)
		node_fault(high, d, "%u is less than 'min: %u'", *max, *min);
	else if (low)
		*max = *min;
	else
		*min = *max;
}

/* --- metrics --- */

struct metric_check {
	struct job_file *f;
	struct diag *d;
	const struct metric *metric;
	char *state; /* of each metric: 0 not visited, 1 being visited, 2 done */
	bool cycle;
};

static const struct yaml_node *metric_node(const struct job_file *f, const struct metric *m)
{
	return node_get(find(f, "metrics", NULL), m->name);
}

static const struct yaml_node *parameter_node(const struct job_file *f, const char *name)
{
	return f->parameters ? node_get(f->parameters, name) : NULL;
}

static bool is_source(const char *key)
{
	return streq(key, "pattern") || streq(key, "json") || streq(key, "key") ||
	       streq(key, "derive");
}

static void check_source(const struct metric_check *c)
{
	const struct yaml_node *node = metric_node(c->f, c->metric), *found[2] = {};
	const struct yaml_node *take = node_get(node, "take");
	size_t n = 0;

	if (node->kind != NODE_MAP)
		return;
	for (size_t i = 0; i < node->n && n < 2; i++)
		if (is_source(node->items[i]->key))
			found[n++] = node->items[i];
	if (n == 0)
		diag_add(c->d, node->key_at, node->key,
			 "needs one of pattern, json, key or derive to come from");
	if (n == 2)
		diag_add(c->d, found[1]->key_at, found[1]->key,
			 "excludes '%s' of line %u: a metric has one source", found[0]->key,
			 found[0]->key_at.line);
	if (n == 1 && take && (streq(found[0]->key, "json") || streq(found[0]->key, "derive")))
		diag_add(c->d, take->key_at, "take", "is for pattern and key, '%s' gives one value",
			 found[0]->key);
	if (parameter_node(c->f, c->metric->name))
		diag_add(c->d, node->key_at, node->key, "a parameter has this name, too");
}

/* A parameter in arithmetic must be a number in every cell. */
static void check_parameter_numbers(const struct metric_check *c, const struct yaml_node *derive,
				    const char *name)
{
	for (size_t i = 0; i < c->f->job.n_cells; i++) {
		const struct cell *cell = &c->f->job.cells[i];

		for (size_t k = 0; k < cell->n_values; k++) {
			double v;

			if (!streq(cell->values[k].name, name) ||
			    str_to_double(cell->values[k].value, &v))
				continue;
			node_fault(derive, c->d, "parameter '%s' is '%s', which is no number", name,
				   cell->values[k].value);
			return;
		}
	}
}

static void check_used_name(const char *name, void *arg)
{
	const struct metric_check *c = arg;
	const struct yaml_node *derive = node_get(metric_node(c->f, c->metric), "derive");
	const struct yaml_node *groups[] = {find(c->f, "metrics", NULL), c->f->parameters};
	autofree const char **names = NULL;
	autofree char *meant = NULL;
	size_t n = 0;

	if (parameter_node(c->f, name)) {
		check_parameter_numbers(c, derive, name);
		return;
	}
	if (node_get(groups[0], name))
		return;
	for (size_t g = 0; g < ARRAY_SIZE(groups); g++) {
		size_t add = groups[g] ? groups[g]->n : 0;

		names = xrealloc(names, n + add + 1, sizeof(*names));
		for (size_t i = 0; i < add; i++)
			names[n++] = groups[g]->items[i]->key;
	}
	names[n] = NULL;
	meant = schema_meant(name, names);
	node_fault(derive, c->d, "no metric or parameter is called '%s'%s", name, meant);
}

static void visit(const char *name, void *arg)
{
	struct metric_check *c = arg;
	const struct metric *m = job_metric(&c->f->job, name);
	size_t i;

	if (!m || !m->derive)
		return;
	i = m - c->f->job.metrics;
	if (c->state[i] == 1)
		c->cycle = true;
	if (c->state[i])
		return;
	c->state[i] = 1;
	expr_names(m->derive, visit, c);
	c->state[i] = 2;
}

static void check_cycle(struct metric_check *c)
{
	autofree char *state = xcalloc(c->f->job.n_metrics, 1);

	c->state = state;
	c->cycle = false;
	visit(c->metric->name, c);
	if (c->cycle)
		node_fault(node_get(metric_node(c->f, c->metric), "derive"), c->d,
			   "'%s' is derived from itself, directly or by way of others",
			   c->metric->name);
}

static void check_metrics(struct job_file *f, struct diag *d)
{
	struct job *job = &f->job;
	const struct yaml_node *metrics = find(f, "metrics", NULL);

	if (metrics && metrics->kind == NODE_MAP && !metrics->n)
		node_fault(metrics, d, "a job needs at least one metric");
	for (size_t i = 0; i < job->n_metrics; i++) {
		struct metric_check c = {.f = f, .d = d, .metric = &job->metrics[i]};

		check_source(&c);
		if (!c.metric->derive)
			continue;
		expr_names(c.metric->derive, check_used_name, &c);
		check_cycle(&c);
	}
	if (job->n_metrics == 1 && !node_get(metric_node(f, job->metrics), "kpi"))
		job->metrics[0].kpi = true;
}

void job_settle(struct job_file *f, struct diag *d)
{
	struct job *job = &f->job;

	settle_runner(f);
	check_runner(f, d);
	check_qemu(f, d);
	if (f->here)
		settle_here(f, d);
	settle_range(f, "boots", &job->boots_min, &job->boots_max, d);
	settle_range(f, "iterate", &job->iterate_min, &job->iterate_max, d);
	cells_expand(f->parameters, f->exclude, count_cpus(job), &job->cells, &job->n_cells, d);
	check_metrics(f, d);
}
