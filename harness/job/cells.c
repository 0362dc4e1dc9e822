// SPDX-License-Identifier: GPL-2.0-or-later
// The cartesian product of parameters, in the order of the file, the last one changing fastest.
#include "harness/job/cells.h"

#include "harness/job/schema.h"

#include <ctype.h>
#include <inttypes.h>

enum { CELLS_MAX = 10000, NAME_MAX_BYTES = 4096 };

struct axis {
	const char *name;
	char **values;
};

struct grid {
	VEC(struct axis) axes;
	uint32_t cpus;
	struct diag *d;
};

/* "64K" or "1MiB": digits and a unit that cannot be taken for anything else. */
static bool is_size(const char *text, uint64_t *ret)
{
	const char *unit = text + strspn(text, "0123456789.");

	return unit > text && *unit && strchr("KMGT", *unit) && str_to_bytes(text, ret);
}

/* "50%" as a number of CPUs, rounded, at least one. */
static bool is_share(const char *text, uint64_t *ret_percent)
{
	size_t digits = strspn(text, "0123456789");
	autofree char *number = xstrndup(text, digits);

	return digits && streq(text + digits, "%") && str_to_u64(number, ret_percent);
}

/* The value as it reaches the environment; NULL after a fault. */
static char *parameter_text(const struct grid *g, const struct yaml_node *node)
{
	uint64_t n;

	if (node->broken)
		return NULL;
	if (node->kind != NODE_SCALAR || node_is_null(node)) {
		node_fault(node, g->d, "a value must be a text or a number ('' for an empty one)");
		return NULL;
	}
	if (!node->quoted && is_size(node->text, &n))
		return xasprintf("%" PRIu64, n);
	if (node->quoted || !is_share(node->text, &n))
		return xstrdup(node->text);
	if (!g->cpus) {
		node_fault(node, g->d,
			   "'%s' is a share of CPUs that are not known here: give their number",
			   node->text);
		return NULL;
	}
	if (n > 100000) {
		node_fault(node, g->d, "'%s' of the CPUs is too many", node->text);
		return NULL;
	}
	return xasprintf("%" PRIu64, MAX((n * g->cpus + 50) / 100, (uint64_t)1));
}

static bool contains(char *const *values, const char *text)
{
	for (size_t i = 0; values && values[i]; i++)
		if (streq(values[i], text))
			return true;
	return false;
}

/* Whether the list says this very text before its place `end`. */
static bool repeats(const struct yaml_node *list, size_t end)
{
	for (size_t i = 0; i < end; i++)
		if (list->items[i]->quoted == list->items[end]->quoted &&
		    streq(list->items[i]->text, list->items[end]->text))
			return true;
	return false;
}

/* The values of a parameter or of an exclusion: a list, or one alone. Two shares that come to the
 * same number of CPUs are one value. */
static char **read_values(const struct grid *g, const struct yaml_node *node)
{
	char **values = strv_dup(NULL);
	bool list = node->kind == NODE_LIST;
	size_t n = list ? node->n : 1;

	if (n == 0 || n > CELLS_MAX) {
		node_fault(node, g->d, n ? "more than 10000 values" : "an empty list");
		return values;
	}
	for (size_t i = 0; i < n; i++) {
		const struct yaml_node *item = list ? node->items[i] : node;
		autofree char *text = parameter_text(g, item);

		if (text && list && repeats(node, i))
			node_fault(item, g->d, "'%s' is listed twice", item->text);
		else if (text && !contains(values, text))
			strv_push(&values, text);
	}
	return values;
}

static bool is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

static bool check_name(const struct grid *g, const struct yaml_node *node)
{
	const char *name = node->key, *wrong = NULL;

	if (!is_name(name))
		wrong = "a parameter is an environment variable: letters, digits and _ only";
	else if (streq(name, "PATH") || streq(name, "HOME") || str_starts(name, "LD_"))
		wrong = "a parameter must not be called PATH, HOME or LD_*, which would change "
			"every program";
	else if (str_starts(name, "CULPRIT_"))
		wrong = "a parameter must not be called CULPRIT_*, those variables are set by "
			"culprit";
	if (wrong)
		diag_add(g->d, node->key_at, name, "%s", wrong);
	return !wrong;
}

static size_t longest(char *const *values)
{
	size_t most = 0;

	for (size_t i = 0; values[i]; i++)
		most = MAX(most, strlen(values[i]));
	return most;
}

static size_t read_axes(struct grid *g, const struct yaml_node *parameters)
{
	size_t cells = 1, length = 0;

	for (size_t i = 0; i < parameters->n; i++) {
		const struct yaml_node *node = parameters->items[i];
		struct axis axis = {node->key, NULL};

		if (!check_name(g, node))
			continue;
		axis.values = read_values(g, node);
		VEC_PUSH(&g->axes, axis);
		length += strlen(axis.name) + longest(axis.values) + 2;
		cells *= MAX(strv_len(axis.values), (size_t)1);
		if (cells > CELLS_MAX || length > NAME_MAX_BYTES) {
			node_fault(node, g->d,
				   cells > CELLS_MAX ? "more than 10000 combinations of parameters"
						     : "the values of one combination are longer "
						       "than 4096 characters");
			return 0;
		}
	}
	return cells;
}

static const struct axis *find_axis(const struct grid *g, const char *name)
{
	for (size_t i = 0; i < g->axes.n; i++)
		if (streq(g->axes.at[i].name, name))
			return &g->axes.at[i];
	return NULL;
}

/* An exclusion: for each axis the values that it takes out, NULL for all. */
typedef char ***exclusion;

static void exclusion_free(exclusion x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_free(x[i]);
	free(x);
}

static void fault_no_parameter(const struct grid *g, const struct yaml_node *node)
{
	autofree const char **names = xcalloc(g->axes.n + 1, sizeof(*names));
	autofree char *meant = NULL;

	for (size_t i = 0; i < g->axes.n; i++)
		names[i] = g->axes.at[i].name;
	meant = schema_meant(node->key, names);
	diag_add(g->d, node->key_at, node->key, "no parameter has this name%s", meant);
}

static void read_exclusion_entry(const struct grid *g, const struct yaml_node *node, exclusion x)
{
	const struct axis *axis = find_axis(g, node->key);
	char **values;

	if (!axis) {
		fault_no_parameter(g, node);
		return;
	}
	values = read_values(g, node);
	for (size_t i = 0; values[i]; i++)
		if (!contains(axis->values, values[i]))
			node_fault(node, g->d, "'%s' is no value of this parameter", values[i]);
	x[axis - g->axes.at] = values;
}

static exclusion read_exclusion(const struct grid *g, const struct yaml_node *node)
{
	exclusion x = xcalloc(g->axes.n, sizeof(*x));

	if (node->kind != NODE_MAP || !node->n)
		node_fault(node, g->d, "must be a list of mappings like [{size: 64}]");
	else
		for (size_t i = 0; i < node->n; i++)
			read_exclusion_entry(g, node->items[i], x);
	return x;
}

static bool excludes(const struct grid *g, exclusion x, char *const *values)
{
	for (size_t i = 0; i < g->axes.n; i++)
		if (x[i] && !contains(x[i], values[i]))
			return false;
	return true;
}

static struct cell cell_new(const struct grid *g, char *const *values)
{
	struct cell cell = {.n_values = g->axes.n};
	autobuf name = {};

	cell.values = xcalloc(g->axes.n, sizeof(*cell.values));
	for (size_t i = 0; i < g->axes.n; i++) {
		cell.values[i] =
			(struct parameter_value){xstrdup(g->axes.at[i].name), xstrdup(values[i])};
		buf_printf(&name, "%s%s=%s", i ? "," : "", g->axes.at[i].name, values[i]);
	}
	cell.name = buf_take(&name);
	return cell;
}

/* The values of combination number k. */
static void combination(const struct grid *g, size_t k, char **ret)
{
	for (size_t i = g->axes.n; i-- > 0;) {
		size_t n = strv_len(g->axes.at[i].values);

		ret[i] = g->axes.at[i].values[k % n];
		k /= n;
	}
}

static void make_cells(const struct grid *g, size_t combinations, const struct yaml_node *exclude,
		       struct cell **ret, size_t *ret_n)
{
	size_t n_exclusions = exclude ? exclude->n : 0;
	autofree exclusion *exclusions = xcalloc(n_exclusions, sizeof(*exclusions));
	autofree char **values = xcalloc(g->axes.n, sizeof(*values));
	VEC(struct cell) cells = {};

	for (size_t i = 0; i < n_exclusions; i++)
		exclusions[i] = read_exclusion(g, exclude->items[i]);
	for (size_t k = 0; k < combinations && !g->d->faults.n; k++) {
		bool out = false;

		combination(g, k, values);
		for (size_t i = 0; i < n_exclusions && !out; i++)
			out = excludes(g, exclusions[i], values);
		if (!out)
			VEC_PUSH(&cells, cell_new(g, values));
	}
	for (size_t i = 0; i < n_exclusions; i++)
		exclusion_free(exclusions[i], g->axes.n);
	if (!cells.n && !g->d->faults.n)
		node_fault(exclude, g->d, "takes every combination out, nothing is left to run");
	*ret = cells.at;
	*ret_n = cells.n;
}

void cells_expand(const struct yaml_node *parameters, const struct yaml_node *exclude,
		  uint32_t cpus, struct cell **ret, size_t *ret_n, struct diag *d)
{
	struct grid g = {.cpus = cpus, .d = d};
	size_t combinations = 1;

	if (parameters && parameters->kind != NODE_MAP) {
		node_fault(parameters, d, "must be a mapping like {size: [64, 1024]}");
		return;
	}
	if (exclude && exclude->kind != NODE_LIST) {
		node_fault(exclude, d, "must be a list of mappings like [{size: 64}]");
		exclude = NULL;
	}
	if (exclude && exclude->n > 1000) {
		node_fault(exclude, d, "a list of more than 1000");
		exclude = NULL;
	}
	if (parameters)
		combinations = read_axes(&g, parameters);
	if (combinations)
		make_cells(&g, combinations, exclude, ret, ret_n);
	for (size_t i = 0; i < g.axes.n; i++)
		strv_free(g.axes.at[i].values);
	VEC_FREE(&g.axes);
}

void cells_free(struct cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < cells[i].n_values; k++) {
			free(cells[i].values[k].name);
			free(cells[i].values[k].value);
		}
		free(cells[i].values);
		free(cells[i].name);
	}
	free(cells);
}

/* Which of the cell's parameters "NAME=" at text begins with; n_values for none. */
static size_t parameter_at(const struct cell *cell, const char *text)
{
	size_t i = 0;

	for (; i < cell->n_values; i++) {
		size_t len = strlen(cell->values[i].name);

		if (strncmp(text, cell->values[i].name, len) == 0 && text[len] == '=')
			break;
	}
	return i;
}

/* Values may hold commas: a value ends where ",NAME=" of another parameter begins. */
static bool matches(const struct cell *cell, const char *text)
{
	while (*text) {
		size_t i = parameter_at(cell, text), len = 0;
		const char *value;

		if (i == cell->n_values)
			return false;
		value = text + strlen(cell->values[i].name) + 1;
		while (value[len] &&
		       !(value[len] == ',' && parameter_at(cell, value + len + 1) < cell->n_values))
			len++;
		if (strlen(cell->values[i].value) != len ||
		    memcmp(cell->values[i].value, value, len) != 0)
			return false;
		text = value + len + (value[len] == ',');
	}
	return true;
}

const struct cell *cells_find(const struct cell *cells, size_t n, const char *text)
{
	const struct cell *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!matches(&cells[i], text))
			continue;
		if (found)
			return NULL;
		found = &cells[i];
	}
	return found;
}
