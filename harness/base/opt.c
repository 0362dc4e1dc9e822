// SPDX-License-Identifier: GPL-2.0-or-later
// The option parser: tables in, values out, operands to the front.
#include "harness/base/opt.h"

static bool is_end(const struct opt *o)
{
	return !o->name || !o->name[0];
}

static const struct opt *find_long(const struct opt *const *tables, const char *name, size_t len)
{
	for (; *tables; tables++)
		for (const struct opt *o = *tables; !is_end(o); o++)
			if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
				return o;
	return NULL;
}

static const struct opt *find_letter(const struct opt *const *tables, char letter)
{
	for (; *tables; tables++)
		for (const struct opt *o = *tables; !is_end(o); o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

static int unknown_option(const struct opt *const *tables, const char *name, size_t len,
			  struct err *err)
{
	autofree char *word = xstrndup(name, len);
	VEC(const char *) names = {};
	const char *nearest;

	for (const struct opt *const *t = tables; *t; t++)
		for (const struct opt *o = *t; !is_end(o); o++)
			VEC_PUSH(&names, o->name);
	nearest = str_nearest(word, names.at, names.n);
	err_set(err, ERR_USAGE, "unknown option '--%s'", word);
	if (nearest)
		err_hint(err, "did you mean '--%s'?", nearest);
	VEC_FREE(&names);
	return -ERR_USAGE;
}

static int store(const struct opt *o, const char *value, struct err *err)
{
	const char *wanted = NULL;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)o->value = true;
		break;
	case OPT_STRING:
		*(const char **)o->value = value;
		break;
	case OPT_LIST:
		strv_push(o->value, value);
		break;
	case OPT_U64:
		wanted = str_to_u64(value, o->value) ? NULL : "a whole number";
		break;
	case OPT_DOUBLE:
		wanted = str_to_double(value, o->value) ? NULL : "a number";
		break;
	case OPT_DURATION:
		wanted = str_to_duration_ns(value, o->value) ? NULL
							     : "a time such as 90s, 10m or 4h";
		break;
	}
	if (wanted)
		return err_set(err, ERR_USAGE, "option '--%s': '%s' is not %s", o->name, value,
			       wanted);
	return 0;
}

/* argv[*i] is an option: stores it, and moves *i on to the value it took. */
static int parse_long(const struct opt *const *tables, char **argv, int *i, struct err *err)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct opt *o = find_long(tables, name, len);
	const char *value = name[len] ? name + len + 1 : NULL;

	if (!o)
		return unknown_option(tables, name, len, err);
	if (o->kind == OPT_FLAG && value)
		return err_set(err, ERR_USAGE, "option '--%s' takes no value", o->name);
	if (o->kind != OPT_FLAG && !value)
		value = argv[*i + 1] ? argv[++*i] : NULL;
	if (o->kind != OPT_FLAG && !value)
		return err_set(err, ERR_USAGE, "option '--%s' needs a value: %s", o->name, o->arg);
	return store(o, value, err);
}

/* "-qv" is two flags, "-n5" and "-n 5" are a letter with its value. */
static int parse_letters(const struct opt *const *tables, char **argv, int *i, struct err *err)
{
	for (const char *s = argv[*i] + 1; *s; s++) {
		const struct opt *o = find_letter(tables, *s);
		const char *value;
		int rc;

		if (!o)
			return err_set(err, ERR_USAGE, "unknown option '-%c'", *s);
		if (o->kind == OPT_FLAG) {
			store(o, NULL, err);
			continue;
		}
		value = s[1] ? s + 1 : argv[*i + 1] ? argv[++*i] : NULL;
		rc = value ? store(o, value, err)
			   : err_set(err, ERR_USAGE, "option '-%c' needs a value: %s", *s, o->arg);
		return rc;
	}
	return 0;
}

/* argv[*i] if it is an option, its value too: 1. 0: it is an operand. */
static int parse_option(const struct opt *const *tables, char **argv, int *i, struct err *err)
{
	int rc;

	if (argv[*i][0] != '-' || !argv[*i][1])
		return 0;
	rc = argv[*i][1] == '-' ? parse_long(tables, argv, i, err) :
				  parse_letters(tables, argv, i, err);
	return rc < 0 ? rc : 1;
}

int opt_parse(const struct opt *const *tables, int argc, char **argv, int *ret_operands,
	      struct err *err)
{
	int operands = 0;
	bool ended = false;

	for (int i = 0; i < argc; i++) {
		int rc = 0;

		if (!ended && streq(argv[i], "--")) {
			ended = true;
			continue;
		}
		if (!ended)
			rc = parse_option(tables, argv, &i, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			argv[operands++] = argv[i];
	}
	*ret_operands = operands;
	return 0;
}

int opt_parse_leading(const struct opt *table, int argc, char **argv, int *ret_index,
		      struct err *err)
{
	const struct opt *const tables[] = { table, NULL };
	int i = 1, rc = 1;

	for (; i < argc && !streq(argv[i], "--"); i++) {
		rc = parse_option(tables, argv, &i, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
	}
	if (i < argc && rc)
		i++; /* past the "--" */
	*ret_index = i;
	return 0;
}

void opt_print_help(const struct opt *table, struct buf *out)
{
	for (const struct opt *o = table; !is_end(o); o++) {
		if (o->letter)
			buf_printf(out, "  -%c, --%s", o->letter, o->name);
		else
			buf_printf(out, "      --%s", o->name);
		if (o->arg)
			buf_printf(out, " %s", o->arg);
		buf_addch(out, ' ');
		buf_pad(out, 30, ' ');
		buf_printf(out, " %s\n", o->help);
	}
}
