// SPDX-License-Identifier: GPL-2.0-or-later
// Gathers from the store and the tree what stands in a mail beside the report's numbers.

#include "harness/verbs/mail_facts.h"

#include "harness/base/clock.h"
#include "harness/kernel/repo.h"
#include "harness/stats/summary.h"
#include "reports/json.h"

#include <math.h>

const char *gathered_keep(struct gathered *g, char *text)
{
	VEC_PUSH(&g->texts, text);
	return text;
}

void gathered_release(struct gathered *g)
{
	for (size_t i = 0; i < g->texts.n; i++)
		free(g->texts.at[i]);
	VEC_FREE(&g->texts);
	VEC_FREE(&g->to);
	VEC_FREE(&g->cc);
}

static bool is_proof(const struct boot_row *boot, const char *culprit)
{
	return streq(boot->purpose, "confirm") && streq(boot->commit_sha, culprit) &&
	       streq(boot->status, "ok") && !boot->void_why;
}

/* Environment, config and compiler of one of the culprit's confirming boots. */
static int add_boot(const struct mail_request *q, struct gathered *g, const struct boot_row *boot,
		    struct err *err)
{
	struct kernel_row kernel = {};
	char *text = NULL;
	int rc = 0;

	if (boot->fingerprint) {
		if (store_fingerprint_get(q->store, boot->fingerprint, &text, err) < 0)
			return -(int)err->code;
		g->facts.environment = gathered_keep(g, text);
		text = NULL;
	}
	if (!boot->kernel)
		return 0;
	rc = store_kernel_get(q->store, boot->kernel, &kernel, err);
	if (rc >= 0 && *kernel.config_hash)
		rc = store_config_get(q->store, kernel.config_hash, &text, err);
	if (rc >= 0) {
		g->facts.toolchain = gathered_keep(g, xstrdup(kernel.toolchain));
		g->facts.config = gathered_keep(g, text);
	}
	kernel_row_release(&kernel);
	return MIN(rc, 0);
}

/* Samples come boot by boot; one object a run's value would be three times as long. */
static void add_series(struct json *list, const struct boot_row *boot, const struct sample *s,
		       const struct sample *end)
{
	struct json *o = NULL, *values = NULL;
	const struct sample *last = NULL;

	for (; s < end; s++) {
		if (!last || s->metric != last->metric || s->cell != last->cell) {
			o = json_push(list, json_object_new());
			json_set_int(o, "boot", boot->id);
			json_set_str(o, "commit", boot->commit_sha);
			json_set_str(o, "purpose", boot->purpose);
			json_set_str(o, "side", boot->side);
			json_set(o, "cell", json_cell(s->cell));
			json_set_str(o, "metric", s->metric);
			values = json_set(o, "values", json_array_new());
		}
		json_push(values, json_number_new(s->value));
		last = s;
	}
}

/* By metric within a boot, in the order of the runs. */
static int by_metric(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = x->boot != y->boot ? (x->boot > y->boot) - (x->boot < y->boot)
				       : strcmp(x->metric, y->metric);

	order = order ? order : strcmp(x->cell, y->cell);
	return order ? order : (x->run > y->run) - (x->run < y->run);
}

static int add_samples(const struct mail_request *q, struct gathered *g,
		       const struct boot_row *boots, size_t n, struct err *err)
{
	autojson struct json *document = json_object_new();
	struct sample_list samples = {};
	struct json *list;
	autobuf text = {};
	size_t at = 0;
	int rc = store_samples(q->store, q->report->session.id, NULL, NULL, &samples, err);

	if (rc < 0)
		return rc;
	if (samples.n)
		qsort(samples.at, samples.n, sizeof(*samples.at), by_metric);
	json_set_int(document, "schema_version", 1);
	json_set_int(document, "bisect", q->report->session.id);
	list = json_set(document, "samples", json_array_new());
	for (size_t i = 0; i < n; i++) {
		size_t start = at;

		while (at < samples.n && samples.at[at].boot <= boots[i].id)
			at++;
		add_series(list, &boots[i], samples.at + start, samples.at + at);
	}
	json_print(document, true, &text);
	buf_addch(&text, '\n');
	g->facts.samples = gathered_keep(g, buf_take(&text));
	sample_list_release(&samples);
	return 0;
}

static int add_boots(const struct mail_request *q, struct gathered *g, struct err *err)
{
	struct boot_row *boots;
	size_t n;
	int rc = store_boot_list(q->store, q->report->session.id, &boots, &n, err);

	if (rc < 0)
		return rc;
	rc = add_samples(q, g, boots, n, err);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (!is_proof(&boots[i], q->report->bisect.row.culprit))
			continue;
		rc = add_boot(q, g, &boots[i], err);
		break;
	}
	for (size_t i = 0; i < n; i++)
		boot_row_release(&boots[i]);
	free(boots);
	return rc;
}

static bool is_of(const struct history_point *p, const struct mail_request *q, const char *sha)
{
	return streq(p->commit_sha, sha) && !*p->variant &&
	       streq(p->cell, q->report->bisect.row.cell) &&
	       streq(p->machine, q->report->session.machine);
}

/* What boots of any session gave on the tree's newest commit: nearer to bad than to good? */
static char *measured_there(const struct mail_request *q, const char *sha, const char *day)
{
	const struct bisection_row *row = &q->report->bisect.row;
	ERR_CLEANUP struct err err = {};
	struct history_point *points = NULL;
	VEC(double) values = {};
	char *line = NULL;
	size_t n = 0;

	if (store_history(q->store, row->metric, &points, &n, &err) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (is_of(&points[i], q, sha))
			VEC_PUSH(&values, points[i].value);
	if (values.n) {
		double centre = values_median(values.at, values.n);
		bool bad = fabs(centre - row->effect_bad) < fabs(centre - row->effect_good);

		line = xasprintf("%s on %.12s of %s: %.5g %s in %zu boots",
				 bad ? "still present" : "not present", sha, day, centre, row->unit,
				 values.n);
	}
	VEC_FREE(&values);
	history_release(points, n);
	return line;
}

static void add_newest(const struct mail_request *q, struct gathered *g)
{
	const char *where = q->ctx->repo ? q->ctx->repo : q->report->session.repo;
	ERR_CLEANUP struct err err = {};
	struct repo_commit commit = {};
	struct repo *repo = NULL;
	autofree char *sha = NULL;
	char *line = NULL, wall[32];

	if (repo_open(where, &repo, &err) == 0 && repo_resolve(repo, "HEAD", &sha, &err) == 0 &&
	    repo_commit(repo, sha, &commit, &err) == 0) {
		autofree char *day =
			xasprintf("%.10s", clock_format_wall(commit.committer_time, wall));

		line = measured_there(q, sha, day);
		if (!line)
			line = xasprintf("not measured on %.12s of %s, the newest of HEAD", sha,
					 day);
		repo_commit_release(&commit);
	}
	repo_close(repo);
	g->facts.newest = gathered_keep(g, line ? line : xstrdup("not known, no tree is at hand"));
}

/* Another machine that searched the same range for the same metric. */
static char *second_opinion(const struct mail_request *q, const struct session_row *s)
{
	const struct bisection_row *row = &q->report->bisect.row;
	ERR_CLEANUP struct err err = {};
	struct bisection_row other = {};
	char *line = NULL;

	if (!streq(s->kind, "bisect") || streq(s->machine, q->report->session.machine) ||
	    store_bisection_get(q->store, s->id, &other, &err) < 0)
		return NULL;
	if (*other.outcome && streq(other.metric, row->metric) && streq(other.good, row->good) &&
	    streq(other.bad, row->bad)) {
		if (streq(other.culprit, row->culprit))
			line = xasprintf("%s agrees, it finds the same commit", s->machine);
		else
			line = xasprintf("%s does not agree, its outcome is %s%s%.12s", s->machine,
					 other.outcome, other.culprit ? " " : "",
					 other.culprit ? other.culprit : "");
	}
	bisection_row_release(&other);
	return line;
}

static int add_second(const struct mail_request *q, struct gathered *g, struct err *err)
{
	struct session_row *sessions;
	char *line = NULL;
	size_t n;
	int rc = store_session_list(q->store, &sessions, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		if (!line)
			line = second_opinion(q, &sessions[i]);
		session_row_release(&sessions[i]);
	}
	free(sessions);
	g->facts.second_machine = gathered_keep(g, line ? line : xstrdup("was not run"));
	return 0;
}

int gather(const struct mail_request *q, struct gathered *ret, struct err *err)
{
	const char *repo = q->report->session.repo;

	*ret = (struct gathered){
		.facts = {.regzbot = q->regzbot, .tree = *repo ? path_base(repo) : "tree"}};
	if (gather_people(q, ret, err) < 0 || add_boots(q, ret, err) < 0 ||
	    add_second(q, ret, err) < 0)
		return -(int)err->code;
	add_newest(q, ret);
	return 0;
}
