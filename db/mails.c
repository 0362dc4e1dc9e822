// SPDX-License-Identifier: GPL-2.0-or-later
// Mails: one a step, their Message-IDs, and whether they were sent.
#include "db/internal.h"

#define COL(field) COLUMN(struct mail_row, field)
static const struct column mail_columns[] = {
	COL(id),
	COL(session),
	COL(key),
	COL(culprit),
	COL(message_id),
	COLUMN_AS(struct mail_row, in_reply_to, OPTIONAL),
	COL(state),
	COL(recipients),
	COL(message),
	COL(created_s),
	COLUMN_AS(struct mail_row, sent_s, REF),
};
#undef COL
static const struct table mails = TABLE("mails", mail_columns, struct mail_row);

void mail_row_release(struct mail_row *r)
{
	table_release(&mails, r);
}

int store_mail_find(struct store *s, const char *key, struct mail_row *ret, struct err *err)
{
	return table_find(s->db, &mails, "WHERE key = ?1", key, ret, err);
}

int store_mail_first(struct store *s, const char *culprit, struct mail_row *ret, struct err *err)
{
	return table_find(s->db, &mails, "WHERE culprit = ?1 ORDER BY id LIMIT 1", culprit, ret,
			  err);
}

int store_mail_add(struct store *s, const struct mail_row *in, int64_t *ret_id, struct err *err)
{
	struct mail_row row = *in;

	row.created_s = time_or_now(row.created_s);
	return table_insert(s->db, &mails, &row, ret_id, err);
}

int store_mail_state(struct store *s, int64_t id, const char *state, const char *message,
		     struct err *err)
{
	bool out = streq(state, "sent") || streq(state, "handed-over");

	return sql_run(s->db, err,
		       "UPDATE mails SET state = ?2, message = ?3, sent_s = ?4 WHERE id = ?1",
		       "issr", id, state, message ? message : "", out ? clock_wall_s() : 0);
}

int store_mail_recipients(struct store *s, int64_t id, const char *json, struct err *err)
{
	return sql_run(s->db, err, "UPDATE mails SET recipients = ?2 WHERE id = ?1", "is", id,
		       json);
}

int store_mails_since(struct store *s, int64_t since_s, size_t *ret, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT count(*) FROM mails WHERE sent_s >= ?1", "i",
			   since_s);

	if (rc == 0)
		rc = sql_next(st, err);
	if (rc > 0)
		*ret = (size_t)sql_int(st, 0);
	return MIN(rc, 0);
}
