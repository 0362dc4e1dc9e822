// SPDX-License-Identifier: GPL-2.0-or-later
// From finished `aa` sessions into the options of a new session, and back out of them.

#include "harness/measure/learned.h"

#include "harness/measure/aa.h"
#include "harness/stats/compare.h"

#include <math.h>

static struct json *to_json(const struct aa_noise *noise)
{
	struct json *o = json_object_new();

	json_set_num(o, "runs_pct", noise->run.pct);
	json_set_num(o, "boots_pct", noise->boot.pct);
	json_set_num(o, "builds_pct", noise->build.pct);
	json_set_num(o, "spread_pct", noise->spread_pct);
	return o;
}

/* the newest that has values of it: an `aa` may have measured one cell alone */
static int add_metric(struct lab *lab, const int64_t *sessions, size_t n, const struct cell *cell,
		      const struct metric *metric, struct json *known, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct aa_noise noise;

		if (aa_estimate(lab->store, sessions[i], cell, metric, &noise, err) < 0)
			return -err->code;
		if (!noise.boot.n)
			continue;
		json_set(known, metric->name, to_json(&noise));
		return 0;
	}
	return 0;
}

int learned_add(struct lab *lab, struct json *options, struct err *err)
{
	const struct job *job = lab->job;
	struct json *aa = json_set(options, "aa", json_object_new());
	autofree int64_t *sessions = NULL;
	size_t n = 0;
	int r = store_session_finished(lab->store, AA_KIND, job->text_hash, lab->machine_name,
				       &sessions, &n, err);

	for (size_t c = 0; r >= 0 && n && c < job->n_cells; c++) {
		struct json *known = json_set(aa, job->cells[c].name, json_object_new());

		for (size_t m = 0; r >= 0 && m < job->n_metrics; m++)
			r = add_metric(lab, sessions, n, &job->cells[c], &job->metrics[m], known,
				       err);
	}
	return r;
}

static double number(const struct json *o, const char *key)
{
	double value;

	return json_num(json_get(o, key), &value) ? value : NAN;
}

struct learned learned_noise(const struct lab *lab, const struct cell *cell,
			     const struct metric *metric)
{
	const struct json *aa = json_get(lab->options, "aa");
	const struct json *known = json_get(json_get(aa, cell->name), metric->name);

	return (struct learned){
		.runs_pct = number(known, "runs_pct"),
		.boots_pct = number(known, "boots_pct"),
		.builds_pct = number(known, "builds_pct"),
		.spread_pct = number(known, "spread_pct"),
	};
}

double learned_min_effect_pct(const struct lab *lab, const struct cell *cell,
			      const struct metric *metric)
{
	return compare_min_effect_pct(lab->job->min_effect_pct,
				      learned_noise(lab, cell, metric).spread_pct);
}

char *learned_sentence(const struct learned *l)
{
	const struct {
		const char *name;
		double pct;
	} levels[] = {{"runs", l->runs_pct}, {"boots", l->boots_pct}, {"builds", l->builds_pct}};
	autobuf out = {};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (isfinite(levels[i].pct))
			buf_printf(&out, "%s%s %.2g%%",
				   out.len ? ", " : "noise here by 'culprit aa': ", levels[i].name,
				   levels[i].pct);
	return out.len ? buf_take(&out) : NULL;
}
