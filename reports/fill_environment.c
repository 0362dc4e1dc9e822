// SPDX-License-Identifier: GPL-2.0-or-later
// Which facts about the environment differ between the sides, out of their boots' fingerprints.
#include "reports/fill.h"

#include "harness/base/util.h"

/* One fact: the different values that each side's boots gave. */
struct fact {
	char *name;
	char ***values; /* a sorted strv for each side */
};

struct facts {
	VEC(struct fact) all;
	size_t n_sides;
	bool *read; /* sides with any fingerprint */
};

static struct fact *fact_named(struct facts *f, const char *name)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (streq(f->all.at[i].name, name))
			return &f->all.at[i];
	VEC_PUSH(&f->all, (struct fact){xstrdup(name), xcalloc(f->n_sides, sizeof(char **))});
	return &f->all.at[f->all.n - 1];
}

static void add_value(char ***set, const char *value)
{
	size_t n = strv_len(*set), at = 0;
	char *last;

	while (at < n && strcmp((*set)[at], value) < 0)
		at++;
	if (at < n && streq((*set)[at], value))
		return;
	strv_push(set, value);
	last = (*set)[n];
	memmove(&(*set)[at + 1], &(*set)[at], (n - at) * sizeof(**set));
	(*set)[at] = last;
}

static void add_facts(struct facts *f, size_t side, const struct json *fingerprint)
{
	f->read[side] = true;
	for (size_t i = 0; i < json_len(fingerprint); i++) {
		const char *key = json_key(fingerprint, i);
		const struct json *value = json_get(fingerprint, key);
		autobuf text = {};

		if (json_str(value))
			buf_adds(&text, json_str(value));
		else
			json_print(value, false, &text);
		add_value(&fact_named(f, key)->values[side], buf_str(&text));
	}
}

static char *joined(char *const *set)
{
	autobuf text = {};

	for (size_t i = 0; i < strv_len(set); i++)
		buf_printf(&text, "%s%s", i ? " | " : "", set[i]);
	return set ? buf_take(&text) : NULL;
}

/* Moves a fact to the report if two sides that were measured differ in it; frees it. */
static void end_fact(struct report *r, const struct facts *f, struct fact *fact)
{
	char **values = xcalloc(f->n_sides + 1, sizeof(*values));
	const char *first = NULL;
	bool any = false, differs = false;

	for (size_t i = 0; i < f->n_sides; i++) {
		values[i] = joined(fact->values[i]);
		strv_free(fact->values[i]);
		if (!f->read[i])
			continue;
		differs = differs || (any && !streq(values[i], first));
		first = any ? first : values[i];
		any = true;
	}
	free(fact->values);
	if (differs) {
		r->differences =
			xrealloc(r->differences, r->n_differences + 1, sizeof(*r->differences));
		r->differences[r->n_differences++] = (struct report_difference){fact->name, values};
		return;
	}
	for (size_t i = 0; i < f->n_sides; i++)
		free(values[i]);
	free(values);
	free(fact->name);
}

static bool is_read(const struct filling *f, size_t boot)
{
	for (size_t i = 0; i < boot; i++)
		if (f->side[i] == f->side[boot] &&
		    f->boots[i].fingerprint == f->boots[boot].fingerprint)
			return true;
	return false;
}

static int read_boots(struct filling *f, struct facts *facts, struct err *err)
{
	for (size_t i = 0; i < f->n_boots; i++) {
		autofree char *text = NULL;
		autojson struct json *fingerprint = NULL;

		if (f->side[i] < 0 || !f->boots[i].fingerprint || is_read(f, i))
			continue;
		if (store_fingerprint_get(f->store, f->boots[i].fingerprint, &text, err) < 0 ||
		    json_parse(text, strlen(text), &fingerprint, err) < 0)
			return -(int)err->code;
		add_facts(facts, f->side[i], fingerprint);
	}
	return 0;
}

int fill_environment(struct filling *f, struct err *err)
{
	struct facts facts = {.n_sides = f->report->n_sides};
	int rc;

	facts.read = xcalloc(facts.n_sides + 1, sizeof(*facts.read));
	rc = read_boots(f, &facts, err);
	for (size_t i = 0; i < facts.all.n; i++)
		end_fact(f->report, &facts, &facts.all.at[i]);
	VEC_FREE(&facts.all);
	free(facts.read);
	return rc;
}
