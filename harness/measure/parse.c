// SPDX-License-Identifier: GPL-2.0-or-later
// One run's output into the values of a job's metrics, or the reason why there is none.
#include "harness/measure/parse.h"

#include "harness/base/clock.h"
#include "harness/base/regex.h"
#include "harness/measure/number.h"
#include "harness/measure/output.h"

#include <math.h>

enum { MATCHES_MAX = 1000000 };
#define PATTERN_NS (20 * NS_PER_S)

struct reading {
	const struct job *job;
	const struct cell *cell; /* NULL: parameters have no value */
	const char *text;	 /* cleaned */
	size_t len;
	struct json_docs docs;
	bool docs_read;
	struct parsed *parsed;
	bool *done; /* of each metric */
};

/* The numbers found for one metric so far. */
struct tally {
	enum take take;
	size_t n;
	double value, sum;
	char *why; /* owned: why the metric has no value */
};

static void fail(struct tally *t, char *why)
{
	if (t->why)
		free(why);
	else
		t->why = why;
}

/* Takes a number in; false when the search is over. */
static bool tally_add(struct tally *t, double v)
{
	t->n++;
	t->sum += v;
	if (t->take == TAKE_ONLY && t->n > 1) {
		fail(t, xasprintf("two results where one is expected: %.10g and %.10g "
				  "(take: says which one counts)",
				  t->value, v));
		return false;
	}
	if (t->n == 1 || t->take == TAKE_LAST || (t->take == TAKE_MIN && v < t->value) ||
	    (t->take == TAKE_MAX && v > t->value))
		t->value = v;
	return t->take != TAKE_FIRST;
}

static double tally_value(const struct tally *t)
{
	if (t->take == TAKE_SUM)
		return t->sum;
	return t->take == TAKE_MEAN ? t->sum / (double)t->n : t->value;
}

/* --- pattern --- */

static bool add_match(const struct reading *r, const char *pattern, const struct regex_match *m,
		      struct tally *t)
{
	const struct capture c = {
		.text = r->text,
		.len = r->len,
		.start = m->group_start,
		.end = m->group_end,
		.free_start = m->group_start <= m->start,
		.free_end = m->group_end >= m->end,
		.knows_commas = strchr(pattern, ',') != NULL,
	};
	char *why = NULL;
	double v;

	if (number_capture(&c, &v, &why))
		return tally_add(t, v);
	fail(t, why);
	return false;
}

static int read_pattern(struct reading *r, const struct metric *m, struct tally *t, struct err *err)
{
	int64_t deadline_ns = clock_deadline_ns(PATTERN_NS);
	autoregex struct regex *re = NULL;
	struct regex_match match;
	size_t from = 0;
	int rc = regex_new(m->pattern, &re, err);

	if (rc < 0)
		return rc;
	while ((rc = regex_next(re, r->text, r->len, from, &match, err)) == 1) {
		if (!add_match(r, m->pattern, &match, t))
			return 0;
		from = match.end > match.start ? match.end : match.end + 1;
		if (t->n == MATCHES_MAX || clock_now_ns() > deadline_ns) {
			fail(t, xasprintf("pattern '%s' matches without end", m->pattern));
			return 0;
		}
		if (from > r->len)
			break;
	}
	if (rc < 0) { /* the output's fault, not the job's */
		fail(t, xasprintf("pattern '%s': %s", m->pattern, err->message));
		err_release(err);
	} else if (!t->n && !m->optional) {
		fail(t, xasprintf("pattern '%s' does not match%s", m->pattern,
				  r->len ? "" : ", the output is empty"));
	}
	return 0;
}

/* --- key --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t skip_blanks(const char *s, size_t i, size_t end)
{
	while (i < end && is_blank(s[i]))
		i++;
	return i;
}

/* What stands behind the name on its line; true while more lines are wanted. */
static bool add_key_line(const char *s, size_t end, struct tally *t)
{
	size_t i = skip_blanks(s, 0, end), stop, next;
	char *why = NULL;
	double v;

	if (i == end || (s[i] != ':' && s[i] != '='))
		return true;
	i = stop = skip_blanks(s, i + 1, end);
	while (stop < end && !is_blank(s[stop]))
		stop++;
	next = skip_blanks(s, stop, end);
	stop -= stop > i && (s[stop - 1] == ',' || s[stop - 1] == ';');
	if (!number_read(s + i, stop - i, &v, &why))
		fail(t, why);
	else if (next < end && s[next] >= '0' && s[next] <= '9')
		fail(t, xasprintf("more than one number on its line, beginning with %.10g", v));
	return !t->why && tally_add(t, v);
}

static void read_key(struct reading *r, const struct metric *m, struct tally *t)
{
	size_t key_len = strlen(m->key), i = 0;
	bool more = true;

	while (more && i < r->len) {
		const char *newline = memchr(r->text + i, '\n', r->len - i);
		size_t end = newline ? (size_t)(newline - r->text) : r->len;

		i = skip_blanks(r->text, i, end);
		if (end - i > key_len && memcmp(r->text + i, m->key, key_len) == 0)
			more = add_key_line(r->text + i + key_len, end - i - key_len, t);
		i = end + 1;
	}
	if (!t->n && !t->why && !m->optional)
		fail(t, xasprintf("no line '%s: value'%s", m->key,
				  r->len ? "" : ", the output is empty"));
}

/* --- JSON --- */

static void read_json(struct reading *r, const struct metric *m, struct tally *t)
{
	if (!r->docs_read)
		json_docs_read(r->text, r->len, &r->docs);
	r->docs_read = true;
	for (size_t i = 0; i < r->docs.n && !t->why; i++) {
		const struct json *j = json_at(r->docs.at[i], m->json);
		double v;

		if (!j)
			continue;
		if (json_num(j, &v) && isfinite(v))
			tally_add(t, v);
		else
			fail(t, xasprintf("'%s' is there and is not a number", m->json));
	}
	if (t->n || t->why)
		return;
	if (!r->docs.n && r->docs.why) /* it began and broke off: that is no absence */
		fail(t, xstrdup(r->docs.why));
	else if (!m->optional)
		fail(t, r->docs.n ? xasprintf("the JSON document has no '%s'", m->json)
				  : xstrdup("no JSON document in the output"));
}

/* --- derive --- */

static void read_metric_derived(struct reading *r, size_t i);

/* The value that arithmetic sees under this name. */
static bool lookup(const char *name, double *ret, void *arg)
{
	struct reading *r = arg;
	const struct metric *m = job_metric(r->job, name);
	size_t i;

	if (m) {
		i = m - r->job->metrics;
		read_metric_derived(r, i);
		*ret = r->parsed->values[i].value;
		return r->parsed->values[i].present;
	}
	for (i = 0; r->cell && i < r->cell->n_values; i++)
		if (streq(r->cell->values[i].name, name))
			return str_to_double(r->cell->values[i].value, ret);
	return false;
}

static void read_derive(struct reading *r, const struct metric *m, struct tally *t)
{
	ERR_CLEANUP struct err err = {};
	double v;
	int rc = expr_eval(m->derive, lookup, r, &v, &err);

	if (!rc)
		tally_add(t, v);
	else if (rc != -ERR_NOT_FOUND || !m->optional)
		fail(t, xasprintf("cannot be derived: %s", err.message));
}

static void settle(struct reading *r, size_t i, struct tally *t)
{
	struct parsed_value *p = &r->parsed->values[i];

	r->done[i] = true;
	if (t->n && !t->why) {
		p->value = tally_value(t) * r->job->metrics[i].scale;
		p->present = isfinite(p->value);
		if (!p->present)
			fail(t, xstrdup("the value is too large for a number"));
	}
	p->why = t->why;
	r->parsed->n_errors += p->why != NULL;
}

/* Metrics that derive from each other are read in the order that they need; done breaks any circle.
 */
static void read_metric_derived(struct reading *r, size_t i)
{
	struct tally t = {.take = TAKE_ONLY};

	if (r->done[i])
		return;
	r->done[i] = true;
	read_derive(r, &r->job->metrics[i], &t);
	settle(r, i, &t);
}

static int read_metric(struct reading *r, size_t i, struct err *err)
{
	const struct metric *m = &r->job->metrics[i];
	struct tally t = {.take = m->take};
	int rc = 0;

	if (m->pattern)
		rc = read_pattern(r, m, &t, err);
	else if (m->json)
		read_json(r, m, &t);
	else if (m->key)
		read_key(r, m, &t);
	else
		return 0;
	settle(r, i, &t);
	return rc;
}

static int read_all(struct reading *r, struct err *err)
{
	for (size_t i = 0; i < r->job->n_metrics; i++) {
		int rc = read_metric(r, i, err);

		if (rc < 0)
			return err_wrap(err, "metric '%s'", r->job->metrics[i].name);
	}
	for (size_t i = 0; i < r->job->n_metrics; i++)
		if (r->job->metrics[i].derive)
			read_metric_derived(r, i);
	return 0;
}

int parse_output(const struct job *job, const struct cell *cell, const char *output, size_t len,
		 struct parsed *ret, struct err *err)
{
	autofree bool *done = xcalloc(job->n_metrics, sizeof(*done));
	struct parsed parsed = {.n = job->n_metrics};
	autobuf clean = {};
	struct reading r = {.job = job, .cell = cell, .parsed = &parsed, .done = done};
	int rc;

	parsed.values = xcalloc(job->n_metrics, sizeof(*parsed.values));
	for (size_t i = 0; i < job->n_metrics; i++)
		parsed.values[i].metric = &job->metrics[i];
	output_clean(output, len, &clean);
	r.text = buf_str(&clean);
	r.len = clean.len;
	rc = read_all(&r, err);
	json_docs_release(&r.docs);
	if (rc < 0)
		parsed_release(&parsed);
	else
		*ret = parsed;
	return rc;
}

void parsed_release(struct parsed *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->values[i].why);
	free(p->values);
	*p = (struct parsed){};
}
