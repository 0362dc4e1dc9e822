// SPDX-License-Identifier: GPL-2.0-or-later
// One table says what a YAML file may hold: it drives the reading, the errors and the
// documentation.
#pragma once

#include "harness/job/yaml.h"

/*
 *	struct box { char *name; uint32_t cpus; int64_t limit_ns; };
 *	static const struct schema box_rows[] = {
 *		{ .key = "name", .kind = SCHEMA_STRING, .offset = offsetof(struct box, name),
 *		  .required = true, .help = "what it is called", .example = "rack3" },
 *		{ .key = "cpus", .kind = SCHEMA_U32, .offset = offsetof(struct box, cpus),
 *		  .min = 1, .max = 1024, .fallback = "1", .help = "processors" },
 *		{ .key = "limit", .kind = SCHEMA_DURATION, .offset = offsetof(struct box, limit_ns),
 *		  .fallback = "4h", .help = "the longest job" },
 *		{}
 *	};
 *	struct box box = {};
 *	schema_read(box_rows, root, &box, &diag);
 *	schema_release(box_rows, &box);
 *
 * Keys that are no row of the table are faults that name the nearest one.
 */
enum schema_kind {
	SCHEMA_STRING,	 /* char * */
	SCHEMA_STRINGS,	 /* char **, NULL-terminated; a single text is a list of one */
	SCHEMA_PATH,	 /* char *, an existing file: job_file_find() says where it is looked for */
	SCHEMA_PATHS,	 /* char **, NULL-terminated */
	SCHEMA_BOOL,	 /* bool; true, false, yes, no */
	SCHEMA_U32,	 /* uint32_t */
	SCHEMA_DOUBLE,	 /* double */
	SCHEMA_PERCENT,	 /* double; "5%" or 5 is 5.0 */
	SCHEMA_FRACTION, /* double; "99%" or 0.99 is 0.99 */
	SCHEMA_DURATION, /* int64_t, nanoseconds; "90s", "10m"; min and max are seconds */
	SCHEMA_BYTES,	 /* uint64_t; "64K", "512M", powers of 1024 */
	SCHEMA_ENUM,	 /* an enum: the place of the word in `words` */
	SCHEMA_COMMAND,	 /* char ** argv: a text becomes sh -c TEXT, a list is taken as it is */
	SCHEMA_NODE,	 /* const struct yaml_node *: the tree itself, for who reads it later */
	SCHEMA_GROUP,	 /* a struct inside this one, described by `rows` */
	SCHEMA_MAP,    /* NAME: group of `rows`, any number of them, each put where `entry` says */
	SCHEMA_LIST,   /* the same without names: a list of groups */
	SCHEMA_CUSTOM, /* read by `read` */
};

struct schema {
	const char *key; /* NULL ends the table */
	enum schema_kind kind;
	bool required;
	size_t offset;		   /* of the field in the struct */
	double min, max;	   /* of numbers; both 0: no limits; max may be INFINITY */
	const char *fallback;	   /* the default, as the file would say it; NULL: zeros */
	const char *const *words;  /* SCHEMA_ENUM: ends with NULL */
	const struct schema *rows; /* SCHEMA_GROUP, SCHEMA_MAP, SCHEMA_LIST */
	/* SCHEMA_MAP, SCHEMA_LIST: where the entry's struct is (new, zeroed, valid until the next
	 * call); NULL: a fault was added */
	void *(*entry)(const struct yaml_node *node, void *field, struct diag *d);
	/* SCHEMA_CUSTOM: text or tree to field */
	void (*read)(const struct yaml_node *node, void *field, struct diag *d);
	/* may add faults of a scalar or list that was read well; NULL: nothing more is asked of it
	 */
	void (*check)(const struct yaml_node *node, struct diag *d);
	const char *type;    /* SCHEMA_CUSTOM, SCHEMA_NODE: what docs call the value */
	const char *help;    /* a sentence, lower case, no full stop */
	const char *example; /* a value as the file would say it */
};

/* Fills base (zeroed by the caller) from a mapping; strings and lists in it are owned by the
 * struct. */
void schema_read(const struct schema *rows, const struct yaml_node *map, void *base,
		 struct diag *d);
/* Frees the texts and lists that schema_read made; entries of maps and custom fields are their
 * owner's. */
void schema_release(const struct schema *rows, void *base);
/* Every key with type, default and help, in the order of the table: "qemu.cpus: number, 1 to 64,
 * default 1". */
void schema_print_docs(const struct schema *rows, struct buf *out);

/* --- for custom readers --- */

/* The text of a scalar; NULL after a fault (a list, a mapping, nothing). `wanted` is like "a
 * number". */
const char *schema_text(const struct yaml_node *node, const char *wanted, struct diag *d);
/* As SCHEMA_STRINGS reads it, or NULL after a fault. */
char **schema_texts(const struct yaml_node *node, const char *wanted, struct diag *d);
/* ", did you mean 'x'?" or "" into a fault; names end with NULL. Owned. */
char *schema_meant(const char *word, const char *const *names);
