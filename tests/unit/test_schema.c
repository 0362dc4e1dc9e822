// SPDX-License-Identifier: GPL-2.0-or-later
// The schema machinery on a table of its own: every kind, defaults, limits, faults, docs.
#include "harness/job/schema.h"
#include "tests/tap.h"

#include <math.h>

enum colour { RED, GREEN, BLUE };

struct shelf {
	char *name;
	uint32_t slots;
};

struct box {
	char *name, *file;
	char **tags, **argv;
	bool on;
	uint32_t cpus;
	uint64_t bytes;
	int64_t limit_ns;
	double ratio, percent, share;
	enum colour colour;
	const struct yaml_node *rest;
	struct {
		char *title;
	} inner;
	struct shelf shelves[4];
	size_t n_shelves;
	struct shelf stack[2];
	size_t n_stack;
	int custom;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct schema shelf_rows[] = {{.key = "slots",
					    .kind = SCHEMA_U32,
					    .offset = offsetof(struct shelf, slots),
					    .fallback = "3",
					    .help = "how many fit"},
					   {}};

static void *new_shelf(const struct yaml_node *node, void *field, struct diag *d)
{
	struct box *box = container_of(field, struct box, shelves);

	if (box->n_shelves == ARRAY_SIZE(box->shelves)) {
		node_fault(node, d, "one shelf too many");
		return NULL;
	}
	box->shelves[box->n_shelves].name = xstrdup(node->key);
	return &box->shelves[box->n_shelves++];
}

static void *new_on_stack(const struct yaml_node *node, void *field, struct diag *d)
{
	struct box *box = container_of(field, struct box, stack);

	if (box->n_stack == ARRAY_SIZE(box->stack)) {
		node_fault(node, d, "two at most");
		return NULL;
	}
	return &box->stack[box->n_stack++];
}

static void read_length(const struct yaml_node *node, void *field, struct diag *d)
{
	const char *text = schema_text(node, "a text", d);

	if (text)
		*(int *)field = (int)strlen(text);
}

static void check_short(const struct yaml_node *node, struct diag *d)
{
	if (strlen(node->text) > 8)
		node_fault(node, d, "is too long");
}

static const struct schema inner_rows[] = {
	{.key = "title", .kind = SCHEMA_STRING, .offset = 0, .fallback = "none", .help = "a title"},
	{}};

#define BOX(f) .offset = offsetof(struct box, f)
static const struct schema rows[] = {
	{.key = "name",
	 .kind = SCHEMA_STRING,
	 BOX(name),
	 .required = true,
	 .check = check_short,
	 .help = "what it is called",
	 .example = "rack3"},
	{.key = "file", .kind = SCHEMA_PATH, BOX(file), .help = "a file"},
	{.key = "tags", .kind = SCHEMA_STRINGS, BOX(tags), .help = "words"},
	{.key = "start", .kind = SCHEMA_COMMAND, BOX(argv), .help = "how it starts"},
	{.key = "on", .kind = SCHEMA_BOOL, BOX(on), .fallback = "true", .help = "whether it is on"},
	{.key = "cpus",
	 .kind = SCHEMA_U32,
	 BOX(cpus),
	 .min = 1,
	 .max = 64,
	 .fallback = "2",
	 .help = "processors"},
	{.key = "bytes",
	 .kind = SCHEMA_BYTES,
	 BOX(bytes),
	 .min = 1024,
	 .max = 0x1p30,
	 .fallback = "64K",
	 .help = "memory"},
	{.key = "limit",
	 .kind = SCHEMA_DURATION,
	 BOX(limit_ns),
	 .min = 1,
	 .max = 86400,
	 .fallback = "4h",
	 .help = "the longest job"},
	{.key = "ratio",
	 .kind = SCHEMA_DOUBLE,
	 BOX(ratio),
	 .max = INFINITY,
	 .fallback = "0.5",
	 .help = "a ratio"},
	{.key = "percent", .kind = SCHEMA_PERCENT, BOX(percent), .help = "of something"},
	{.key = "share",
	 .kind = SCHEMA_FRACTION,
	 BOX(share),
	 .min = 0,
	 .max = 1,
	 .help = "of something else"},
	{.key = "colour",
	 .kind = SCHEMA_ENUM,
	 BOX(colour),
	 .words = colours,
	 .fallback = "green",
	 .help = "paint"},
	{.key = "rest", .kind = SCHEMA_NODE, BOX(rest), .type = "anything", .help = "read later"},
	{.key = "inner",
	 .kind = SCHEMA_GROUP,
	 BOX(inner),
	 .rows = inner_rows,
	 .help = "what is inside"},
	{.key = "shelves",
	 .kind = SCHEMA_MAP,
	 BOX(shelves),
	 .rows = shelf_rows,
	 .entry = new_shelf,
	 .help = "shelves"},
	{.key = "stack",
	 .kind = SCHEMA_LIST,
	 BOX(stack),
	 .rows = shelf_rows,
	 .entry = new_on_stack,
	 .help = "shelves without a name"},
	{.key = "length",
	 .kind = SCHEMA_CUSTOM,
	 BOX(custom),
	 .read = read_length,
	 .fallback = "four",
	 .type = "a text",
	 .help = "is counted"},
	{}};

static void box_release(struct box *box)
{
	schema_release(rows, box);
	for (size_t i = 0; i < box->n_shelves; i++)
		free(box->shelves[i].name);
}

/* Reads a text into *box; the faults, owned. The tree does not outlive the call. */
static char *read_box(const char *text, struct box *box)
{
	ERR_CLEANUP struct err err = {};
	autodiag d = {};
	autoyaml *root = node_parse(text, strlen(text), "box.yaml", &d);

	*box = (struct box){};
	if (root)
		schema_read(rows, root, box, &d);
	diag_err(&d, &err);
	return xstrdup(err.message ? strchr(err.message, '\n') + 1 : "");
}

static void values(void)
{
	struct box box;
	autofree char *faults = read_box(
		"name: rack3\nfile: /proc/self/exe\ntags: [a, 'b c']\nstart: [ls, '-l']\non: "
		"no\ncpus: 8\nbytes: 1M\n"
		"limit: 90s\nratio: 1e3\npercent: 5%\nshare: 99%\ncolour: blue\nrest: {any: "
		"thing}\n"
		"inner: {title: x}\nshelves: {top: {slots: 7}, low: {}}\nlength: seventy\n"
		"stack: [{}, {slots: 5}]\n",
		&box);

	is_str(faults, "", "no faults");
	is_str(box.name, "rack3", "string");
	is_str(box.file, "/proc/self/exe", "path");
	ok(strv_len(box.tags) == 2 && streq(box.tags[1], "b c"), "strings");
	ok(strv_len(box.argv) == 2 && streq(box.argv[0], "ls"), "command as a list");
	ok(!box.on, "bool");
	is_int(box.cpus, 8, "u32");
	is_int(box.bytes, 1 << 20, "bytes");
	is_int(box.limit_ns, 90000000000, "duration");
	is_double(box.ratio, 1000, 0, "double");
	is_double(box.percent, 5, 0, "percent");
	is_double(box.share, 0.99, 1e-15, "fraction");
	is_int(box.colour, BLUE, "enum");
	ok(box.rest != NULL, "node");
	is_str(box.inner.title, "x", "group");
	ok(box.n_shelves == 2 && streq(box.shelves[0].name, "top") && box.shelves[0].slots == 7,
	   "map");
	is_int(box.shelves[1].slots, 3, "default in a map");
	ok(box.n_stack == 2 && box.stack[0].slots == 3 && box.stack[1].slots == 5,
	   "list of groups");
	is_int(box.custom, 7, "custom");
	box_release(&box);
}

static void defaults(void)
{
	struct box box;
	autofree char *faults =
		read_box("name: x\nstart: ls -l | wc\npercent: 7\nshare: 0.5\ntags: one\n", &box);

	is_str(faults, "", "no faults");
	ok(box.on && box.cpus == 2 && box.bytes == 65536, "bool, u32, bytes");
	is_int(box.limit_ns, 4 * 3600 * 1000000000LL, "duration");
	is_int(box.colour, GREEN, "enum");
	is_str(box.inner.title, "none", "in a group that is absent");
	is_int(box.custom, 4, "custom");
	ok(!box.file && !box.rest, "none where the table has none");
	ok(strv_len(box.argv) == 3 && streq(box.argv[0], "sh") && streq(box.argv[1], "-c") &&
		   streq(box.argv[2], "ls -l | wc"),
	   "a command as text is sh -c");
	is_double(box.percent, 7, 0, "percent without its sign");
	is_double(box.share, 0.5, 0, "fraction without its sign");
	ok(strv_len(box.tags) == 1 && streq(box.tags[0], "one"), "one text is a list of one");
	box_release(&box);
}

static void fault(const char *line, const char *message)
{
	autofree char *text = xasprintf("name: x\n%s\n", line), *faults = NULL;
	autofree char *want = xasprintf("box.yaml:2:%s", message);
	struct box box;

	faults = read_box(text, &box);
	is_str(faults, want, "%s", line);
	box_release(&box);
}

static void faults(void)
{
	fault("cpu: 1", "1: key 'cpu': unknown key, did you mean 'cpus'?");
	fault("inner: {titel: 1}", "9: key 'titel': unknown key in 'inner', did you mean 'title'?");
	fault("inner: {zzz: 1}", "9: key 'zzz': unknown key in 'inner', known are title");
	fault("cpus: 0", "7: key 'cpus': '0' must be from 1 to 64");
	fault("cpus: 65", "7: key 'cpus': '65' must be from 1 to 64");
	fault("cpus: -1", "7: key 'cpus': '-1' is not a whole number");
	fault("cpus: 1.5", "7: key 'cpus': '1.5' is not a whole number");
	fault("cpus: 99999999999999999999",
	      "7: key 'cpus': '99999999999999999999' is not a whole number");
	fault("cpus: 4294967297", "7: key 'cpus': '4294967297' is not a whole number");
	fault("cpus: [1]", "7: key 'cpus': must be a whole number, not a list");
	fault("cpus: {a: 1}", "7: key 'cpus': must be a whole number, not a mapping");
	fault("cpus:", "6: key 'cpus': has no value, and must be a whole number");
	fault("cpus: ~", "7: key 'cpus': has no value, and must be a whole number");
	fault("on: maybe", "5: key 'on': 'maybe' is not true or false");
	fault("bytes: 64 K", "8: key 'bytes': '64 K' is not a size like 64K or 512M");
	fault("bytes: 1", "8: key 'bytes': '1' must be from 1K to 1G");
	fault("limit: 10", "8: key 'limit': '10' is not a time with its unit, like 90s, 10m or 4h");
	fault("limit: 2d", "8: key 'limit': '2d' must be from 1s to 1d");
	fault("limit: 1e300d",
	      "8: key 'limit': '1e300d' is not a time with its unit, like 90s, 10m or 4h");
	fault("ratio: nan", "8: key 'ratio': 'nan' is not a number");
	fault("ratio: 1,5", "8: key 'ratio': '1,5' is not a number");
	fault("ratio: -1", "8: key 'ratio': '-1' must be at least 0");
	fault("percent: five", "10: key 'percent': 'five' is not a percentage like 5%");
	fault("share: 99", "8: key 'share': '99' must be from 0% to 100%");
	fault("colour: gren",
	      "9: key 'colour': 'gren' is none of red, green, blue, did you mean 'green'?");
	fault("file: nope.txt",
	      "7: key 'file': no file 'nope.txt' beside this one nor in the job directories");
	fault("file: /dev/null",
	      "7: key 'file': no file '/dev/null' beside this one nor in the job directories");
	fault("tags: [a, [b]]", "11: key 'tags': must be a text or a list of texts, not a list");
	fault("start: []", "8: key 'start': an empty command");
	fault("start: ''", "8: key 'start': an empty command");
	fault("start: [[x]]", "9: key 'start': must be an argument, not a list");
	fault("inner: x",
	      "8: key 'inner': must be a mapping of keys like 'title: none', and is a text");
	fault("shelves: x", "10: key 'shelves': 'x' is not a mapping of names");
	fault("shelves: [x]", "10: key 'shelves': must be a mapping of names, not a list");
	fault("shelves: {a: x}",
	      "14: key 'a': must be a mapping of keys like 'slots: 3', and is a text");
	fault("shelves: {a: {}, b: {}, c: {}, d: {}, e: {}}", "42: key 'e': one shelf too many");
	fault("stack: x", "8: key 'stack': 'x' is not a list of mappings");
	fault("stack:", "7: key 'stack': has no value, and must be a list of mappings");
	fault("stack: {a: {}}", "8: key 'stack': must be a list of mappings, not a mapping");
	fault("stack: [7]",
	      "9: key 'stack': must be a mapping of keys like 'slots: 3', and is a text");
	fault("stack: [{slot: 7}]",
	      "10: key 'slot': unknown key in 'stack', did you mean 'slots'?");
	fault("stack: [{}, {}, {}]", "17: key 'stack': two at most");
	fault("on: *x", "5: key 'on': an alias (*name) is not allowed, write the value out");
}

static void checked_and_missing(void)
{
	struct box box;
	autofree char *got = read_box("name: much too long\n", &box);

	is_str(got, "box.yaml:1:7: key 'name': is too long", "a check of its own");
	box_release(&box);
	free(got);
	got = read_box("cpus: 1\n", &box);
	is_str(got,
	       "box.yaml:1:1: key 'name': missing: what it is called, for example 'name: rack3'",
	       "missing");
	box_release(&box);
	free(got);
	got = read_box("- a\n", &box);
	is_str(got, "box.yaml:1:1: must be a mapping of keys like 'name: rack3', and is a list",
	       "no mapping at all");
	box_release(&box);
}

static void many_faults(void)
{
	autofree char *got = NULL;
	autobuf text = {};
	struct box box;
	size_t lines = 1;

	for (int i = 0; i < 150; i++)
		buf_printf(&text, "zz%d: 1\n", i);
	got = read_box(buf_str(&text), &box);
	for (const char *s = got; (s = strchr(s, '\n')); s++)
		lines++;
	is_int(lines, 101, "a hundred faults and a line for the rest");
	ok(strstr(got, "\nand 51 more"), "which says how many");
	box_release(&box);
}

static void docs(void)
{
	autobuf out = {};

	schema_print_docs(rows, &out);
	ok(strstr(buf_str(&out),
		  "name: a text, required\n    what it is called\n    for example name: rack3\n"),
	   "required");
	ok(strstr(buf_str(&out), "cpus: a whole number, from 1 to 64, default 2\n"),
	   "limits and default");
	ok(strstr(buf_str(&out), "colour: red, green, blue, default green\n"), "words");
	ok(strstr(buf_str(&out), "inner.title: a text, default none\n"), "keys in a group");
	ok(strstr(buf_str(&out), "stack[].slots: a whole number, default 3\n"), "keys in a list");
	ok(strstr(buf_str(&out), "shelves.NAME.slots: a whole number, default 3\n"),
	   "keys in a map");
	ok(strstr(buf_str(&out), "bytes: a size like 64K or 512M, from 1K to 1G, default 64K\n"),
	   "sizes");
}

int main(void)
{
	values();
	defaults();
	faults();
	checked_and_missing();
	many_faults();
	docs();
	return plan_done();
}
