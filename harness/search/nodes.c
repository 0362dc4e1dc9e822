// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes of the search as commits and kernels.

#include "harness/base/log.h"
#include "harness/search/bisection.h"

#define PRUNED_PRIOR 0.001

const char *node_sha(const struct bisection *b, int node)
{
	const struct repo_range *range = b->spec->range;

	if (node == SEARCH_GOOD)
		return range->good;
	if (node == SEARCH_AHEAD)
		return b->spec->good;
	if (node == SEARCH_REVERT)
		return range->commits[range->n - 1].sha;
	return (size_t)node < range->n ? range->commits[node].sha
				       : range->outside[(size_t)node - range->n];
}

void node_name(int node, struct buf *out, void *bisection)
{
	struct bisection *b = bisection;
	ERR_CLEANUP struct err err = {};
	struct repo_commit commit = {};

	if (node == SEARCH_GOOD)
		buf_adds(out, "good ");
	else if (node == SEARCH_REVERT)
		buf_adds(out, "bad with the culprit reverted ");
	else if (node == (int)b->spec->range->n - 1)
		buf_adds(out, "bad ");
	buf_printf(out, "%.12s", node_sha(b, node));
	if (repo_commit(b->lab->repo, node_sha(b, node), &commit, &err) < 0)
		return;
	buf_addch(out, ' ');
	buf_add_safe(out, commit.subject, strlen(commit.subject), 50, false);
	repo_commit_release(&commit);
}

struct slot *node_slot(struct bisection *b, int node, int target, bool aligned)
{
	struct slot *slot;

	for (size_t i = 0; i < b->slots.n; i++) {
		slot = b->slots.at[i];
		if (slot->node == node && slot->target == target && slot->aligned == aligned)
			return slot;
	}
	slot = xcalloc(1, sizeof(*slot));
	slot->node = node;
	slot->target = target;
	slot->aligned = aligned;
	slot->subject = (struct subject)SUBJECT_NONE;
	VEC_PUSH(&b->slots, slot);
	return slot;
}

void nodes_release(struct bisection *b)
{
	for (size_t i = 0; i < b->slots.n; i++) {
		subject_release(&b->slots.at[i]->subject);
		free(b->slots.at[i]);
	}
	VEC_FREE(&b->slots);
}

/* --- what a build teaches --- */

/* is this a node of the history as it is, of which facts can be told? */
static bool is_plain(const struct slot *slot)
{
	return !slot->aligned && slot->node != SEARCH_REVERT;
}

/* equal code: one program, so neither commit can be blamed for the other */
static int tell_equal_code(struct bisection *b, const struct slot *slot, struct err *err)
{
	const char *hash = slot->subject.artefact.code_hash;

	for (size_t i = 0; hash && *hash && i < b->slots.n; i++) {
		const struct slot *other = b->slots.at[i];

		if (other == slot || !other->ready || other->subject.untestable ||
		    !is_plain(other) || !streq(other->subject.artefact.code_hash, hash))
			continue;
		log_debug("%.12s and %.12s are the same code", node_sha(b, slot->node),
			  node_sha(b, other->node));
		if (journal_join(b, other->node, slot->node, err) < 0)
			return -err->code;
	}
	return 0;
}

static bool end_is_read(struct bisection *b, int node)
{
	const struct slot *slot = node_slot(b, node, SEARCH_NONE, false);

	return slot->ready && !slot->subject.untestable;
}

/* once both ends are built, commits that edit nothing they read are put back; a later build that
 * reads such a file brings them forward again */
static int tell_priors(struct bisection *b, struct err *err)
{
	VEC(int) nodes = {};
	bool first = !b->prior_told;
	int r;

	if (first && !(end_is_read(b, SEARCH_GOOD) && end_is_read(b, (int)b->spec->range->n - 1)))
		return 0;
	for (size_t i = 0; i < b->spec->range->n; i++) {
		bool matters = prune_matters(b->prune, i);

		if (first ? !matters : b->pruned[i] && matters)
			VEC_PUSH(&nodes, (int)i);
	}
	r = nodes.n || first ? journal_prior(b, first ? PRUNED_PRIOR : 1, nodes.at, nodes.n, err)
			     : 0;
	VEC_FREE(&nodes);
	return r;
}

/* effective config against the good end's, for the kernel's row */
static int note_config(struct bisection *b, const struct slot *slot, struct err *err)
{
	const struct slot *base = node_slot(b, SEARCH_GOOD, SEARCH_NONE, false);
	autofree char *diff = NULL;

	if (base == slot || !base->ready || !base->subject.artefact.config ||
	    !slot->subject.artefact.config ||
	    streq(base->subject.artefact.config_hash, slot->subject.artefact.config_hash))
		return 0;
	if (kernel_config_diff(base->subject.artefact.config, slot->subject.artefact.config, &diff,
			       err) < 0)
		return -err->code;
	return store_kernel_config_diff(b->lab->store, slot->subject.kernel, diff, err);
}

static int learn(struct bisection *b, const struct slot *slot, struct err *err)
{
	if (slot->subject.untestable || !is_plain(slot))
		return 0;
	if (journal_built(b, slot->node, err) < 0 || tell_equal_code(b, slot, err) < 0 ||
	    note_config(b, slot, err) < 0)
		return -err->code;
	if (!b->prune || !slot->subject.artefact.sources)
		return 0;
	if (prune_read(b->prune, slot->subject.artefact.sources, err) < 0)
		return -err->code;
	return tell_priors(b, err);
}

int node_prepare(struct bisection *b, struct slot *slot, struct err *err)
{
	autobuf name = {};
	const char *reverts[] = {slot->target >= 0 ? node_sha(b, slot->target) : NULL, NULL};
	struct subject_spec spec = {
		.sha = node_sha(b, slot->node),
		.reverts = slot->node == SEARCH_REVERT ? reverts : NULL,
		.aligned = slot->aligned,
	};

	if (slot->ready)
		return 0;
	node_name(slot->node, &name, b);
	spec.name = buf_str(&name);
	if (subject_prepare(b->lab, &spec, &slot->subject, err) < 0)
		return -err->code;
	slot->ready = true;
	return learn(b, slot, err);
}
