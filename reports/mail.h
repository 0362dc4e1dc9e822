// SPDX-License-Identifier: GPL-2.0-or-later
// A finding as a mail that kernel lists accept: text/plain, the claim first, evidence attached.
#pragma once

#include "reports/report.h"

struct mail_address {
	char *name, *address;
};

/* What only the tree, the store or the user's settings know; filled by the caller, borrowed here.
 */
struct mail_facts {
	const char *tree; /* "linux": name of the tree */
	struct mail_address from;
	struct mail_address *to, *cc;
	size_t n_to, n_cc;
	const char *message_id, *in_reply_to; /* without brackets; in_reply_to NULL */
	int64_t date_s;
	const char *environment;    /* fingerprint of a boot, JSON; NULL */
	const char *config;	    /* effective config of the culprit; NULL */
	const char *toolchain;	    /* "" unknown */
	const char *samples;	    /* raw samples as JSON; NULL */
	const char *newest;	    /* a line: is it there on the newest commit of the tree? */
	const char *second_machine; /* a line: what another machine says */
	const char *link;	    /* that goes into Closes; NULL */
	const char *kept_in;	    /* directory that names attachments which are too large */
	bool regzbot;		    /* a person asks for `#regzbot introduced` */
};

/* Why there is no mail about this, "No mail for ..."; NULL where there may be one. Owned. */
char *mail_refusal(const struct report *r);

struct mail_part {
	char *name;	  /* of the file */
	const char *type; /* "text/plain", "application/json" */
	struct buf text;
};
struct mail {
	struct buf message;	  /* headers, body, attachments; lines end in \n */
	struct buf subject, body; /* the same, decoded, for people */
	struct mail_part *parts;
	size_t n_parts;
	bool attached; /* else they were too large and are to be kept in facts->kept_in */
};
void mail_make(const struct report *r, const struct mail_facts *facts, struct mail *ret);
void mail_release(struct mail *m);
#define automail __attribute__((cleanup(mail_release))) struct mail

/* What its files share. */
void mail_body(const struct report *r, const struct mail_facts *facts, struct buf *out);
void mail_subject(const struct report *r, const struct mail_facts *facts, struct buf *out);
void mail_parts(const struct report *r, const struct mail_facts *facts, struct mail *m);
/* Prose in lines of 72 columns; the first begins with head, the others with two spaces more. */
void mail_wrap(struct buf *out, const char *head, const char *text);
/* Bytes beyond ASCII become "?": tables must survive every archive. */
void mail_ascii(struct buf *out, const char *text);
/* "qemu-tcg" and what counts instructions say nothing of time. */
bool mail_counts_no_time(const char *machine);
#define MAIL_ATTACHED_MAX (100 * 1024)
