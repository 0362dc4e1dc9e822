// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit mail N`: the mail about a bisection's culprit, as a draft; sent where the settings say
// so.

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/verbs/mail_facts.h"
#include "harness/verbs/post.h"

struct mail_options {
	char **to;
	bool send, again, regzbot;
	bool refused; /* there is no mail about this: an answer, not a failure */
};

static void print_json(const struct report *r, const struct mail_facts *facts, const struct mail *m,
		       const struct mail_row *row, const char *path)
{
	struct json *document = verb_document();
	struct json *to = json_set(document, "to", json_array_new());
	struct json *cc = json_set(document, "cc", json_array_new());

	json_set_int(document, "mail", r->session.id);
	json_set_str(document, "state", row->state);
	json_set_str(document, "message_id", row->message_id);
	json_set_str(document, "in_reply_to", row->in_reply_to);
	json_set_str(document, "path", path);
	json_set_str(document, "subject", buf_str(&m->subject));
	json_set_str(document, "body", buf_str(&m->body));
	json_set_bool(document, "attached", m->attached);
	for (size_t i = 0; i < facts->n_to; i++)
		json_push(to, json_string_new(facts->to[i].address));
	for (size_t i = 0; i < facts->n_cc; i++)
		json_push(cc, json_string_new(facts->cc[i].address));
	verb_print_json(document);
}

/* The state is read again: sending changed it. */
static int reread(struct store *store, struct mail_row *row, struct err *err)
{
	autofree char *key = xstrdup(row->key);
	int rc;

	mail_row_release(row);
	rc = store_mail_find(store, key, row, err);
	return MIN(rc, 0);
}

static int write_mail(struct ctx *ctx, struct store *store, const struct report *r,
		      const struct mail_options *o, struct err *err)
{
	autofree char *config = ctx_config_path(ctx);
	autofree char *path = post_path(ctx, r->session.id, ".mbox");
	autofree char *kept = post_path(ctx, r->session.id, "");
	autosettings settings = {};
	autogathered g = {};
	automail m = {};
	struct mail_request q = {ctx, store, r, &settings, o->to, o->regzbot};
	struct mail_row row = {};
	int rc = settings_load(config, &settings, err);

	if (rc == 0)
		rc = gather(&q, &g, err);
	if (rc == 0)
		rc = post_row(store, r, strchr(g.facts.from.address, '@') + 1, &row, err);
	if (rc < 0)
		return rc;
	g.facts.message_id = row.message_id;
	g.facts.in_reply_to = row.in_reply_to;
	g.facts.date_s = row.created_s;
	g.facts.kept_in = kept;
	if (settings.mail.archive)
		g.facts.link =
			gathered_keep(&g, xasprintf("%s%s", settings.mail.archive, row.message_id));
	mail_make(r, &g.facts, &m);
	rc = post_write(ctx, r, &m, g.facts.from.address, err);
	if (rc == 0 && o->send)
		rc = post_send(ctx, store, &settings, &g.facts, &m, o->again, &row, err);
	if (rc == 0)
		rc = reread(store, &row, err);
	if (rc == 0 && ctx->json)
		print_json(r, &g.facts, &m, &row, path);
	else if (rc == 0)
		fputs(buf_str(&m.message), stdout);
	if (rc == 0)
		log_info("%s: '%s'", row.state, path);
	mail_row_release(&row);
	return rc;
}

static int mail(struct ctx *ctx, const char *word, struct mail_options *o, struct err *err)
{
	autostore struct store *store = NULL;
	autoreport struct report *r = NULL;
	autofree char *refusal = NULL;
	struct session_row session = {};
	int rc = ctx_store(ctx, true, &store, err);

	if (rc == 0)
		rc = verb_session(store, word, &session, err);
	if (rc == 0)
		rc = report_fill(store, session.id, &r, err);
	session_row_release(&session);
	if (rc < 0)
		return rc;
	refusal = mail_refusal(r);
	if (!refusal)
		return write_mail(ctx, store, r, o, err);
	o->refused = true;
	err_set(err, ERR_FAILED, "%s", refusal);
	err_hint(err, "'culprit report %lld' shows what there is", (long long)r->session.id);
	return -ERR_FAILED;
}

int verb_mail(struct ctx *ctx, int argc, char **argv)
{
	struct mail_options o = {};
	const struct opt options[] = {
		{"to", 0, OPT_LIST, &o.to, "ADDR",
		 "to this address and nobody else; several allowed"},
		{"send", 0, OPT_FLAG, &o.send, NULL,
		 "send it, if mail.mode of the settings is send"},
		{"again", 0, OPT_FLAG, &o.again, NULL, "send it although it may be out already"},
		{"regzbot", 0, OPT_FLAG, &o.regzbot, NULL,
		 "let regzbot track it (#regzbot introduced)"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) >= 0) {
		mail(ctx, argv[1], &o, &err);
		if (err.code)
			status = verb_fail(ctx, &err);
		if (o.refused)
			status = 1;
	}
	strv_free(o.to);
	return status;
}
