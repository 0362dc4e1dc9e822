// SPDX-License-Identifier: GPL-2.0-or-later
// A mail from draft to sent, so that a crash anywhere neither loses it nor sends it twice.

#include "harness/verbs/post.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/base/smtp.h"

#define DAY_S	      (24 * 60 * 60)
#define SERVER_WAIT   (60 * NS_PER_S)
#define PASSWORD_MAX  4096
#define PASSWORD_NAME "CULPRIT_SMTP_PASSWORD"

char *post_dir(const struct ctx *ctx)
{
	return xasprintf("%s/mail", ctx->state_dir);
}

char *post_path(const struct ctx *ctx, int64_t session, const char *suffix)
{
	autofree char *dir = post_dir(ctx);

	return xasprintf("%s/%lld%s", dir, (long long)session, suffix);
}

/* --- drafts --- */

static char *new_message_id(const char *key, const char *culprit, const char *domain)
{
	autofree char *now = xasprintf("%lld.%d", (long long)clock_now_ns(), getpid());
	struct hash *h = hash_new();
	char hex[HASH_HEX];

	hash_adds(h, key);
	hash_adds(h, now);
	hash_end(h, hex);
	return xasprintf("culprit.%.12s.%.16s@%s", culprit, hex, domain);
}

/* Later findings about the same commit answer the first mail about it. */
static int add_row(struct store *store, struct mail_row *row, struct err *err)
{
	struct mail_row first = {};
	int rc = store_mail_first(store, row->culprit, &first, err);

	if (rc > 0)
		row->in_reply_to = first.message_id;
	if (rc >= 0)
		rc = store_mail_add(store, row, NULL, err);
	mail_row_release(&first);
	return MIN(rc, 0);
}

int post_row(struct store *store, const struct report *r, const char *domain, struct mail_row *ret,
	     struct err *err)
{
	const struct bisection_row *b = &r->bisect.row;
	autofree char *key = xasprintf("%s %s %s", b->culprit, b->metric, r->session.machine);
	autofree char *id = new_message_id(key, b->culprit, domain);
	struct mail_row row = {
		.session = r->session.id,
		.key = key,
		.culprit = b->culprit,
		.message_id = id,
		.state = (char *)"draft",
		.recipients = (char *)"[]",
	};
	int rc = store_begin(store, err);

	if (rc < 0)
		return rc;
	rc = store_mail_find(store, key, ret, err);
	if (rc == 0)
		rc = add_row(store, &row, err);
	else if (rc > 0)
		mail_row_release(ret);
	if (rc >= 0)
		rc = store_mail_find(store, key, ret, err);
	if (rc < 0) {
		store_rollback(store);
		return rc;
	}
	return store_commit(store, err);
}

int post_write(const struct ctx *ctx, const struct report *r, const struct mail *m,
	       const char *from, struct err *err)
{
	autofree char *dir = post_dir(ctx), *path = post_path(ctx, r->session.id, ".mbox");
	autofree char *parts = post_path(ctx, r->session.id, "");
	autobuf mbox = {};
	int rc = fs_mkdirs(m->attached ? dir : parts, err);

	/* the separator's date is read by nobody; a line of the text that looks like one cannot be
	 */
	buf_printf(&mbox, "From %s Thu Jan  1 00:00:00 1970\n", from);
	buf_add(&mbox, m->message.data, m->message.len);
	buf_addch(&mbox, '\n');
	if (rc == 0)
		rc = fs_write(path, mbox.data, mbox.len, err);
	for (size_t i = 0; rc == 0 && !m->attached && i < m->n_parts; i++) {
		autofree char *file = xasprintf("%s/%s", parts, m->parts[i].name);

		rc = fs_write(file, m->parts[i].text.data, m->parts[i].text.len, err);
	}
	return rc < 0 ? err_wrap(err, "the draft '%s'", path) : 0;
}

/* --- sending --- */

static bool is_allowed(const struct mail_settings *s, const char *address)
{
	for (char **a = s->allow; a && *a; a++)
		if (streq(*a, "*") || strcasecmp(*a, address) == 0)
			return true;
	return false;
}

static int add_recipients(const struct mail_settings *s, const struct mail_address *at, size_t n,
			  char ***to, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_allowed(s, at[i].address)) {
			err_set(err, ERR_USAGE, "mail.allow does not name '%s': nothing was sent",
				at[i].address);
			err_hint(err, "name it there, send to somebody else with --to, or send the "
				      "draft yourself");
			return -ERR_USAGE;
		}
		strv_push(to, at[i].address);
	}
	return 0;
}

/* What the settings say, before anything else. */
static int may_send(const struct mail_settings *s, const struct mail_facts *facts, char ***to,
		    struct err *err)
{
	if (s->mode != MAIL_SEND) {
		err_set(err, ERR_USAGE, "mail.mode is draft: nothing was sent");
		err_hint(err, "'mail: {mode: send, server: ..., allow: [...]}' in the settings, or "
			      "send the draft with git send-email or mutt");
		return -ERR_USAGE;
	}
	if (!s->server)
		return err_set(err, ERR_USAGE, "no mail.server is set: nothing was sent");
	if (add_recipients(s, facts->to, facts->n_to, to, err) < 0 ||
	    add_recipients(s, facts->cc, facts->n_cc, to, err) < 0)
		return -(int)err->code;
	if (!*to)
		return err_set(err, ERR_USAGE, "nobody to send to is known; name them with --to");
	return 0;
}

static int read_password(const struct mail_settings *s, struct buf *ret, struct err *err)
{
	const char *given = getenv(PASSWORD_NAME);

	if (!s->user)
		return 0;
	if (s->password_file) {
		if (fs_read(s->password_file, PASSWORD_MAX, ret, err) < 0)
			return err_wrap(err, "mail.password_file");
		buf_truncate(ret, strcspn(buf_str(ret), "\r\n"));
	} else if (given) {
		buf_adds(ret, given);
	}
	if (!ret->len)
		return err_set(err, ERR_USAGE,
			       "no password for mail.user '%s'; it is read from "
			       "mail.password_file or $" PASSWORD_NAME,
			       s->user);
	return 0;
}

static int below_limit(struct store *store, const struct mail_settings *s, struct err *err)
{
	size_t n = 0;
	int rc = store_mails_since(store, clock_wall_s() - DAY_S, &n, err);

	if (rc == 0 && n >= s->per_day)
		rc = err_set(err, ERR_BUSY,
			     "%zu mails were sent within a day, which is the most "
			     "(mail.per_day): this one is queued",
			     n);
	return rc;
}

struct handing {
	struct store *store;
	int64_t id;
};

static int hand_over(void *arg, struct err *err)
{
	const struct handing *h = arg;

	return store_mail_state(h->store, h->id, "handed-over", "no answer of the server was seen",
				err);
}

static int transmit(struct store *store, const struct mail_settings *s, const char *from,
		    char *const *to, const struct mail *m, int64_t id, struct err *err)
{
	autobuf password = {};
	struct smtp_server server = {.host = s->server,
				     .tls = s->tls == MAIL_PLAIN ? SMTP_PLAIN
					    : s->tls == MAIL_TLS ? SMTP_TLS
								 : SMTP_STARTTLS,
				     .ca_file = s->ca_file,
				     .user = s->user,
				     .timeout_ns = SERVER_WAIT};
	struct handing handing = {store, id};
	ERR_CLEANUP struct err ignored = {};
	enum smtp_end end = SMTP_NOT_SENT;
	int rc = read_password(s, &password, err);

	server.password = buf_str(&password);
	if (rc == 0)
		rc = below_limit(store, s, err);
	if (rc == 0)
		rc = smtp_send(&server, from, (const char *const *)to, &m->message, hand_over,
			       &handing, &end, err);
	if (end == SMTP_SENT)
		return store_mail_state(store, id, "sent", "", err);
	if (end == SMTP_NOT_SENT)
		store_mail_state(store, id, "queued", err->message, &ignored);
	return rc;
}

static int check_state(const struct mail_row *row, bool again, struct err *err)
{
	if (again || streq(row->state, "draft") || streq(row->state, "queued"))
		return 0;
	if (streq(row->state, "sent")) {
		char when[32];

		return err_set(err, ERR_FAILED, "this mail was sent on %s: it is not sent twice",
			       clock_format_wall(row->sent_s, when));
	}
	err_set(err, ERR_FAILED,
		"this mail was handed over, but no answer was seen: it may be out");
	err_hint(err, "--again sends it once more, with the same Message-ID");
	return -ERR_FAILED;
}

int post_send(const struct ctx *ctx, struct store *store, const struct settings *settings,
	      const struct mail_facts *facts, const struct mail *m, bool again,
	      struct mail_row *row, struct err *err)
{
	autofree char *dir = post_dir(ctx), *lock = xasprintf("%s/lock", dir);
	autofree char *key = xstrdup(row->key);
	autojson struct json *list = json_array_new();
	autostrv char **to = NULL;
	autoclose int fd = -1;
	autobuf recipients = {};
	int rc = may_send(&settings->mail, facts, &to, err);

	if (rc == 0)
		rc = fs_lock(lock, "mail", 0, &fd, err);
	if (rc < 0)
		return rc;
	for (char **a = to; *a; a++)
		json_push(list, json_string_new(*a));
	json_print(list, false, &recipients);
	mail_row_release(row); /* another process may have sent it meanwhile */
	rc = store_mail_find(store, key, row, err);
	if (rc > 0)
		rc = check_state(row, again, err);
	if (rc == 0)
		rc = store_mail_recipients(store, row->id, buf_str(&recipients), err);
	if (rc == 0)
		rc = store_mail_state(store, row->id, "queued", "", err);
	if (rc == 0)
		rc = transmit(store, &settings->mail, facts->from.address, to, m, row->id, err);
	return rc;
}
