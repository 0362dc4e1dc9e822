// SPDX-License-Identifier: GPL-2.0-or-later
// Files that include files: merged depth first, without loops, in bounded number.
#include "harness/job/include.h"

#include "harness/job/find.h"
#include "harness/job/schema.h"

enum { CHAIN_MAX = 8, FILES_MAX = 64 };

struct loader {
	struct diag *d;
	char *chain[CHAIN_MAX]; /* the files that include each other, outermost first */
	size_t depth;
	size_t files;
	bool failed; /* a file is missing from the tree */
};

static void include_into(struct loader *l, struct yaml_node *root);

/* The path to be included, or NULL after a fault. */
static char *resolve(struct loader *l, const struct yaml_node *node, const char *name)
{
	autofree char *found = job_file_find(name, node->at.file);
	autofree char *real = found ? realpath(found, NULL) : NULL;

	if (!real) {
		node_fault(node, l->d, "no file '%s' beside this one nor in the job directories",
			   name);
		return NULL;
	}
	for (size_t i = 0; i < l->depth; i++) {
		if (streq(l->chain[i], real)) {
			node_fault(node, l->d, "'%s' includes itself, by way of %zu files", name,
				   l->depth - i);
			return NULL;
		}
	}
	if (l->depth == CHAIN_MAX) {
		node_fault(node, l->d, "files include each other more than %d deep", CHAIN_MAX);
		return NULL;
	}
	if (l->files++ == FILES_MAX) {
		node_fault(node, l->d, "more than %d files are included", FILES_MAX);
		return NULL;
	}
	return take_ptr(&real);
}

static struct yaml_node *load_included(struct loader *l, const struct yaml_node *node,
				       const char *name)
{
	autofree char *path = resolve(l, node, name);
	ERR_CLEANUP struct err err = {};
	autoyaml *root = NULL;

	if (!path)
		return NULL;
	if (node_load(path, l->d, &root, NULL, &err) < 0) {
		node_fault(node, l->d, "%s", err.message);
		return NULL;
	}
	if (root && root->kind != NODE_MAP) {
		node_fault(node, l->d, "'%s' holds no mapping of keys", name);
		return NULL;
	}
	if (!root)
		return NULL;
	node_free(node_remove(root, "name"));
	l->chain[l->depth++] = path;
	include_into(l, root);
	l->depth--;
	return take_ptr(&root);
}

static void include_into(struct loader *l, struct yaml_node *root)
{
	autoyaml *include = node_remove(root, "include");
	autostrv char **names = NULL;

	if (!include)
		return;
	include->parent = NULL;
	names = schema_texts(include, "a file or a list of files", l->d);
	l->failed |= !names;
	for (size_t i = strv_len(names); i-- > 0;) {
		const struct yaml_node *node =
			include->kind == NODE_LIST ? include->items[i] : include;
		struct yaml_node *under = load_included(l, node, names[i]);

		if (under)
			node_merge(root, under);
		else
			l->failed = true;
	}
}

int include_load(const char *path, struct diag *d, struct yaml_node **ret, struct buf *ret_source,
		 struct err *err)
{
	struct loader l = {.d = d};
	autofree char *real = realpath(path, NULL);
	autoyaml *root = NULL;
	int rc = node_load(path, d, &root, ret_source, err);

	*ret = NULL;
	if (rc < 0)
		return rc;
	if (root && node_get(root, "include")) {
		l.chain[l.depth++] = real ? real : (char *)(uintptr_t)path;
		include_into(&l, root);
		buf_clear(ret_source);
		node_print(root, ret_source);
	}
	if (!l.failed)
		*ret = take_ptr(&root);
	return 0;
}
