// SPDX-License-Identifier: GPL-2.0-or-later
// Trees into structs by table: converters for each kind, faults with what was meant, docs.
#include "harness/job/schema.h"

#include "harness/job/find.h"

#include <math.h>

enum { LIST_MAX = 1000 };

static const char *const wanted[] = {
	[SCHEMA_STRING] = "a text",
	[SCHEMA_STRINGS] = "a text or a list of texts",
	[SCHEMA_PATH] = "the path of a file",
	[SCHEMA_PATHS] = "a list of files",
	[SCHEMA_BOOL] = "true or false",
	[SCHEMA_U32] = "a whole number",
	[SCHEMA_DOUBLE] = "a number",
	[SCHEMA_PERCENT] = "a percentage like 5%",
	[SCHEMA_FRACTION] = "a percentage like 5%",
	[SCHEMA_DURATION] = "a time with its unit, like 90s, 10m or 4h",
	[SCHEMA_BYTES] = "a size like 64K or 512M",
	[SCHEMA_ENUM] = "a word",
	[SCHEMA_COMMAND] = "a shell command, or a list of program and arguments",
	[SCHEMA_GROUP] = "a mapping of keys",
	[SCHEMA_MAP] = "a mapping of names",
	[SCHEMA_LIST] = "a list of mappings",
};

const char *schema_text(const struct yaml_node *node, const char *what, struct diag *d)
{
	if (node->broken)
		return NULL;
	if (node->kind != NODE_SCALAR)
		node_fault(node, d, "must be %s, not a %s", what,
			   node->kind == NODE_LIST ? "list" : "mapping");
	else if (node_is_null(node))
		node_fault(node, d, "has no value, and must be %s", what);
	else
		return node->text;
	return NULL;
}

char **schema_texts(const struct yaml_node *node, const char *what, struct diag *d)
{
	autostrv char **texts = strv_dup(NULL);
	bool list = node->kind == NODE_LIST;

	if (list && node->n > LIST_MAX) {
		node_fault(node, d, "a list of more than %d", LIST_MAX);
		return NULL;
	}
	for (size_t i = 0; i < (list ? node->n : 1); i++) {
		const char *text = schema_text(list ? node->items[i] : node, what, d);

		if (!text)
			return NULL;
		strv_push(&texts, text);
	}
	return take_ptr(&texts);
}

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

char *schema_meant(const char *word, const char *const *names)
{
	const char *near = str_nearest(word, names, count_words(names));

	return near ? xasprintf(", did you mean '%s'?", near) : xstrdup("");
}

static const char *example_of(const struct schema *row)
{
	return row->example			 ? row->example
	       : row->fallback && *row->fallback ? row->fallback
						 : "...";
}

static bool has_limits(const struct schema *row)
{
	return row->min != 0 || row->max != 0;
}

/* A limit in the unit that its kind is written in. */
static void add_limit(const struct schema *row, double limit, struct buf *out)
{
	const char *unit = "";

	if (row->kind == SCHEMA_FRACTION) {
		limit *= 100;
		unit = "%";
	} else if (row->kind == SCHEMA_PERCENT) {
		unit = "%";
	} else if (row->kind == SCHEMA_DURATION) {
		unit = limit >= 86400 ? "d" : "s";
		limit /= limit >= 86400 ? 86400 : 1;
	} else if (row->kind == SCHEMA_BYTES) {
		static const char *const units[] = {"", "K", "M", "G", "T"};
		size_t i = 0;

		for (; limit >= 1024 && i < ARRAY_SIZE(units) - 1; i++)
			limit /= 1024;
		unit = units[i];
	}
	buf_printf(out, "%.10g%s", limit, unit);
}

static void add_range(const struct schema *row, struct buf *out)
{
	buf_adds(out, isinf(row->max) ? "at least " : row->min < row->max ? "from " : "");
	add_limit(row, row->min, out);
	if (!isinf(row->max) && row->min < row->max) {
		buf_adds(out, " to ");
		add_limit(row, row->max, out);
	}
}

static bool in_limits(const struct schema *row, double v, const struct yaml_node *node,
		      struct diag *d)
{
	autobuf range = {};

	if (!has_limits(row) || (v >= row->min && v <= row->max))
		return true;
	add_range(row, &range);
	node_fault(node, d, "'%s' must be %s", node->text, buf_str(&range));
	return false;
}

static void fault_kind(const struct schema *row, const struct yaml_node *node, struct diag *d)
{
	autofree char *example =
		row->example ? xasprintf(" (for example %s)", row->example) : xstrdup("");

	node_fault(node, d, "'%s' is not %s%s", node->text, wanted[row->kind], example);
}

/* "5%" into 5 or, as a fraction, 0.05; without the sign the number is taken as it is. */
static bool parse_percent(const char *text, bool fraction, double *ret)
{
	size_t len = strlen(text);
	bool sign = len && text[len - 1] == '%';
	autofree char *number = xstrndup(text, sign ? len - 1 : len);

	if (!str_to_double(number, ret))
		return false;
	if (sign && fraction)
		*ret /= 100;
	return true;
}

static bool parse_bool(const char *text, bool *ret)
{
	static const char *const words[] = {"false", "true", "no", "yes"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (streq(text, words[i])) {
			*ret = i % 2;
			return true;
		}
	}
	return false;
}

static bool read_number(const struct schema *row, const struct yaml_node *node, void *field,
			struct diag *d)
{
	double v = NAN;
	uint64_t whole = 0;
	int64_t ns = 0;
	bool ok = false;

	switch (row->kind) {
	case SCHEMA_U32:
		ok = str_to_u64(node->text, &whole) && whole <= UINT32_MAX;
		v = (double)whole;
		break;
	case SCHEMA_BYTES:
		ok = str_to_bytes(node->text, &whole);
		v = (double)whole;
		break;
	case SCHEMA_DURATION:
		ok = str_to_duration_ns(node->text, &ns);
		v = (double)ns / 1e9;
		break;
	case SCHEMA_DOUBLE:
		ok = str_to_double(node->text, &v);
		break;
	default:
		ok = parse_percent(node->text, row->kind == SCHEMA_FRACTION, &v);
		break;
	}
	if (!ok)
		fault_kind(row, node, d);
	if (!ok || !in_limits(row, v, node, d))
		return false;
	if (row->kind == SCHEMA_U32)
		*(uint32_t *)field = (uint32_t)whole;
	else if (row->kind == SCHEMA_BYTES)
		*(uint64_t *)field = whole;
	else if (row->kind == SCHEMA_DURATION)
		*(int64_t *)field = ns;
	else
		*(double *)field = v;
	return true;
}

static void add_words(const char *const *words, struct buf *out)
{
	for (size_t i = 0; words[i]; i++)
		buf_printf(out, "%s%s", i ? ", " : "", words[i]);
}

static bool read_enum(const struct schema *row, const struct yaml_node *node, void *field,
		      struct diag *d)
{
	autofree char *meant = NULL;
	autobuf words = {};

	for (unsigned i = 0; row->words[i]; i++) {
		if (streq(row->words[i], node->text)) {
			*(unsigned *)field = i;
			return true;
		}
	}
	add_words(row->words, &words);
	meant = schema_meant(node->text, row->words);
	node_fault(node, d, "'%s' is none of %s%s", node->text, buf_str(&words), meant);
	return false;
}

static bool read_paths(const struct schema *row, const struct yaml_node *node, void *field,
		       struct diag *d)
{
	autostrv char **names = schema_texts(node, wanted[row->kind], d);
	autostrv char **paths = strv_dup(NULL);

	for (size_t i = 0; names && names[i]; i++) {
		const struct yaml_node *item = node->kind == NODE_LIST ? node->items[i] : node;
		autofree char *path = job_file_find(names[i], item->at.file);

		if (path)
			strv_push(&paths, path);
		else
			node_fault(item, d,
				   "no file '%s' beside this one nor in the job directories",
				   names[i]);
	}
	if (!names || strv_len(paths) < strv_len(names))
		return false;
	if (row->kind == SCHEMA_PATHS)
		*(char ***)field = take_ptr(&paths);
	else
		*(char **)field = xstrdup(paths[0]);
	return true;
}

static bool read_command(const struct schema *row, const struct yaml_node *node, void *field,
			 struct diag *d)
{
	autostrv char **argv = NULL;

	if (node->kind == NODE_LIST) {
		argv = schema_texts(node, "an argument", d);
	} else if (schema_text(node, wanted[row->kind], d)) {
		argv = strv_dup((const char *const[]){"sh", "-c", node->text, NULL});
	}
	if (!argv)
		return false;
	if (!argv[0] || !*argv[node->kind == NODE_LIST ? 0 : 2]) {
		node_fault(node, d, "an empty command");
		return false;
	}
	*(char ***)field = take_ptr(&argv);
	return true;
}

static bool read_lists(const struct schema *row, const struct yaml_node *node, void *field,
		       struct diag *d)
{
	char **texts = schema_texts(node, wanted[row->kind], d);

	*(char ***)field = texts;
	return texts != NULL;
}

/* The entries of a map or a list. */
static void read_entries(const struct schema *row, const struct yaml_node *node, void *field,
			 struct diag *d)
{
	if (node->kind != (row->kind == SCHEMA_MAP ? NODE_MAP : NODE_LIST)) {
		schema_text(node, wanted[row->kind],
			    d); /* says what is wrong with another tree or nothing */
		if (node->kind == NODE_SCALAR && !node_is_null(node) && !node->broken)
			fault_kind(row, node, d);
		return;
	}
	for (size_t i = 0; i < node->n; i++) {
		void *entry = row->entry(node->items[i], field, d);

		if (entry)
			schema_read(row->rows, node->items[i], entry, d);
	}
}

static bool read_scalar(const struct schema *row, const struct yaml_node *node, void *field,
			struct diag *d)
{
	const char *text = schema_text(node, wanted[row->kind], d);

	if (!text)
		return false;
	switch (row->kind) {
	case SCHEMA_STRING:
		*(char **)field = xstrdup(text);
		return true;
	case SCHEMA_BOOL:
		if (parse_bool(text, field))
			return true;
		fault_kind(row, node, d);
		return false;
	case SCHEMA_ENUM:
		return read_enum(row, node, field, d);
	default:
		return read_number(row, node, field, d);
	}
}

static void read_value(const struct schema *row, const struct yaml_node *node, void *field,
		       struct diag *d)
{
	bool ok = true;

	if (node->broken)
		return;
	switch (row->kind) {
	case SCHEMA_GROUP:
		schema_read(row->rows, node, field, d);
		break;
	case SCHEMA_MAP:
	case SCHEMA_LIST:
		read_entries(row, node, field, d);
		break;
	case SCHEMA_NODE:
		*(const struct yaml_node **)field = node;
		break;
	case SCHEMA_CUSTOM:
		row->read(node, field, d);
		break;
	case SCHEMA_COMMAND:
		ok = read_command(row, node, field, d);
		break;
	case SCHEMA_PATH:
	case SCHEMA_PATHS:
		ok = read_paths(row, node, field, d);
		break;
	case SCHEMA_STRINGS:
		ok = read_lists(row, node, field, d);
		break;
	default:
		ok = read_scalar(row, node, field, d);
		break;
	}
	if (ok && row->check)
		row->check(node, d);
}

/* Defaults go the way of values, so that docs, table and struct cannot disagree. */
static void read_defaults(const struct schema *rows, void *base, struct diag *d)
{
	for (const struct schema *row = rows; row->key; row++) {
		void *field = (char *)base + row->offset;
		struct yaml_node text = {.kind = NODE_SCALAR, .quoted = true};

		if (row->kind == SCHEMA_GROUP) {
			read_defaults(row->rows, field, d);
		} else if (row->fallback) {
			text.text = (char *)(uintptr_t)row->fallback;
			read_value(row, &text, field, d);
		}
	}
}

static const struct schema *find_row(const struct schema *rows, const char *key)
{
	for (const struct schema *row = rows; row->key; row++)
		if (streq(row->key, key))
			return row;
	return NULL;
}

static void fault_unknown(const struct schema *rows, const struct yaml_node *node, struct diag *d)
{
	const char *parent = node_key(node->parent);
	const char *names[64] = {};
	autofree char *meant = NULL, *where = NULL;
	size_t n = 0;

	for (const struct schema *row = rows; row->key && n < ARRAY_SIZE(names) - 1; row++)
		names[n++] = row->key;
	meant = schema_meant(node->key, names);
	where = parent ? xasprintf(" in '%s'", parent) : xstrdup("");
	if (*meant) {
		diag_add(d, node->key_at, node->key, "unknown key%s%s", where, meant);
	} else {
		autobuf words = {};

		add_words(names, &words);
		diag_add(d, node->key_at, node->key, "unknown key%s, known are %s", where,
			 buf_str(&words));
	}
}

static void fault_missing(const struct schema *row, const struct yaml_node *map, struct diag *d)
{
	const char *parent = node_key(map);
	autofree char *where = parent ? xasprintf(" in '%s'", parent) : xstrdup("");

	diag_add(d, map->at, row->key, "missing%s: %s, for example '%s: %s'", where, row->help,
		 row->key, example_of(row));
}

void schema_read(const struct schema *rows, const struct yaml_node *map, void *base, struct diag *d)
{
	if (map->broken)
		return;
	if (map->kind != NODE_MAP) {
		const char *is = map->kind == NODE_LIST ? "a list"
				 : node_is_null(map)	? "nothing"
							: "a text";

		node_fault(map, d, "must be a mapping of keys like '%s: %s', and is %s", rows->key,
			   example_of(rows), is);
		return;
	}
	for (size_t i = 0; i < map->n; i++)
		if (!find_row(rows, map->items[i]->key))
			fault_unknown(rows, map->items[i], d);
	for (const struct schema *row = rows; row->key; row++) {
		const struct yaml_node *node = node_get(map, row->key);

		if (node)
			read_value(row, node, (char *)base + row->offset, d);
		else if (row->required)
			fault_missing(row, map, d);
		else
			read_defaults((const struct schema[]){*row, {}}, base, d);
	}
}

void schema_release(const struct schema *rows, void *base)
{
	for (const struct schema *row = rows; row->key; row++) {
		void *field = (char *)base + row->offset;

		switch (row->kind) {
		case SCHEMA_STRING:
		case SCHEMA_PATH:
			free(take_ptr((char **)field));
			break;
		case SCHEMA_STRINGS:
		case SCHEMA_PATHS:
		case SCHEMA_COMMAND:
			strv_free(take_ptr((char ***)field));
			break;
		case SCHEMA_GROUP:
			schema_release(row->rows, field);
			break;
		default:
			break;
		}
	}
}

static void print_type(const struct schema *row, struct buf *out)
{
	if (row->type)
		buf_adds(out, row->type);
	else if (row->kind == SCHEMA_ENUM)
		add_words(row->words, out);
	else
		buf_adds(out, wanted[row->kind]);
	if (has_limits(row)) {
		buf_adds(out, ", ");
		add_range(row, out);
	}
	if (row->required)
		buf_adds(out, ", required");
	else if (row->fallback)
		buf_printf(out, ", default %s", *row->fallback ? row->fallback : "''");
}

static void print_rows(const struct schema *rows, const char *prefix, struct buf *out)
{
	for (const struct schema *row = rows; row->key; row++) {
		autofree char *below = NULL;

		buf_printf(out, "%s%s: ", prefix, row->key);
		print_type(row, out);
		buf_printf(out, "\n    %s\n", row->help);
		if (row->example)
			buf_printf(out, "    for example %s: %s\n", row->key, row->example);
		below = xasprintf("%s%s%s", prefix, row->key,
				  row->kind == SCHEMA_MAP    ? ".NAME."
				  : row->kind == SCHEMA_LIST ? "[]."
							     : ".");
		if (row->rows)
			print_rows(row->rows, below, out);
	}
}

void schema_print_docs(const struct schema *rows, struct buf *out)
{
	print_rows(rows, "", out);
}
