// SPDX-License-Identifier: GPL-2.0-or-later
// The schema of simulated histories, and what its keys say together.
#include "harness/search/sim_model.h"

#include <math.h>

#include "harness/base/fs.h"
#include "harness/job/schema.h"

#define FILE_MAX  (1 << 20)
#define LARGE	  1e9
#define SMALL	  1e-9
#define SHARE_MAX 0.99

enum { LINEAR, DAG };

struct model_file {
	struct sim_model model;
	unsigned shape;
};

static void *new_mode(const struct yaml_node *node, void *field, struct diag *d)
{
	struct sim_model *m = container_of(field, struct sim_model, modes);

	if (m->n_modes == SIM_MODES_MAX) {
		node_fault(node, d, "more than %d", SIM_MODES_MAX);
		return NULL;
	}
	return &m->modes[m->n_modes++];
}

static void *new_step(const struct yaml_node *node, void *field, struct diag *d)
{
	struct sim_model *m = container_of(field, struct sim_model, steps);

	if (m->n_steps == SIM_STEPS_MAX) {
		node_fault(node, d, "more than %d", SIM_STEPS_MAX);
		return NULL;
	}
	m->steps[m->n_steps].at = SIM_ANYWHERE;
	return &m->steps[m->n_steps++];
}

/* --- the tables --- */

#define MODEL(field) .offset = offsetof(struct model_file, model.field)

static const char *const shapes[] = {[LINEAR] = "linear", [DAG] = "dag", NULL};

static const struct schema history_rows[] = {
	{.key = "shape",
	 .kind = SCHEMA_ENUM,
	 .offset = offsetof(struct model_file, shape),
	 .words = shapes,
	 .fallback = "linear",
	 .help = "a line of commits, or one with side branches that are merged"},
	{.key = "commits",
	 .kind = SCHEMA_U32,
	 MODEL(commits),
	 .min = 1,
	 .max = 1000000,
	 .fallback = "64",
	 .help = "candidates, bad included"},
	{.key = "merges",
	 .kind = SCHEMA_U32,
	 MODEL(merges),
	 .min = 0,
	 .max = 300000,
	 .fallback = "0",
	 .help = "merged side branches of a dag, which hold about half of its commits"},
	{}};

static const struct schema mode_rows[] = {{.key = "share",
					   .kind = SCHEMA_FRACTION,
					   .offset = offsetof(struct sim_mode, share),
					   .min = 0,
					   .max = 1,
					   .required = true,
					   .example = "0.3",
					   .help = "how many boots fall into it"},
					  {.key = "shift",
					   .kind = SCHEMA_DOUBLE,
					   .offset = offsetof(struct sim_mode, shift),
					   .min = -LARGE,
					   .max = LARGE,
					   .required = true,
					   .example = "6",
					   .help = "how far their values lie off, in sigma"},
					  {}};

static const struct schema noise_rows[] = {
	{.key = "sigma",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(sigma),
	 .min = SMALL,
	 .max = LARGE,
	 .fallback = "1",
	 .help = "standard deviation of a run; other keys count in it"},
	{.key = "sigma_boot",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(sigma_boot),
	 .max = LARGE,
	 .fallback = "0",
	 .help = "standard deviation between boots, which all runs of a boot share; same unit as "
		 "sigma"},
	{.key = "outliers",
	 .kind = SCHEMA_FRACTION,
	 MODEL(outliers),
	 .max = 1,
	 .fallback = "0.02",
	 .help = "share of runs that come out worse by sigma * (outlier_size + 5 Exp(1))"},
	{.key = "outlier_size",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(outlier_size),
	 .max = LARGE,
	 .fallback = "5",
	 .help = "the least that an outlier adds, in sigma"},
	{.key = "drift",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(drift),
	 .max = LARGE,
	 .fallback = "0",
	 .help = "amplitude of a sine over the boots, in sigma"},
	{.key = "drift_period",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(drift_period),
	 .min = 1,
	 .max = LARGE,
	 .fallback = "40",
	 .help = "boots until the sine begins again"},
	{.key = "round",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(round),
	 .max = LARGE,
	 .fallback = "0",
	 .help = "values come in multiples of this, in sigma; 0: they do not"},
	{.key = "missing",
	 .kind = SCHEMA_FRACTION,
	 MODEL(missing),
	 .max = SHARE_MAX,
	 .fallback = "0",
	 .help = "share of boots that give no value"},
	{.key = "known",
	 .kind = SCHEMA_BOOL,
	 MODEL(known),
	 .fallback = "no",
	 .help = "whether the search is told the standard deviation of a boot value"},
	{.key = "modes",
	 .kind = SCHEMA_LIST,
	 MODEL(modes),
	 .rows = mode_rows,
	 .entry = new_mode,
	 .example = "[{share: 0.3, shift: 6}]",
	 .help = "what a boot may fall into, whatever it boots"},
	{}};

static const struct schema step_rows[] = {
	{.key = "delta",
	 .kind = SCHEMA_DOUBLE,
	 .offset = offsetof(struct sim_step, delta),
	 .min = -LARGE,
	 .max = LARGE,
	 .required = true,
	 .example = "2",
	 .help = "in sigma, positive is worse; 0: none"},
	{.key = "at",
	 .kind = SCHEMA_U32,
	 .offset = offsetof(struct sim_step, at),
	 .min = 0,
	 .max = 999999,
	 .example = "17",
	 .help = "index of its commit, from 0; without it any commit, another in each trial"},
	{}};

static const struct schema untestable_rows[] = {
	{.key = "rate",
	 .kind = SCHEMA_FRACTION,
	 MODEL(untestable),
	 .max = SHARE_MAX,
	 .fallback = "0",
	 .help = "share of commits that do not build, never bad itself"},
	{.key = "run",
	 .kind = SCHEMA_DOUBLE,
	 MODEL(untestable_run),
	 .min = 1,
	 .max = 1e6,
	 .fallback = "4",
	 .help = "mean length of a block of them"},
	{}};

static const struct schema cost_rows[] = {{.key = "build",
					   .kind = SCHEMA_DOUBLE,
					   MODEL(cost_build),
					   .max = LARGE,
					   .fallback = "2",
					   .help = "of building a commit, once"},
					  {.key = "boot",
					   .kind = SCHEMA_DOUBLE,
					   MODEL(cost_boot),
					   .min = SMALL,
					   .max = LARGE,
					   .fallback = "1",
					   .help = "of a boot"},
					  {.key = "run",
					   .kind = SCHEMA_DOUBLE,
					   MODEL(cost_run),
					   .max = LARGE,
					   .fallback = "0",
					   .help = "of each run in it"},
					  {}};

static const struct schema model_rows[] = {
	{.key = "history", .kind = SCHEMA_GROUP, .rows = history_rows, .help = "the commits"},
	{.key = "noise",
	 .kind = SCHEMA_GROUP,
	 .rows = noise_rows,
	 .help = "how values scatter around the level of their commit"},
	{.key = "runs",
	 .kind = SCHEMA_U32,
	 MODEL(runs),
	 .min = 1,
	 .max = SIM_RUNS_MAX,
	 .fallback = "1",
	 .help = "runs in a boot, whose median is its value"},
	{.key = "steps",
	 .kind = SCHEMA_LIST,
	 MODEL(steps),
	 .rows = step_rows,
	 .entry = new_step,
	 .example = "[{delta: 2}]",
	 .help = "what the search is to find; none: an A/A history"},
	{.key = "untestable",
	 .kind = SCHEMA_GROUP,
	 .rows = untestable_rows,
	 .help = "commits that do not build"},
	{.key = "cost",
	 .kind = SCHEMA_GROUP,
	 .rows = cost_rows,
	 .help = "what the search weighs and the report adds up, in any unit"},
	{.key = "error",
	 .kind = SCHEMA_FRACTION,
	 MODEL(error),
	 .min = 0.00001,
	 .max = 0.2,
	 .fallback = "0.01",
	 .help = "how often the search may be wrong"},
	{.key = "ends_max",
	 .kind = SCHEMA_U32,
	 MODEL(ends_max),
	 .min = 5,
	 .max = 5000,
	 .fallback = "120",
	 .help = "boots of each end before the search gives up on a step"},
	{.key = "confirm",
	 .kind = SCHEMA_BOOL,
	 MODEL(confirm),
	 .fallback = "true",
	 .help = "whether a culprit is proved on fresh boots, and a second step looked for"},
	{}};

/* --- what no single key tells --- */

static const struct yaml_node *find(const struct yaml_node *root, const char *group,
				    const char *key)
{
	const struct yaml_node *node = node_get(root, group);

	return node ? node_get(node, key) : NULL;
}

static void check_history(const struct model_file *f, const struct yaml_node *root, struct diag *d)
{
	const struct yaml_node *merges = find(root, "history", "merges");
	const struct yaml_node *shape = find(root, "history", "shape");
	const struct sim_model *m = &f->model;

	if (!merges || !m->merges || !m->commits)
		return;
	if (f->shape == LINEAR && (!shape || streq(shape->text, shapes[LINEAR])))
		node_fault(merges, d, "a linear history has none, 'shape: dag' has");
	else if (3 * m->merges > m->commits)
		node_fault(merges, d, "%d merges take at least %d commits, not %d", m->merges,
			   3 * m->merges, m->commits);
}

/* Entries keep the order of the file, so step i is item i of the list. */
static void check_steps(const struct sim_model *m, const struct yaml_node *root, struct diag *d)
{
	const struct yaml_node *steps = node_get(root, "steps");

	for (int i = 0; i < m->n_steps && m->commits; i++) {
		const struct yaml_node *at = node_get(steps->items[i], "at");
		int first = 0;

		while (m->steps[first].at != m->steps[i].at)
			first++;
		if (at && m->steps[i].at != SIM_ANYWHERE && first < i)
			node_fault(at, d, "a step at %d is there already", m->steps[i].at);
		if (at && m->steps[i].at >= m->commits)
			node_fault(at, d,
				   "%d lies outside of the history, whose commits are 0 to %d",
				   m->steps[i].at, m->commits - 1);
	}
}

static void check_modes(const struct sim_model *m, const struct yaml_node *root, struct diag *d)
{
	const struct yaml_node *modes = find(root, "noise", "modes");
	double sum = 0;

	for (int i = 0; i < m->n_modes; i++)
		sum += m->modes[i].share;
	if (sum > 1 + SMALL)
		node_fault(modes, d, "the shares are %g%% together, over 100%%", 100 * sum);
}

static void check_untestable(const struct sim_model *m, const struct yaml_node *root,
			     struct diag *d)
{
	const struct yaml_node *rate = find(root, "untestable", "rate");

	if (rate && m->untestable_run >= 1 && m->untestable > sim_untestable_max(m->untestable_run))
		node_fault(rate, d, "blocks of %g commits make at most %.3g%% untestable",
			   m->untestable_run, 100 * sim_untestable_max(m->untestable_run));
}

static void read_model(const struct yaml_node *root, struct model_file *f, struct diag *d)
{
	schema_read(model_rows, root, f, d);
	f->model.dag = f->shape == DAG;
	if (root->kind != NODE_MAP)
		return;
	check_history(f, root, d);
	check_steps(&f->model, root, d);
	check_modes(&f->model, root, d);
	check_untestable(&f->model, root, d);
}

static const struct yaml_node nothing = {.kind = NODE_MAP};

struct sim_model sim_model_default(void)
{
	struct model_file f = {};
	autodiag d = {};

	read_model(&nothing, &f, &d);
	return f.model;
}

/* Blanks and comments. */
static bool says_nothing(const char *text, size_t len)
{
	const char *s = text + strspn(text, " \t\r\n");

	while (*s == '#') {
		s += strcspn(s, "\n");
		s += strspn(s, " \t\r\n");
	}
	return s == text + len;
}

int sim_model_parse(const char *text, size_t len, const char *file, struct sim_model *ret,
		    struct err *err)
{
	struct model_file f = {};
	autoyaml *root = NULL;
	autodiag d = {};

	if (!says_nothing(text, len)) {
		root = node_parse(text, len, file, &d);
		if (!root)
			return diag_err(&d, err);
	}
	read_model(root ? root : &nothing, &f, &d);
	if (diag_err(&d, err))
		return -ERR_USAGE;
	*ret = f.model;
	return 0;
}

int sim_model_load(const char *path, struct sim_model *ret, struct err *err)
{
	autobuf text = {};

	if (fs_read(path, FILE_MAX, &text, err) < 0)
		return -err->code;
	return sim_model_parse(buf_str(&text), text.len, path, ret, err);
}
