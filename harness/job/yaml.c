// SPDX-License-Identifier: GPL-2.0-or-later
// libyaml's events into a tree and back. Nothing else includes its header.
#include "harness/job/yaml.h"

#include "harness/base/fs.h"

#include <yaml.h>

enum { BYTES_MAX = 1 << 20, DEPTH_MAX = 16, KEYS_MAX = 1000 };

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	const char *text;
	size_t len;
	const char *file;
	struct diag *d;
	char *last_key; /* what a syntax error is most likely about */
};

static struct yaml_node *read_node(struct reader *r, unsigned depth);

static struct place place_of_mark(const struct reader *r, yaml_mark_t mark)
{
	return (struct place){r->file, mark.line + 1, mark.column + 1};
}

static struct place place_of_offset(const struct reader *r, size_t offset)
{
	struct place at = {r->file, 1, 1};

	for (size_t i = 0; i < offset && i < r->len; i++) {
		if (r->text[i] == '\n') {
			at.line++;
			at.column = 1;
		} else if ((r->text[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

static void report_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "not YAML";

	if (p->error == YAML_READER_ERROR)
		diag_add(r->d, place_of_offset(r, p->problem_offset), r->last_key,
			 "not UTF-8 text: %s", problem);
	else if (p->context)
		diag_add(r->d, place_of_mark(r, p->problem_mark), r->last_key,
			 "not YAML: %s %s from line %zu on", problem, p->context,
			 p->context_mark.line + 1);
	else
		diag_add(r->d, place_of_mark(r, p->problem_mark), r->last_key, "not YAML: %s",
			 problem);
}

static bool advance(struct reader *r)
{
	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->parser, &r->event))
		return true;
	report_syntax(r);
	return false;
}

static void fault_here(struct reader *r, const char *what)
{
	diag_add(r->d, place_of_mark(r, r->event.start_mark), r->last_key, "%s", what);
}

static struct yaml_node *node_new(const struct reader *r, enum node_kind kind)
{
	struct yaml_node *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->at = place_of_mark(r, r->event.start_mark);
	return node;
}

static void check_properties(struct reader *r, const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		fault_here(r, "an anchor (&name) is not allowed, write the value out");
	if (tag)
		fault_here(r, "a tag (!name) is not allowed, plain values say enough");
}

static struct yaml_node *read_scalar(struct reader *r)
{
	struct yaml_node *node = node_new(r, NODE_SCALAR);
	const char *value = (const char *)r->event.data.scalar.value;
	size_t len = r->event.data.scalar.length;

	check_properties(r, r->event.data.scalar.anchor, r->event.data.scalar.tag);
	if (strnlen(value, len) < len) {
		fault_here(r, "a NUL character is not allowed");
		node->broken = true;
	}
	node->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = xstrndup(value, len);
	if (advance(r))
		return node;
	node_free(node);
	return NULL;
}

/* Stands where an alias was, so that nothing more is said of it. */
static struct yaml_node *read_alias(struct reader *r)
{
	struct yaml_node *node = node_new(r, NODE_SCALAR);

	fault_here(r, "an alias (*name) is not allowed, write the value out");
	node->broken = true;
	node->text = xstrdup("");
	if (advance(r))
		return node;
	node_free(node);
	return NULL;
}

static struct yaml_node *read_list(struct reader *r, unsigned depth)
{
	autoyaml *list = node_new(r, NODE_LIST);

	check_properties(r, r->event.data.sequence_start.anchor, r->event.data.sequence_start.tag);
	if (!advance(r))
		return NULL;
	while (r->event.type != YAML_SEQUENCE_END_EVENT) {
		struct yaml_node *item = read_node(r, depth + 1);

		if (!item)
			return NULL;
		node_push(list, item);
	}
	return advance(r) ? take_ptr(&list) : NULL;
}

/* The key at the current event into ret_key (left NULL where it cannot be one). False: syntax
 * error. */
static bool read_key(struct reader *r, unsigned depth, char **ret_key, struct place *ret_at)
{
	autoyaml *key = NULL;

	*ret_at = place_of_mark(r, r->event.start_mark);
	key = read_node(r, depth + 1);
	if (!key)
		return false;
	if (key->kind != NODE_SCALAR) {
		diag_add(r->d, key->at, r->last_key, "a key must be a word, not a list or mapping");
	} else if (!key->broken) {
		*ret_key = take_ptr(&key->text);
		free(r->last_key);
		r->last_key = xstrdup(*ret_key);
	}
	return true;
}

static bool read_entry(struct reader *r, struct yaml_node *map, unsigned depth)
{
	autofree char *key = NULL;
	struct place at;
	struct yaml_node *value, *first;

	if (!read_key(r, depth, &key, &at))
		return false;
	value = read_node(r, depth + 1);
	if (!value)
		return false;
	first = key ? node_get(map, key) : NULL;
	if (first)
		diag_add(r->d, at, key, "given twice, first in line %u", first->key_at.line);
	if (!key || first) {
		node_free(value);
		return true;
	}
	value->key = take_ptr(&key);
	value->key_at = at;
	node_push(map, value);
	return true;
}

static struct yaml_node *read_map(struct reader *r, unsigned depth)
{
	autoyaml *map = node_new(r, NODE_MAP);

	check_properties(r, r->event.data.mapping_start.anchor, r->event.data.mapping_start.tag);
	if (!advance(r))
		return NULL;
	while (r->event.type != YAML_MAPPING_END_EVENT) {
		if (map->n == KEYS_MAX) {
			fault_here(r, "a mapping of more than 1000 keys");
			return NULL;
		}
		if (!read_entry(r, map, depth))
			return NULL;
	}
	return advance(r) ? take_ptr(&map) : NULL;
}

static struct yaml_node *read_node(struct reader *r, unsigned depth)
{
	if (depth > DEPTH_MAX) {
		fault_here(r, "lists and mappings more than 16 deep");
		return NULL;
	}
	switch (r->event.type) {
	case YAML_SCALAR_EVENT:
		return read_scalar(r);
	case YAML_ALIAS_EVENT:
		return read_alias(r);
	case YAML_SEQUENCE_START_EVENT:
		return read_list(r, depth);
	case YAML_MAPPING_START_EVENT:
		return read_map(r, depth);
	default:
		fault_here(r, "not YAML: a value is missing");
		return NULL;
	}
}

static struct yaml_node *read_stream(struct reader *r)
{
	autoyaml *root = NULL;

	if (!advance(r) || !advance(r)) /* to the start of the stream, to that of the document */
		return NULL;
	if (r->event.type == YAML_STREAM_END_EVENT) {
		diag_add(r->d, (struct place){r->file, 1, 1}, NULL, "the file is empty");
		return NULL;
	}
	if (!advance(r))
		return NULL;
	root = read_node(r, 1);
	if (!root || !advance(r))
		return NULL;
	free(take_ptr(&r->last_key));
	if (r->event.type != YAML_STREAM_END_EVENT)
		fault_here(r, "a second document begins here, and a file holds one");
	return take_ptr(&root);
}

struct yaml_node *node_parse(const char *text, size_t len, const char *file, struct diag *d)
{
	struct reader r = {.text = text, .len = len, .file = diag_file(d, file), .d = d};
	struct yaml_node *root = NULL;

	if (len > BYTES_MAX) {
		diag_add(d, (struct place){r.file, 1, 1}, NULL, "the file is larger than 1 MiB");
		return NULL;
	}
	if (!yaml_parser_initialize(&r.parser)) {
		diag_add(d, (struct place){r.file, 0, 0}, NULL, "out of memory");
		return NULL;
	}
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
	root = read_stream(&r);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	free(r.last_key);
	return root;
}

int node_load(const char *path, struct diag *d, struct yaml_node **ret, struct buf *ret_text,
	      struct err *err)
{
	autobuf text = {};
	ERR_CLEANUP struct err read_err = {};
	int rc = fs_read(path, BYTES_MAX, &text, &read_err);

	if (rc ==
	    -ERR_USAGE) { /* the only thing fs_read holds against a file it can read is its size */
		diag_add(d, (struct place){diag_file(d, path), 1, 1}, NULL,
			 "the file is larger than 1 MiB");
		*ret = NULL;
		return 0;
	}
	if (rc < 0) {
		err_move(err, &read_err);
		return rc;
	}
	*ret = node_parse(buf_str(&text), text.len, path, d);
	if (ret_text) {
		buf_release(ret_text);
		*ret_text = text;
		text = (struct buf){};
	}
	return 0;
}

void node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n; i++)
		node_free(node->items[i]);
	free(node->items);
	free(node->text);
	free(node->key);
	free(node);
}

static size_t find_key(const struct yaml_node *map, const char *key)
{
	size_t i = 0;

	while (i < map->n && !streq(map->items[i]->key, key))
		i++;
	return i;
}

struct yaml_node *node_get(const struct yaml_node *map, const char *key)
{
	size_t i = map->kind == NODE_MAP ? find_key(map, key) : map->n;

	return i < map->n ? map->items[i] : NULL;
}

struct yaml_node *node_remove(struct yaml_node *map, const char *key)
{
	size_t i = map->kind == NODE_MAP ? find_key(map, key) : map->n;
	struct yaml_node *found;

	if (i == map->n)
		return NULL;
	found = map->items[i];
	map->n--;
	memmove(map->items + i, map->items + i + 1, (map->n - i) * sizeof(*map->items));
	found->parent = NULL;
	return found;
}

void node_push(struct yaml_node *parent, struct yaml_node *child)
{
	if (parent->n == parent->cap_) {
		parent->cap_ = parent->cap_ ? 2 * parent->cap_ : 4;
		parent->items = xrealloc(parent->items, parent->cap_, sizeof(struct yaml_node *));
	}
	parent->items[parent->n++] = child;
	child->parent = parent;
}

struct yaml_node *node_copy(const struct yaml_node *node)
{
	struct yaml_node *copy = xcalloc(1, sizeof(*copy));

	*copy = *node;
	copy->text = xstrdup(node->text);
	copy->key = xstrdup(node->key);
	copy->parent = NULL;
	copy->items = NULL;
	copy->n = copy->cap_ = 0;
	for (size_t i = 0; i < node->n; i++)
		node_push(copy, node_copy(node->items[i]));
	return copy;
}

void node_set_text(struct yaml_node *node, const char *text)
{
	char *own = xstrdup(text);

	for (size_t i = 0; i < node->n; i++)
		node_free(node->items[i]);
	free(node->items);
	free(node->text);
	node->items = NULL;
	node->n = node->cap_ = 0;
	node->kind = NODE_SCALAR;
	node->quoted = true;
	node->text = own;
}

void node_merge(struct yaml_node *over, struct yaml_node *under)
{
	for (size_t i = 0; i < under->n; i++) {
		struct yaml_node *child = take_ptr(&under->items[i]);
		struct yaml_node *own = node_get(over, child->key);

		if (!own)
			node_push(over, child);
		else if (own->kind == NODE_MAP && child->kind == NODE_MAP)
			node_merge(own, child);
		else
			node_free(child);
	}
	under->n = 0;
	node_free(under);
}

bool node_is_null(const struct yaml_node *node)
{
	return node->kind == NODE_SCALAR && !node->quoted &&
	       (!*node->text || streq(node->text, "~") || streq(node->text, "null"));
}

const char *node_key(const struct yaml_node *node)
{
	while (node && !node->key)
		node = node->parent;
	return node ? node->key : NULL;
}

static int append(void *out, unsigned char *data, size_t len)
{
	buf_add(out, data, len);
	return 1;
}

static bool emit_scalar(yaml_emitter_t *emitter, const char *text, bool quoted)
{
	yaml_event_t event;
	yaml_scalar_style_t style = strchr(text, '\n') ? YAML_LITERAL_SCALAR_STYLE
				    : quoted	       ? YAML_SINGLE_QUOTED_SCALAR_STYLE
						       : YAML_ANY_SCALAR_STYLE;

	return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
					    (int)strlen(text), 1, 1, style) &&
	       yaml_emitter_emit(emitter, &event);
}

static bool emit(yaml_emitter_t *emitter, const struct yaml_node *node)
{
	bool map = node->kind == NODE_MAP, ok = true;
	yaml_event_t event;

	if (node->kind == NODE_SCALAR)
		return emit_scalar(emitter, node->text, node->quoted);
	ok = map ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
						       YAML_BLOCK_MAPPING_STYLE)
		 : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
							YAML_FLOW_SEQUENCE_STYLE);
	ok = ok && yaml_emitter_emit(emitter, &event);
	for (size_t i = 0; ok && i < node->n; i++)
		ok = (!map || emit_scalar(emitter, node->items[i]->key, false)) &&
		     emit(emitter, node->items[i]);
	ok = ok && (map ? yaml_mapping_end_event_initialize(&event)
			: yaml_sequence_end_event_initialize(&event));
	return ok && yaml_emitter_emit(emitter, &event);
}

void node_print(const struct yaml_node *root, struct buf *out)
{
	yaml_emitter_t emitter;
	yaml_event_t event;

	if (!yaml_emitter_initialize(&emitter))
		return;
	yaml_emitter_set_output(&emitter, append, out);
	yaml_emitter_set_unicode(&emitter, 1);
	yaml_emitter_set_width(&emitter, 100);
	if (yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
	    yaml_emitter_emit(&emitter, &event) &&
	    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
	    yaml_emitter_emit(&emitter, &event) && emit(&emitter, root) &&
	    yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(&emitter, &event) &&
	    yaml_stream_end_event_initialize(&event))
		yaml_emitter_emit(&emitter, &event);
	yaml_emitter_delete(&emitter);
}
