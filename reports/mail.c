// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a finding may become a mail, and the message around its body: headers, MIME parts.
#include "reports/mail.h"

#include "harness/base/hash.h"
#include "harness/base/safe.h"
#include "harness/base/util.h"
#include "reports/rows.h"

#include <math.h>
#include <time.h>

#define LINE_LIMIT 990 /* 998 by RFC 5322 */

/* --- may it be written? --- */

bool mail_counts_no_time(const char *machine)
{
	return str_starts(machine, "qemu-tcg") || strstr(machine, "icount");
}

static const char *check(const struct report *r, const char *name)
{
	for (size_t i = 0; i < REPORT_CHECKS; i++)
		if (streq(report_check_names[i], name))
			return r->bisect.checks[i];
	return "not-run";
}

static const struct metric_row *steering_metric(const struct report *r)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (streq(r->metrics[i].name, r->bisect.row.metric))
			return &r->metrics[i];
	return NULL;
}

static const struct report_row *steering_row(const struct report *r)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (streq(r->metrics[r->rows[i].metric].name, r->bisect.row.metric) &&
		    streq(r->values.cells[r->rows[i].cell], r->bisect.row.cell))
			return &r->rows[i];
	return NULL;
}

static char *failed_check(const struct report *r)
{
	static const char *const needed[][2] = {
		{"parent", "the parent did not differ on fresh boots"},
		{"alignment", "the step vanished with functions aligned to 64 bytes"},
		{"reached", "the workload does not reach the changed functions"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (streq(check(r, needed[i][0]), "fail"))
			return xasprintf("No mail for a finding whose check '%s' failed: %s",
					 needed[i][0], needed[i][1]);
	return NULL;
}

static char *doubtful_number(const struct report *r)
{
	const struct metric_row *m = steering_metric(r);
	const struct report_row *row = steering_row(r);
	double effect = r->bisect.row.effect_pct;

	if (m && streq(m->centre, "max"))
		return xasprintf(
			"No mail for a single maximum as KPI: '%s' is the largest value of "
			"a boot, which one run decides",
			m->name);
	if (fabs(effect) <= r->build_spread_pct)
		return xasprintf("No mail for an effect of %.2g%%: builds of one commit differ by "
				 "%.2g%% here",
				 fabs(effect), r->build_spread_pct);
	if (row && row_is_noise(&row->c))
		return xstrdup(
			"No mail for noise: a side spreads as widely as its centre is large");
	if (row && row->suspect)
		return xstrdup("No mail for a suspect cell: on both sides it is far off the next "
			       "steps of its sweep");
	if (isnan(r->bisect.row.effect_good) || isnan(r->bisect.row.effect_bad))
		return xstrdup("No mail for a finding without a measured effect");
	return NULL;
}

char *mail_refusal(const struct report *r)
{
	const struct bisection_row *row = &r->bisect.row;
	char *why;

	if (r->kind != REPORT_BISECT)
		return xasprintf("No mail for a %s: mails are about what a bisection found",
				 r->session.kind);
	if (r->bisect.fix)
		return xstrdup("No mail for a fix: mails are about what made something worse");
	if (r->bisect.failures)
		return xstrdup("No mail for a bisection of failures: mails are about numbers");
	if (!*row->outcome)
		return xstrdup("No mail for a bisection that has not ended");
	if (!row->culprit || !r->bisect.n_culprits ||
	    !(streq(row->outcome, "culprit") || streq(row->outcome, "several") ||
	      streq(row->outcome, "merge")))
		return xasprintf("No mail for a bisection that names no culprit: its outcome is %s",
				 row->outcome);
	if (mail_counts_no_time(r->session.machine))
		return xasprintf("No mail for a result of %s: it counts instructions, not time",
				 r->session.machine);
	why = failed_check(r);
	if (!why && !r->bisect.confirmed)
		why = xstrdup("No mail for a culprit that was not measured against its parent on "
			      "fresh boots");
	return why ? why : doubtful_number(r);
}

/* --- the message --- */

/* "Mon, 30 Nov 2026 21:37:17 +0000" */
static void add_date(struct buf *out, int64_t when_s)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t when = (time_t)when_s;
	struct tm tm;

	if (!gmtime_r(&when, &tm))
		return;
	buf_printf(out, "Date: %s, %02d %s %d %02d:%02d:%02d +0000\n", days[tm.tm_wday], tm.tm_mday,
		   months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void add_people(struct buf *out, const char *header, const struct mail_address *at, size_t n)
{
	size_t added = 0;

	for (size_t i = 0; i < n; i++) {
		autobuf one = {};

		if (!safe_address(&one, at[i].name, at[i].address))
			continue;
		buf_adds(out, added++ ? ",\n " : header);
		buf_add(out, one.data, one.len);
	}
	if (added)
		buf_addch(out, '\n');
}

enum encoding { ENCODING_7BIT, ENCODING_8BIT, ENCODING_QUOTED };

/* Quoted-printable only where the text could not travel as it is: long lines, control characters,
 * a line that a mailbox takes for its separator. */
static enum encoding encoding_of(const char *text)
{
	enum encoding e = ENCODING_7BIT;

	for (const char *line = text; *line; line += strcspn(line, "\n")) {
		line += *line == '\n';
		if (strcspn(line, "\n") > LINE_LIMIT || str_starts(line, "From "))
			return ENCODING_QUOTED;
	}
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if ((*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f)
			return ENCODING_QUOTED;
		if (*s >= 0x80)
			e = ENCODING_8BIT;
	}
	return e;
}

static void add_quoted_printable(struct buf *out, const char *text)
{
	size_t column = 0;

	for (const char *s = text; *s; s++) {
		bool end = s[1] == '\n' || s[1] == '\0';
		bool plain = *s > ' ' && *s <= '~' && *s != '=' &&
			     !(column == 0 && (*s == 'F' || *s == '.'));

		if (*s == '\n') {
			buf_addch(out, '\n');
			column = 0;
			continue;
		}
		if (column > 72) {
			buf_adds(out, "=\n");
			column = 0;
		}
		plain = plain || ((*s == ' ' || *s == '\t') && !end);
		if (plain)
			buf_addch(out, *s);
		else
			buf_printf(out, "=%02X", (unsigned char)*s);
		column += plain ? 1 : 3;
	}
}

static void add_text(struct buf *out, const char *type, const char *name, const char *text)
{
	static const char *const names[] = {"7bit", "8bit", "quoted-printable"};
	autobuf valid = {};
	enum encoding e;

	buf_add_utf8(&valid, text, strlen(text));
	if (!valid.len || valid.data[valid.len - 1] != '\n')
		buf_addch(&valid, '\n');
	e = encoding_of(valid.data);
	buf_printf(out, "Content-Type: %s; charset=%s", type,
		   e == ENCODING_7BIT ? "us-ascii" : "utf-8");
	if (name)
		buf_printf(out, ";\n name=\"%s\"", name);
	buf_printf(out, "\nContent-Transfer-Encoding: %s\n", names[e]);
	if (name)
		buf_printf(out, "Content-Disposition: attachment; filename=\"%s\"\n", name);
	buf_addch(out, '\n');
	if (e == ENCODING_QUOTED)
		add_quoted_printable(out, valid.data);
	else
		buf_add(out, valid.data, valid.len);
}

/* A line that no part holds: half of a hash over all of them. */
static void boundary_of(const struct mail *m, char ret[HASH_HEX])
{
	struct hash *h = hash_new();

	hash_adds(h, buf_str(&m->body));
	for (size_t i = 0; i < m->n_parts; i++)
		hash_adds(h, buf_str(&m->parts[i].text));
	hash_end(h, ret);
	ret[32] = '\0';
}

static void add_headers(const struct mail_facts *f, struct mail *m)
{
	struct buf *out = &m->message;

	add_people(out, "From: ", &f->from, 1);
	add_people(out, "To: ", f->to, f->n_to);
	add_people(out, "Cc: ", f->cc, f->n_cc);
	safe_header(out, "Subject", buf_str(&m->subject), 300);
	add_date(out, f->date_s);
	buf_printf(out, "Message-ID: <%s>\n", f->message_id);
	if (f->in_reply_to)
		buf_printf(out, "In-Reply-To: <%s>\nReferences: <%s>\n", f->in_reply_to,
			   f->in_reply_to);
	buf_adds(out, "User-Agent: culprit/" CULPRIT_VERSION "\nMIME-Version: 1.0\n");
}

void mail_make(const struct report *r, const struct mail_facts *facts, struct mail *ret)
{
	char boundary[HASH_HEX];
	struct mail m = {};
	size_t size = 0;

	mail_subject(r, facts, &m.subject);
	mail_parts(r, facts, &m);
	for (size_t i = 0; i < m.n_parts; i++)
		size += m.parts[i].text.len;
	m.attached = size < MAIL_ATTACHED_MAX;
	mail_body(r, facts, &m.body);
	if (!m.attached)
		buf_adds(&m.body, "\nToo large to attach, kept here:\n");
	for (size_t i = 0; !m.attached && i < m.n_parts; i++)
		buf_printf(&m.body, "  %s/%s\n", facts->kept_in, m.parts[i].name);
	add_headers(facts, &m);
	boundary_of(&m, boundary);
	if (m.attached && m.n_parts)
		buf_printf(&m.message, "Content-Type: multipart/mixed; boundary=\"%s\"\n\n--%s\n",
			   boundary, boundary);
	add_text(&m.message, "text/plain", NULL, buf_str(&m.body));
	for (size_t i = 0; m.attached && i < m.n_parts; i++) {
		buf_printf(&m.message, "\n--%s\n", boundary);
		add_text(&m.message, m.parts[i].type, m.parts[i].name, buf_str(&m.parts[i].text));
	}
	if (m.attached && m.n_parts)
		buf_printf(&m.message, "\n--%s--\n", boundary);
	*ret = m;
}

void mail_release(struct mail *m)
{
	for (size_t i = 0; i < m->n_parts; i++) {
		free(m->parts[i].name);
		buf_release(&m->parts[i].text);
	}
	free(m->parts);
	buf_release(&m->message);
	buf_release(&m->subject);
	buf_release(&m->body);
}
