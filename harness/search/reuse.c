// SPDX-License-Identifier: GPL-2.0-or-later
// Boots of earlier sessions, where an end that was measured now shows that they still hold.

#include "harness/search/bisection.h"

#include "harness/stats/summary.h"

#include <math.h>

#define ENDS_MEASURED 3	  /* boots of each end now, before anything old is looked at */
#define ENDS_BEFORE   2	  /* boots of an end in an earlier session that can vouch for it */
#define AGREE_ERRORS  3.5 /* standard errors, as for the drift of an end */
#define MEDIAN_ERROR  1.25

/* An end as this session measured it. */
struct end {
	int64_t kernel;
	VEC(double) now;
};

struct reuse {
	struct bisection *b;
	struct known_list known;
	struct end ends[2];
	int64_t fingerprint; /* of this session's boots of the ends */
	double sigma;
	char *toolchain; /* of the ends */
};

static bool kernel_of(struct bisection *b, int node, int64_t *ret)
{
	const struct slot *slot = node_slot(b, node, SEARCH_NONE, false);

	*ret = slot->subject.kernel;
	return slot->ready && !slot->subject.untestable;
}

static bool ends_are_built(struct reuse *r)
{
	return kernel_of(r->b, SEARCH_GOOD, &r->ends[0].kernel) &&
	       kernel_of(r->b, (int)r->b->spec->range->n - 1, &r->ends[1].kernel);
}

/* values of this session, and where they were taken; false: not enough yet */
static bool read_ends(struct reuse *r)
{
	for (size_t e = 0; e < ARRAY_SIZE(r->ends); e++) {
		struct end *end = &r->ends[e];

		for (size_t i = 0; i < r->known.n; i++) {
			const struct known_value *v = &r->known.at[i];

			if (v->session != r->b->lab->session || v->kernel != end->kernel)
				continue;
			VEC_PUSH(&end->now, v->value);
			r->fingerprint = v->fingerprint;
		}
		if (end->now.n < ENDS_MEASURED)
			return false;
	}
	r->sigma = r->b->sigma > 0 ? r->b->sigma
				   : values_pooled_sigma(r->ends[0].now.at, r->ends[0].now.n,
							 r->ends[1].now.at, r->ends[1].now.n);
	return true;
}

static size_t values_of(const struct reuse *r, int64_t session, int64_t kernel, double *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < r->known.n; i++) {
		const struct known_value *v = &r->known.at[i];

		if (v->session == session && v->kernel == kernel &&
		    v->fingerprint == r->fingerprint)
			ret[n++] = v->value;
	}
	return n;
}

/* Do the ends lie where that session had them? At least one must say so, and none may deny it. */
static bool agrees(const struct reuse *r, int64_t session)
{
	autofree double *before = xcalloc(r->known.n + 1, sizeof(*before));
	int vouching = 0;

	for (size_t e = 0; e < ARRAY_SIZE(r->ends); e++) {
		const struct end *end = &r->ends[e];
		size_t n = values_of(r, session, end->kernel, before);
		double error = r->sigma * MEDIAN_ERROR *
			       sqrt(1 / (double)MAX(n, (size_t)1) + 1 / (double)end->now.n);

		if (n < ENDS_BEFORE)
			continue;
		if (fabs(values_median(before, n) - values_median(end->now.at, end->now.n)) >
		    AGREE_ERRORS * error)
			return false;
		vouching++;
	}
	return vouching > 0;
}

/* The node whose plain kernel this is, built by the toolchain of the ends; SEARCH_NONE: none. */
static int node_of(const struct reuse *r, int64_t kernel, struct err *err)
{
	const struct repo_range *range = r->b->spec->range;
	struct kernel_row row = {};
	int node = SEARCH_NONE;

	if (store_kernel_get(r->b->lab->store, kernel, &row, err) < 0)
		return SEARCH_NONE;
	if (row.commit_sha && !*row.variant && streq(row.toolchain, r->toolchain)) {
		if (streq(row.commit_sha, range->good))
			node = SEARCH_GOOD;
		for (size_t i = 0; i < range->n && node == SEARCH_NONE; i++)
			if (streq(row.commit_sha, range->commits[i].sha))
				node = (int)i;
	}
	kernel_row_release(&row);
	return node;
}

static int read_toolchain(struct reuse *r, struct err *err)
{
	struct kernel_row row = {};

	if (store_kernel_get(r->b->lab->store, r->ends[0].kernel, &row, err) < 0)
		return -err->code;
	r->toolchain = xstrdup(row.toolchain);
	kernel_row_release(&row);
	return 0;
}

static int tell_value(struct reuse *r, int node, const struct known_value *v, struct err *err)
{
	struct search_obs obs = {
		.node = node,
		.purpose = SEARCH_STEP,
		.target = SEARCH_NONE,
		.status = SEARCH_OK,
		.value = v->value,
		.old = true,
	};

	r->b->reused++;
	return journal_obs(r->b, &obs, v->boot, err);
}

/* All values of a session that were taken in the environment of now; they come kernel by kernel. */
static int tell_session(struct reuse *r, int64_t session, struct err *err)
{
	int64_t kernel = 0;
	int node = SEARCH_NONE, rc = 0;

	for (size_t i = 0; rc == 0 && i < r->known.n; i++) {
		const struct known_value *v = &r->known.at[i];

		if (v->session != session || v->fingerprint != r->fingerprint)
			continue;
		if (v->kernel != kernel) {
			kernel = v->kernel;
			node = node_of(r, kernel, err);
			if (err->code)
				return -err->code;
		}
		if (node != SEARCH_NONE)
			rc = tell_value(r, node, v, err);
	}
	return rc;
}

static int tell(struct reuse *r, struct err *err)
{
	VEC(int64_t) asked = {};
	size_t left_out = 0;
	int rc = read_toolchain(r, err);

	for (size_t i = 0; rc == 0 && i < r->known.n; i++) {
		const struct known_value *first = &r->known.at[i];
		bool seen = first->session == r->b->lab->session;

		for (size_t k = 0; k < asked.n; k++)
			seen |= asked.at[k] == first->session;
		if (seen)
			continue;
		VEC_PUSH(&asked, first->session);
		if (!agrees(r, first->session)) {
			left_out++;
			continue;
		}
		rc = tell_session(r, first->session, err);
	}
	if (rc == 0)
		rc = lab_note(r->b->lab, "reuse", NULL, 0, NULL, err,
			      "%zu boot values of %zu earlier sessions; %zu do not agree with the "
			      "ends, or did not measure them",
			      r->b->reused, asked.n - left_out, left_out);
	VEC_FREE(&asked);
	return rc;
}

int reuse_earlier(struct bisection *b, struct err *err)
{
	struct reuse r = {.b = b};
	struct store *store = b->lab->store;
	int rc = 0;

	if (b->reuse_told || b->spec->fresh || b->spec->failures || !b->cell || !ends_are_built(&r))
		return 0;
	if (store_known(store, b->lab->job->text_hash, b->lab->machine_name, b->cell->name,
			b->spec->metric->name, 0, &r.known, err) < 0)
		return -err->code;
	if (read_ends(&r)) {
		/* told whole or not at all: an earlier process left nothing half told */
		b->reuse_told = true;
		rc = store_begin(store, err);
		if (rc >= 0)
			rc = tell(&r, err);
		if (rc < 0)
			store_rollback(store);
		else
			rc = store_commit(store, err);
	}
	known_list_release(&r.known);
	for (size_t e = 0; e < ARRAY_SIZE(r.ends); e++)
		VEC_FREE(&r.ends[e].now);
	free(r.toolchain);
	return rc < 0 ? rc : 0;
}
