// SPDX-License-Identifier: GPL-2.0-or-later
// The bisection's journal: each thing the engine is told is a row first, and a row is all it takes
// to tell it again.

#include "harness/search/bisection.h"

#include "harness/base/clock.h"

#include <math.h>

static const char *const status_names[] = {"ok", "untestable", "failed"};

/* --- telling --- */

static int add_row(struct bisection *b, const char *what, int node, int64_t boot, struct json *data,
		   double seconds, const char *detail, struct err *err)
{
	autojson struct json *owned = data;
	autobuf text = {};
	int64_t id;

	json_print(owned, false, &text);
	struct step_row row = {
		.session = b->lab->session,
		.boot = boot,
		.when_s = clock_wall_s(),
		.what = (char *)what,
		.commit_sha = node == SEARCH_NONE ? NULL : (char *)node_sha(b, node),
		.detail = (char *)detail,
		.data = (char *)buf_str(&text),
		.seconds = seconds,
	};
	return store_step_add(b->lab->store, &row, &id, err);
}

int journal_obs(struct bisection *b, const struct search_obs *obs, int64_t boot, struct err *err)
{
	struct json *data = json_object_new();
	autobuf detail = {};

	json_set_int(data, "node", obs->node);
	json_set_int(data, "purpose", obs->purpose);
	json_set_int(data, "target", obs->target);
	json_set_int(data, "status", obs->status);
	json_set_num(data, "value", obs->value);
	json_set_num(data, "boot_s", obs->boot_s);
	json_set_num(data, "build_s", obs->build_s);
	json_set_num(data, "elapsed_s", obs->elapsed_s);
	json_set_int(data, "epoch", obs->epoch);
	if (obs->old)
		json_set_bool(data, "old", true);
	buf_printf(&detail, "%s ", obs->old ? "earlier" : search_purpose_name(obs->purpose));
	node_name(obs->node, &detail, b);
	if (obs->status == SEARCH_OK)
		buf_printf(&detail, ": %.6g %s", obs->value, b->spec->metric->unit);
	else
		buf_printf(&detail, ": %s", status_names[obs->status]);
	if (add_row(b, "obs", obs->node, boot, data, obs->boot_s + obs->build_s, buf_str(&detail),
		    err) < 0)
		return -err->code;
	search_add(b->search, obs);
	return 0;
}

int journal_check(struct bisection *b, int target, int partner, enum search_check check,
		  enum search_verdict verdict, struct err *err)
{
	struct json *data = json_object_new();
	autofree char *detail =
		xasprintf("%s: %s", search_check_name(check), search_verdict_name(verdict));

	json_set_int(data, "target", target);
	json_set_int(data, "partner", partner);
	json_set_int(data, "check", check);
	json_set_int(data, "verdict", verdict);
	if (add_row(b, "check", target, 0, data, 0, detail, err) < 0)
		return -err->code;
	search_check(b->search, target, partner, check, verdict);
	return 0;
}

int journal_built(struct bisection *b, int node, struct err *err)
{
	struct json *data = json_object_new();

	if (search_is_built(b->search, node)) {
		json_free(data);
		return 0;
	}
	json_set_str(data, "fact", "built");
	json_set_int(data, "node", node);
	if (add_row(b, "fact", node, 0, data, 0, "built", err) < 0)
		return -err->code;
	search_built(b->search, node);
	return 0;
}

int journal_join(struct bisection *b, int a, int c, struct err *err)
{
	struct json *data = json_object_new();
	autofree char *detail = xasprintf("same code as %.12s", node_sha(b, a));

	json_set_str(data, "fact", "join");
	json_set_int(data, "node", a);
	json_set_int(data, "other", c);
	if (add_row(b, "fact", c, 0, data, 0, detail, err) < 0)
		return -err->code;
	search_join(b->search, a, c);
	return 0;
}

static void apply_prior(struct bisection *b, int node, double factor)
{
	if (node < 0 || (size_t)node >= b->spec->range->n)
		return;
	b->pruned[node] = factor < 1;
	search_prior(b->search, node, factor);
}

int journal_prior(struct bisection *b, double factor, const int *nodes, size_t n, struct err *err)
{
	struct json *data = json_object_new();
	struct json *list = json_set(data, "nodes", json_array_new());
	autofree char *detail =
		xasprintf(factor < 1 ? "%zu of %zu commits edit nothing that the builds read"
				     : "%zu of %zu commits matter after all",
			  n, b->spec->range->n);

	json_set_str(data, "fact", "prior");
	json_set_num(data, "factor", factor);
	for (size_t i = 0; i < n; i++)
		json_push(list, json_integer_new(nodes[i]));
	if (add_row(b, "fact", SEARCH_NONE, 0, data, 0, detail, err) < 0)
		return -err->code;
	b->prior_told = true;
	for (size_t i = 0; i < n; i++)
		apply_prior(b, nodes[i], factor);
	return 0;
}

/* --- telling again --- */

static double number(const struct json *data, const char *key)
{
	double v;

	return json_num(json_get(data, key), &v) ? v : NAN;
}

/* a whole number of a row; absent ones are a node that exists nowhere */
static int integer(const struct json *data, const char *key)
{
	double v = number(data, key);

	return isfinite(v) && fabs(v) < 1e9 ? (int)v : SEARCH_NONE;
}

static void replay_obs(struct bisection *b, const struct json *data)
{
	struct search_obs obs = {
		.node = integer(data, "node"),
		.purpose = (enum search_purpose)integer(data, "purpose"),
		.target = integer(data, "target"),
		.status = (enum search_status)integer(data, "status"),
		.value = number(data, "value"),
		.boot_s = number(data, "boot_s"),
		.build_s = number(data, "build_s"),
		.elapsed_s = number(data, "elapsed_s"),
		.epoch = integer(data, "epoch"),
		.old = json_get(data, "old") != NULL,
	};

	b->reused += obs.old;
	b->elapsed_before = fmax(b->elapsed_before, obs.elapsed_s);
	search_add(b->search, &obs);
}

static void replay_fact(struct bisection *b, const struct json *data)
{
	const char *fact = json_str(json_get(data, "fact"));
	const struct json *nodes = json_get(data, "nodes");

	if (streq(fact, "built")) {
		search_built(b->search, integer(data, "node"));
	} else if (streq(fact, "join")) {
		search_join(b->search, integer(data, "node"), integer(data, "other"));
	} else if (streq(fact, "prior")) {
		b->prior_told = true;
		for (size_t i = 0; i < json_len(nodes); i++) {
			double node;

			if (json_num(json_item(nodes, i), &node))
				apply_prior(b, (int)node, number(data, "factor"));
		}
	}
}

static int replay_row(struct bisection *b, const struct step_row *row, struct err *err)
{
	autojson struct json *data = NULL;

	b->reuse_told |= streq(row->what, "reuse");
	if (!row->data ||
	    (!streq(row->what, "obs") && !streq(row->what, "fact") && !streq(row->what, "check")))
		return 0;
	if (json_parse(row->data, strlen(row->data), &data, err) < 0)
		return err_wrap(err, "journal row %lld", (long long)row->id);
	if (streq(row->what, "fact"))
		replay_fact(b, data);
	else if (streq(row->what, "check"))
		search_check(b->search, integer(data, "target"), integer(data, "partner"),
			     (enum search_check)integer(data, "check"),
			     (enum search_verdict)integer(data, "verdict"));
	else
		replay_obs(b, data);
	return 0;
}

/* boots that a person took out: their observations are not told again */
static int voided(struct bisection *b, int64_t **ret, size_t *ret_n, struct err *err)
{
	struct boot_row *boots = NULL;
	VEC(int64_t) out = {};
	size_t n = 0;

	if (store_boot_list(b->lab->store, b->lab->session, &boots, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		if (boots[i].void_why)
			VEC_PUSH(&out, boots[i].id);
		boot_row_release(&boots[i]);
	}
	free(boots);
	*ret = out.at;
	*ret_n = out.n;
	return 0;
}

static int replay_skips(struct bisection *b, struct err *err)
{
	autostrv char **shas = NULL;

	if (store_skip_list(b->lab->store, b->lab->session, &shas, err) < 0)
		return -err->code;
	for (size_t k = 0; shas && shas[k]; k++)
		for (size_t i = 0; i < b->spec->range->n; i++)
			if (streq(b->spec->range->commits[i].sha, shas[k]))
				search_skip(b->search, (int)i);
	return 0;
}

int journal_replay(struct bisection *b, struct err *err)
{
	struct step_row *rows = NULL;
	autofree int64_t *out = NULL;
	size_t n = 0, n_out = 0;
	int r = voided(b, &out, &n_out, err);

	if (r == 0)
		r = store_step_list(b->lab->store, b->lab->session, &rows, &n, err);
	for (size_t i = 0; i < n; i++) {
		bool is_out = false;

		for (size_t k = 0; k < n_out; k++)
			is_out = is_out || (rows[i].boot && rows[i].boot == out[k]);
		if (r == 0 && !is_out)
			r = replay_row(b, &rows[i], err);
		step_row_release(&rows[i]);
	}
	free(rows);
	return r < 0 ? r : replay_skips(b, err);
}
