// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine asks for, done: boots, builds, comparisons of code and config.

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/measure/boot.h"
#include "harness/search/bisection.h"

#include <math.h>

double bisection_elapsed_s(const struct bisection *b)
{
	return b->elapsed_before + (double)(clock_now_ns() - b->start_ns) / NS_PER_S;
}

/* a boot that becomes an observation */
struct asked {
	struct bisection *b;
	const struct search_action *action;
	int node;
	double build_s;
};

static struct search_obs observation(const struct asked *a)
{
	return (struct search_obs){
		.node = a->node,
		.purpose = a->action->purpose,
		.target = a->action->target,
		.status = SEARCH_OK,
		.value = NAN,
		.build_s = a->build_s,
		.elapsed_s = bisection_elapsed_s(a->b),
	};
}

static int record(void *arg, const struct boot_result *result, struct err *err)
{
	const struct asked *a = arg;
	struct search_obs obs = observation(a);

	obs.value = a->b->spec->failures
			    ? result->end != BOOT_OK || result->failed_runs
			    : boot_result_value(result, a->b->cell, a->b->spec->metric);
	obs.status = isfinite(obs.value) ? SEARCH_OK : SEARCH_FAILED;
	obs.boot_s = result->seconds;
	return journal_obs(a->b, &obs, result->boot, err);
}

static int record_untestable(const struct asked *a, int64_t boot, const char *why, struct err *err)
{
	struct search_obs obs = observation(a);

	obs.status = SEARCH_UNTESTABLE;
	log_warn("%.12s cannot be tested: %s", node_sha(a->b, a->node),
		 why ? why : "unknown reason");
	return journal_obs(a->b, &obs, boot, err);
}

static const char *boot_purpose(enum search_purpose purpose)
{
	static const char *const names[] = {
		[SEARCH_END] = "end",	      [SEARCH_STEP] = "search",
		[SEARCH_CONFIRM] = "confirm", [SEARCH_REVERTED] = "revert",
		[SEARCH_ALIGNED] = "aligned",
	};

	return names[purpose];
}

static const char *boot_side(const struct bisection *b, const struct search_action *a)
{
	switch (a->purpose) {
	case SEARCH_END:
		return a->node == SEARCH_GOOD ? "good" : a->node == SEARCH_AHEAD ? "ahead" : "bad";
	case SEARCH_CONFIRM:
	case SEARCH_ALIGNED:
		return a->node == a->target ? "culprit" : "parent";
	case SEARCH_REVERTED:
		return a->node == SEARCH_REVERT ? "reverted" : "bad";
	default:
		return "";
	}
}

/* the search's own boots run the steering cell only, ends and proofs run all; where failures are
 * counted, all boots run the same */
static void choose_cells(const struct bisection *b, const struct search_action *a,
			 struct boot_plan *plan)
{
	bool all = b->spec->failures ? !b->spec->cell
				     : a->purpose != SEARCH_STEP && a->purpose != SEARCH_ALIGNED;

	plan->cells = all ? b->all_cells : (const struct cell *const *)&b->cell;
	plan->n_cells = all ? b->lab->job->n_cells : 1;
}

static struct boot_plan plan_boot(struct slot *slot, struct asked *asked)
{
	struct bisection *b = asked->b;
	struct boot_plan plan = {
		.subject = &slot->subject,
		.side = boot_side(b, asked->action),
		.purpose = boot_purpose(asked->action->purpose),
		.runs = b->runs,
		.seed = b->spec->seed + b->boots++,
		.record = record,
		.record_arg = asked,
		.first_try = b->spec->failures,
	};

	choose_cells(b, asked->action, &plan);
	return plan;
}

/* What record was not called for, or people should know of. */
static int settle_boot(struct asked *asked, const struct boot_result *result, bool *ret_end,
		       struct err *err)
{
	const struct bisection *b = asked->b;

	/* it did not come up where another kernel does: a failure among others, if these count */
	if (result->end == BOOT_UNTESTABLE && b->spec->failures && !result->reached)
		return record(asked, result, err);
	if (result->end == BOOT_UNTESTABLE && !*ret_end) {
		*ret_end = true;
		return record_untestable(asked, result->boot, result->message, err);
	}
	if (result->end == BOOT_FAILED && !b->spec->failures)
		log_warn("%.12s gave no value: %s", node_sha(b, asked->node),
			 result->message ? result->message : "");
	return 0;
}

/* So many boots side by side. */
static int take_boots(struct slot *slot, const struct asked *asked, size_t n, bool *ret_end,
		      struct err *err)
{
	autofree struct asked *each = xcalloc(n, sizeof(*each));
	autofree struct boot_plan *plans = xcalloc(n, sizeof(*plans));
	autofree struct boot_result *results = xcalloc(n, sizeof(*results));
	int r;

	for (size_t i = 0; i < n; i++) {
		each[i] = *asked;
		each[i].build_s = i ? 0 : asked->build_s;
		plans[i] = plan_boot(slot, &each[i]);
	}
	r = measure_boots(asked->b->lab, plans, n, results, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = settle_boot(&each[i], &results[i], ret_end, err);
	for (size_t i = 0; i < n; i++)
		boot_result_release(&results[i]);
	return r;
}

/* a revert that does not apply or build is no fault of the culprit: there is just no such check */
static int untestable(struct bisection *b, const struct asked *asked, const struct slot *slot,
		      struct err *err)
{
	if (slot->node != SEARCH_REVERT)
		return record_untestable(asked, 0, slot->subject.why, err);
	log_info("no revert check: %s", slot->subject.why);
	return journal_check(b, slot->target, SEARCH_NONE, CHECK_REVERT, CHECK_NA, err);
}

static int measure(struct bisection *b, const struct search_action *action, struct err *err)
{
	bool aligned = action->purpose == SEARCH_ALIGNED, end = false;
	int target = action->node == SEARCH_REVERT ? action->target : SEARCH_NONE;
	struct slot *slot = node_slot(b, action->node, target, aligned);
	struct asked asked = {.b = b, .action = action, .node = action->node};
	bool was_ready = slot->ready;

	if (node_prepare(b, slot, err) < 0)
		return -err->code;
	if (slot->subject.untestable)
		return untestable(b, &asked, slot, err);
	asked.build_s = was_ready || slot->subject.from_cache ? 0 : slot->subject.build_seconds;
	for (size_t left = (size_t)MAX(action->boots, 1), n; left && !end; left -= n) {
		n = MIN(left, boots_abreast(b->lab));
		if (take_boots(slot, &asked, n, &end, err) < 0)
			return -err->code;
		asked.build_s = 0;
	}
	return 0;
}

static int build(struct bisection *b, const struct search_action *action, struct err *err)
{
	struct slot *slot = node_slot(b, action->node, SEARCH_NONE, false);
	struct asked asked = {.b = b, .action = action, .node = action->node};

	if (node_prepare(b, slot, err) < 0)
		return -err->code;
	return slot->subject.untestable ? record_untestable(&asked, 0, slot->subject.why, err)
					: journal_built(b, action->node, err);
}

static enum search_verdict same_code(const struct subject *culprit, const struct subject *parent)
{
	const char *a = culprit->artefact.code_hash, *c = parent->artefact.code_hash;

	if (!a || !c || !*a || !*c)
		return CHECK_NA;
	return streq(a, c) ? CHECK_FAIL : CHECK_PASS;
}

static enum search_verdict same_config(const struct subject *culprit, const struct subject *parent)
{
	const char *a = culprit->artefact.config_hash, *c = parent->artefact.config_hash;

	if (!a || !c || !*a || !*c)
		return CHECK_NA;
	return streq(a, c) ? CHECK_PASS : CHECK_FAIL;
}

/* parent and culprit are built by now: are they different programs, of the same config? */
static int compare(struct bisection *b, const struct search_action *action, struct err *err)
{
	struct slot *culprit = node_slot(b, action->node, SEARCH_NONE, false);
	struct slot *parent = node_slot(b, action->partner, SEARCH_NONE, false);
	const struct job *job = b->lab->job;

	if (node_prepare(b, culprit, err) < 0 || node_prepare(b, parent, err) < 0)
		return -err->code;
	if (journal_check(b, action->node, action->partner, CHECK_CONFIG,
			  same_config(&culprit->subject, &parent->subject), err) < 0)
		return -err->code;
	/* every kernel of an aligned job is aligned: the measured step is the aligned step */
	if ((!job->is_kernel || job->kernel.aligned) &&
	    journal_check(b, action->node, SEARCH_NONE, CHECK_ALIGNMENT,
			  job->is_kernel ? CHECK_PASS : CHECK_NA, err) < 0)
		return -err->code;
	return journal_check(b, action->node, action->partner, CHECK_SAME_CODE,
			     same_code(&culprit->subject, &parent->subject), err);
}

int act(struct bisection *b, const struct search_action *action, struct err *err)
{
	switch (action->kind) {
	case SEARCH_MEASURE:
		return measure(b, action, err);
	case SEARCH_BUILD:
		return build(b, action, err);
	case SEARCH_COMPARE:
		return compare(b, action, err);
	case SEARCH_DONE:
		break;
	}
	return 0;
}
