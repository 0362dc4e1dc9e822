// SPDX-License-Identifier: GPL-2.0-or-later
// A job from its file: loaded, merged, read by the schema, expanded, checked, hashed.
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/job/cells.h"
#include "harness/job/each.h"
#include "harness/job/find.h"
#include "harness/job/include.h"
#include "harness/job/job_file.h"

static void metric_release(struct metric *m)
{
	schema_release(metric_rows, m);
	expr_free(m->derive);
	free(m->name);
}

/* The job is the first member of the file it was read as, so the one table serves both. */
static void job_release(struct job *job)
{
	schema_release(job_rows, job);
	for (size_t i = 0; i < job->n_metrics; i++)
		metric_release(&job->metrics[i]);
	free(job->metrics);
	cells_free(job->cells, job->n_cells);
	free(job->kernel.base);
	free(job->repo);
	free(job->path);
	free(job->text_hash);
	free(job->source);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	job_release(job);
	free(job);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp((*(struct yaml_node *const *)a)->key, (*(struct yaml_node *const *)b)->key);
}

/* Order of keys, quotes and comments are formatting: they are not hashed. */
static void hash_tree(struct hash *h, const struct yaml_node *node)
{
	autofree struct yaml_node **items = xcalloc(node->n, sizeof(struct yaml_node *));
	char head[32];

	snprintf(head, sizeof(head), "%d %zu", (int)node->kind, node->n);
	hash_adds(h, head);
	hash_adds(h, node->text);
	for (size_t i = 0; i < node->n; i++)
		items[i] = node->items[i];
	if (node->kind == NODE_MAP && node->n)
		qsort(items, node->n, sizeof(struct yaml_node *), compare_keys);
	for (size_t i = 0; i < node->n; i++) {
		hash_adds(h, items[i]->key);
		hash_tree(h, items[i]);
	}
}

static int hash_files(struct hash *h, char *const *paths, struct err *err)
{
	for (size_t i = 0; paths && paths[i]; i++) {
		char hex[HASH_HEX];
		int rc = hash_file(paths[i], hex, err);

		if (rc < 0)
			return rc;
		hash_adds(h, hex);
	}
	return 0;
}

/* Fragments and patches count by content: edited in place, they make another kernel. */
static int hash_kernel_files(struct hash *h, const struct kernel_options *k, struct err *err)
{
	char *base[] = {k->base, NULL};
	int rc = *k->base == '/' ? hash_files(h, base, err) : 0;

	if (!rc)
		rc = hash_files(h, k->fragments, err);
	return rc ? rc : hash_files(h, k->patches, err);
}

static int job_hash(struct job_file *f, struct yaml_node *root, struct err *err)
{
	struct hash *h = hash_new();
	char hex[HASH_HEX];
	int rc;

	node_free(node_remove(root, "name"));
	node_free(node_remove(root, "description"));
	hash_tree(h, root);
	for (size_t i = 0; i < f->job.n_cells; i++)
		hash_adds(h, f->job.cells[i].name);
	rc = hash_kernel_files(h, &f->job.kernel, err);
	hash_end(h, hex);
	f->job.text_hash = xstrdup(hex);
	return rc;
}

static char *name_of_file(const char *path)
{
	const char *base = path_base(path);

	return xstrndup(base, str_ends(base, ".yaml") ? strlen(base) - 5 : strlen(base));
}

static int read_job(struct job_file *f, const char *path, struct diag *d, struct err *err)
{
	autoyaml *root = NULL;
	autobuf source = {};
	int rc = include_load(path, d, &root, &source, err);

	if (rc < 0)
		return rc;
	if (!root)
		return diag_err(d, err);
	f->root = root;
	each_expand(root, d);
	schema_read(job_rows, root, f, d);
	if (root->kind == NODE_MAP)
		job_settle(f, d);
	if (diag_err(d, err))
		return -ERR_USAGE;
	if (!f->job.name)
		f->job.name = name_of_file(path);
	f->job.path = fs_absolute(path);
	f->job.source = buf_take(&source);
	return job_hash(f, root, err);
}

static int load(const char *name_or_path, bool here, struct job **ret, struct err *err)
{
	autofree char *path = NULL;
	struct job_file f = {.here = here};
	autodiag d = {};
	int rc = job_path(name_or_path, &path, err);

	if (!rc)
		rc = read_job(&f, path, &d, err);
	if (rc < 0) {
		job_release(&f.job);
		return rc;
	}
	*ret = xcalloc(1, sizeof(**ret));
	**ret = f.job;
	return 0;
}

int job_load(const char *name_or_path, struct job **ret, struct err *err)
{
	return load(name_or_path, false, ret, err);
}

int job_load_here(const char *name_or_path, struct job **ret, struct err *err)
{
	return load(name_or_path, true, ret, err);
}

void job_print_docs(struct buf *out)
{
	schema_print_docs(job_rows, out);
}

const struct metric *job_metric(const struct job *job, const char *name)
{
	for (size_t i = 0; i < job->n_metrics; i++)
		if (streq(job->metrics[i].name, name))
			return &job->metrics[i];
	return NULL;
}

const struct cell *job_cell(const struct job *job, const char *name)
{
	return cells_find(job->cells, job->n_cells, name);
}

size_t job_kpi_count(const struct job *job)
{
	size_t n = 0;

	for (size_t i = 0; i < job->n_metrics; i++)
		n += job->metrics[i].kpi;
	return n;
}

char **cell_environment(const struct cell *cell)
{
	char **env = strv_dup(NULL);

	for (size_t i = 0; i < cell->n_values; i++)
		strv_pushf(&env, "%s=%s", cell->values[i].name, cell->values[i].value);
	return env;
}
