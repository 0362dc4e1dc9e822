// SPDX-License-Identifier: GPL-2.0-or-later
// The YAML reader: trees with their places, every refusal, merging and printing.
#include "harness/job/yaml.h"
#include "tests/tap.h"

static void tree(void)
{
	static const char text[] =
		"a: 1\nlist: [x, 'y', \"z\\n\"]\nmap:\n  deep: |\n    two\n    lines\nnone:\n";
	autodiag d = {};
	autoyaml *root = node_parse(text, strlen(text), "f.yaml", &d);
	const struct yaml_node *list, *deep;

	if (!ok(root && root->kind == NODE_MAP && root->n == 4, "a mapping of four keys"))
		return;
	is_str(node_get(root, "a")->text, "1", "a plain value");
	ok(!node_get(root, "a")->quoted, "which is not quoted");
	list = node_get(root, "list");
	ok(list->kind == NODE_LIST && list->n == 3, "a list of three");
	ok(!list->items[0]->quoted && list->items[1]->quoted && list->items[2]->quoted,
	   "quotes are told");
	is_str(list->items[2]->text, "z\n", "escapes are read");
	is_str(node_key(list->items[1]), "list", "an item is known by its list's key");
	is_int(list->items[1]->at.line, 2, "line of an item");
	is_int(list->items[1]->at.column, 11, "column of an item");
	deep = node_get(node_get(root, "map"), "deep");
	is_str(deep->text, "two\nlines\n", "a block");
	is_int(deep->key_at.line, 4, "line of a nested key");
	is_int(deep->key_at.column, 3, "column of a nested key");
	ok(node_is_null(node_get(root, "none")), "a key without a value");
	ok(!node_get(root, "b") && !node_get(list, "a"), "what is not there");
	is_int(d.faults.n, 0, "no faults");
}

/* What a text is told; "" for none. */
static char *faults_of(const char *text, size_t len)
{
	ERR_CLEANUP struct err err = {};
	autodiag d = {};

	node_free(node_parse(text, len, "f.yaml", &d));
	diag_err(&d, &err);
	return xstrdup(err.message ? strchr(err.message, '\n') + 1 : "");
}

static void refused(const char *text, const char *message, const char *what)
{
	autofree char *got = faults_of(text, strlen(text));

	is_str(got, message, "%s", what);
}

static void refusals(void)
{
	refused("a: &x 1\n",
		"f.yaml:1:4: key 'a': an anchor (&name) is not allowed, write the value out",
		"anchor");
	refused("a: 1\nb: *x\n",
		"f.yaml:2:4: key 'b': an alias (*name) is not allowed, write the value out",
		"alias");
	refused("a: !t 1\n",
		"f.yaml:1:4: key 'a': a tag (!name) is not allowed, plain values say enough",
		"tag");
	refused("a: !!str 1\n",
		"f.yaml:1:4: key 'a': a tag (!name) is not allowed, plain values say enough",
		"standard tag");
	refused("a: !t [1]\n",
		"f.yaml:1:4: key 'a': a tag (!name) is not allowed, plain values say enough",
		"tag of a list");
	refused("a: &x {b: 1}\n",
		"f.yaml:1:4: key 'a': an anchor (&name) is not allowed, write the value out",
		"anchor of a mapping");
	refused("a: 1\nb: 2\na: 3\n", "f.yaml:3:1: key 'a': given twice, first in line 1",
		"key given twice");
	refused("m: {x: 1, x: 2}\n", "f.yaml:1:11: key 'x': given twice, first in line 1",
		"nested key given twice");
	refused("a: 1\n---\nb: 1\n",
		"f.yaml:2:1: a second document begins here, and a file holds one", "two documents");
	refused("", "f.yaml:1:1: the file is empty", "empty file");
	refused("# nothing\n", "f.yaml:1:1: the file is empty", "only a comment");
	refused("? [a]\n: x\n", "f.yaml:1:3: a key must be a word, not a list or mapping",
		"a list as key");
	refused("a: \"x\\0y\"\n", "f.yaml:1:4: key 'a': a NUL character is not allowed",
		"NUL in a text");
	refused("a: x\xff\n", "f.yaml:1:5: not UTF-8 text: invalid leading UTF-8 octet",
		"invalid UTF-8");
	refused("a: \xc3\xa9\n\xc3(", "f.yaml:2:2: not UTF-8 text: invalid trailing UTF-8 octet",
		"cut UTF-8");
	refused("a: \x01\n", "f.yaml:1:4: not UTF-8 text: control characters are not allowed",
		"control character");
	refused("a: [1, 2\nb: 3\n",
		"f.yaml:2:2: key 'a': not YAML: did not find expected ',' or ']' while parsing a "
		"flow sequence from line 1 on",
		"open bracket");
	refused("a: 'x\n",
		"f.yaml:2:1: not YAML: found unexpected end of stream while scanning a quoted "
		"scalar "
		"from line 1 on",
		"open quote");
	refused("a: b: c\n",
		"f.yaml:1:5: key 'a': not YAML: mapping values are not allowed in this context",
		"two colons");
	refused("a: &x 1\nb: *x\na: 2\n",
		"f.yaml:1:4: key 'a': an anchor (&name) is not allowed, write the value out\n"
		"f.yaml:2:4: key 'b': an alias (*name) is not allowed, write the value out\n"
		"f.yaml:3:1: key 'a': given twice, first in line 1",
		"all faults at once, in order");
}

static void limits(void)
{
	autobuf deep = {}, big = {}, wide = {};
	autofree char *got = NULL;

	for (int i = 0; i < 16; i++)
		buf_addch(&deep, '[');
	for (int i = 0; i < 16; i++)
		buf_addch(&deep, ']');
	got = faults_of(buf_str(&deep), deep.len);
	is_str(got, "", "16 deep is fine");
	buf_clear(&deep);
	for (int i = 0; i < 100000; i++)
		buf_addch(&deep, '[');
	free(got);
	got = faults_of(buf_str(&deep), deep.len);
	is_str(got, "f.yaml:1:17: lists and mappings more than 16 deep", "100000 deep is not");
	while (big.len <= 1 << 20)
		buf_adds(&big, "# nothing to see here\n");
	free(got);
	got = faults_of(buf_str(&big), big.len);
	is_str(got, "f.yaml:1:1: the file is larger than 1 MiB", "more than 1 MiB");
	for (int i = 0; i < 1001; i++)
		buf_printf(&wide, "k%d: 1\n", i);
	free(got);
	got = faults_of(buf_str(&wide), wide.len);
	is_str(got, "f.yaml:1001:1: key 'k999': a mapping of more than 1000 keys", "1001 keys");
}

static void hostile_keys(void)
{
	static const char text[] = "\"\\e[31mred\": 1\n\"\\e[31mred\": 1\n";
	autofree char *got = faults_of(text, strlen(text));

	ok(!strchr(got, 0x1b) && strstr(got, "red': given twice"),
	   "an escape in a key does not reach the terminal");
}

static void merging(void)
{
	static const char over[] = "a: 1\nm: {x: 1}\nl: [1]\n",
			  under[] = "a: 2\nm: {x: 2, y: 3}\nl: [2, 3]\nz: 'it''s'\n";
	autodiag d = {};
	autoyaml *root = node_parse(over, strlen(over), "over.yaml", &d);
	struct yaml_node *base = node_parse(under, strlen(under), "under.yaml", &d);
	autoyaml *again = NULL;
	autobuf text = {};

	node_merge(root, base);
	node_print(root, &text);
	is_str(buf_str(&text), "a: 1\nm:\n  x: 1\n  y: 3\nl: [1]\nz: 'it''s'\n",
	       "deep in mappings, lists replaced");
	is_str(node_get(root, "z")->at.file, "under.yaml", "a merged value knows its file");
	again = node_parse(buf_str(&text), text.len, "again.yaml", &d);
	ok(again && node_get(again, "z")->quoted && !node_get(again, "a")->quoted,
	   "printing keeps quotes");
	node_free(node_remove(root, "a"));
	ok(!node_get(root, "a") && root->n == 3, "a key taken out");
	ok(!node_remove(root, "a"), "is gone");
	is_int(d.faults.n, 0, "no faults");
}

static void files(void)
{
	ERR_CLEANUP struct err err = {};
	autodiag d = {};
	struct yaml_node *root = NULL;

	is_int(node_load("/nonexistent/f.yaml", &d, &root, NULL, &err), -ERR_NOT_FOUND,
	       "a file that is not there");
	is_int(node_load("/dev/zero", &d, &root, NULL, &err), 0, "a file without end is read");
	is_int(d.faults.n, 1, "and refused");
	ok(!root, "without a tree");
}

int main(void)
{
	tree();
	refusals();
	limits();
	hostile_keys();
	merging();
	files();
	return plan_done();
}
