// SPDX-License-Identifier: GPL-2.0-or-later
// YAML files as a plain tree, in the strict subset that people can read: no anchors, aliases or
// tags.
#pragma once

#include "harness/base/buf.h"
#include "harness/job/diag.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct yaml_node {
	enum node_kind kind;
	bool quoted; /* a scalar in quotes or a block: nothing is read into its text */
	bool broken; /* its fault is told already */
	char *text;  /* of a scalar */
	char *key;   /* under which it stands in a mapping, else NULL */
	struct place at, key_at;
	struct yaml_node *parent; /* NULL for the root */
	struct yaml_node **items; /* of a list or mapping, in the order of the file */
	size_t n, cap_;
};

/*
 * Reads a file. Faults go to d: *ret is then what could be read, or NULL after a syntax error.
 * Limits: 1 MiB, depth 16, 1000 keys a mapping, one document, UTF-8, no key twice. Negative: the
 * file cannot be read at all. ret_text (may be NULL) takes the text as it was.
 */
int node_load(const char *path, struct diag *d, struct yaml_node **ret, struct buf *ret_text,
	      struct err *err);
struct yaml_node *node_parse(const char *text, size_t len, const char *file, struct diag *d);
void node_free(struct yaml_node *node);
static inline void cleanup_yaml(struct yaml_node **node)
{
	node_free(*node);
}
#define autoyaml __attribute__((cleanup(cleanup_yaml))) struct yaml_node

struct yaml_node *node_get(const struct yaml_node *map,
			   const char *key); /* NULL if absent, or no mapping */
struct yaml_node *node_remove(struct yaml_node *map, const char *key); /* handed over, or NULL */
void node_push(struct yaml_node *parent, struct yaml_node *child); /* at the end; takes child */
struct yaml_node *node_copy(const struct yaml_node *node);	    /* deep, without a parent */
void node_set_text(struct yaml_node *node, const char *text);	    /* a quoted scalar from now on */
/* Adds what `under` has and `over` has not, mappings deeply; takes `under`. */
void node_merge(struct yaml_node *over, struct yaml_node *under);
/* A key without a value: nothing, ~ or null, not in quotes. */
bool node_is_null(const struct yaml_node *node);
/* The key that a person looks for when told about this node: its own, or that of the list it is in.
 */
const char *node_key(const struct yaml_node *node);
/* A fault about the value of a node. */
#define node_fault(node, d, ...) diag_add(d, (node)->at, node_key(node), __VA_ARGS__)
/* The tree as YAML again, comments gone. */
void node_print(const struct yaml_node *root, struct buf *out);
