// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit bisect JOB`: which commit made this benchmark slower?

#include "harness/base/log.h"
#include "harness/search/auto_good.h"
#include "harness/search/bisect.h"
#include "harness/verbs/work.h"

struct bisect_options {
	const char *good, *bad, *metric, *cell;
	uint64_t seed;
	int64_t budget_ns;
	bool fresh, again, explain, first_parent, find_fix, failures;
	char **paths;
};

/* GOOD..BAD as an operand, or --good and --bad; bad is HEAD where nothing is said */
static int read_ends(struct bisect_options *o, char *range, struct err *err)
{
	char *dots = range ? strstr(range, "..") : NULL;

	if (range && (!dots || dots == range || o->good || o->bad))
		return err_set(err, ERR_USAGE,
			       o->good || o->bad ? "give either GOOD..BAD or --good and --bad"
						 : "'%s' is no range GOOD..BAD",
			       range);
	if (dots) {
		*dots = '\0';
		o->good = range;
		o->bad = dots[2] ? dots + 2 : NULL;
	}
	if (!o->bad)
		o->bad = "HEAD";
	if (o->failures && (o->metric || streq(o->good, "auto")))
		return err_set(err, ERR_USAGE,
			       "--failures counts boots that fail: it has no use for %s",
			       o->metric ? "--metric" : "'--good auto', name a good commit");
	if (o->find_fix && streq(o->good, "auto"))
		return err_set(err, ERR_USAGE,
			       "'--good auto' looks for a commit that is better than bad, which "
			       "--find-fix has no use for; name a slow one");
	if (!o->good) {
		err_set(err, ERR_USAGE, "no good revision given");
		err_hint(err, "culprit bisect JOB --good REV --bad REV, or JOB GOOD..BAD");
		return -ERR_USAGE;
	}
	return 0;
}

static int finish(struct work *w, int *ret_status, struct err *err)
{
	struct bisection_row row = {};

	if (work_report(w, NULL, err) < 0 ||
	    store_bisection_get(w->store, w->lab.session, &row, err) < 0)
		return -err->code;
	*ret_status = bisect_exit_code(row.outcome);
	bisection_row_release(&row);
	return 0;
}

/* what is asked of the ends and which commits are looked at, where it is not the usual; owned */
static char *question(const struct bisect_options *o)
{
	autobuf out = {};

	buf_adds(&out, o->failures ? "failures " : "");
	buf_adds(&out, o->find_fix ? "fix " : "");
	buf_adds(&out, o->first_parent ? "first-parent " : "");
	for (char **p = o->paths; p && *p; p++)
		buf_printf(&out, "path %s\n", *p);
	return out.len ? buf_take(&out) : NULL;
}

static int search_range(struct work *w, const struct bisect_options *o,
			const struct bisect_spec *spec, int *ret_status, struct err *err)
{
	const struct repo_range *range = spec->range;
	autofree char *asked = question(o);
	const char *key[] = {range->good,
			     spec->good,
			     range->commits[range->n - 1].sha,
			     spec->metric->name,
			     spec->cell ? spec->cell->name : "",
			     asked,
			     NULL};
	enum search_outcome outcome;

	if (work_lab(w, "bisect", key, o->again, err) < 0)
		return -err->code;
	if (w->lab.finished)
		log_info("bisection %lld of these ends is done; --again starts anew",
			 (long long)w->lab.session);
	else if (bisect_run(&w->lab, spec, &outcome, err) < 0)
		return -err->code;
	return finish(w, ret_status, err);
}

/* the good end by a session of its own, which is closed when it is found */
static int find_good(struct work *w, const struct bisect_options *o, const struct bisect_spec *spec,
		     const char *bad, char **ret, struct err *err)
{
	const struct cell *cell = spec->cell ? spec->cell : &w->job->cells[0];
	const char *key[] = {bad, spec->metric->name, cell->name, NULL};

	if (!streq(o->good, "auto"))
		return repo_resolve(w->repo, o->good, ret, err);
	if (work_lab(w, "auto", key, o->again, err) < 0)
		return -err->code;
	auto_good(&w->lab, bad, cell, spec->metric, o->seed, ret, err);
	lab_close(&w->lab, err);
	w->lab_open = false;
	return -(int)err->code;
}

static int bisect(struct work *w, const struct bisect_options *o, int *ret_status, struct err *err)
{
	struct range_options options = {o->first_parent, (const char *const *)o->paths};
	struct repo_range range = {};
	struct bisect_spec spec = {.range = &range,
				   .seed = o->seed,
				   .budget_ns = o->budget_ns,
				   .explain = o->explain,
				   .fresh = o->fresh,
				   .fix = o->find_fix,
				   .failures = o->failures};
	autofree char *good = NULL, *bad = NULL;
	int r;

	w->unlearned = o->fresh;
	spec.metric = o->failures ? &bisect_failures : work_metric(w->job, o->metric, err);
	if (!spec.metric)
		return -err->code;
	if (o->cell && !(spec.cell = work_cell(w->job, o->cell, err)))
		return -err->code;
	if (work_repo(w, err) < 0 || repo_resolve(w->repo, o->bad, &bad, err) < 0 ||
	    find_good(w, o, &spec, bad, &good, err) < 0)
		return -err->code;
	spec.good = good;
	r = repo_range(w->repo, good, bad, &options, &range, err);
	if (r == 0 && range.n == 1 && range.bad_is_only_end)
		r = err_set(err, ERR_USAGE, "no commit between good and bad touches '%s'%s",
			    o->paths[0], o->paths[1] ? " or the other paths" : "");
	if (r == 0)
		r = search_range(w, o, &spec, ret_status, err);
	repo_range_release(&range);
	return r;
}

int verb_bisect(struct ctx *ctx, int argc, char **argv)
{
	struct bisect_options o = {.seed = 1};
	const struct opt options[] = {
		{"good", 0, OPT_STRING, &o.good, "REV|auto",
		 "where it was fast; auto: the nearest release tag that is"},
		{"bad", 0, OPT_STRING, &o.bad, "REV", "where it is slow (HEAD)"},
		{"metric", 0, OPT_STRING, &o.metric, "NAME",
		 "what got worse, where the job has several KPIs"},
		{"cell", 0, OPT_STRING, &o.cell, "k=v,...",
		 "the cell that steers; default: the one that tells most"},
		{"find-fix", 0, OPT_FLAG, &o.find_fix, NULL,
		 "good is slow and bad is fast again: find the commit that fixed it"},
		{"failures", 0, OPT_FLAG, &o.failures, NULL,
		 "find what makes boots or runs fail, at whatever rate"},
		{"seed", 0, OPT_U64, &o.seed, "N", "of orders and ties"},
		{"budget", 0, OPT_DURATION, &o.budget_ns, "TIME",
		 "stop then with what is known (4h)"},
		{"fresh", 0, OPT_FLAG, &o.fresh, NULL, "use nothing that earlier sessions learned"},
		{"again", 0, OPT_FLAG, &o.again, NULL,
		 "start anew where this bisection is done already"},
		{"explain", 0, OPT_FLAG, &o.explain, NULL,
		 "say at each step why this commit comes next"},
		{"first-parent", 0, OPT_FLAG, &o.first_parent, NULL,
		 "follow only the first parent of merges"},
		{"path", 0, OPT_LIST, &o.paths, "P", "only commits that touch it; several allowed"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	struct work w = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 1, 2, &status);
	autofree char *range =
		n == 2 ? xstrdup(argv[2]) : NULL; /* is cut; argv is kept for `continue` */

	if (n >= 0) {
		if (read_ends(&o, range, &err) == 0 && work_open(&w, ctx, argv[1], &err) == 0)
			bisect(&w, &o, &status, &err);
		work_close(&w, &err);
		if (err.code)
			status = verb_fail(ctx, &err);
	}
	strv_free(o.paths);
	return status;
}
