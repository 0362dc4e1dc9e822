// SPDX-License-Identifier: GPL-2.0-or-later
// Handing a mail to an SMTP server (libcurl): STARTTLS, SMTPS, authentication.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

enum smtp_tls { SMTP_STARTTLS, SMTP_TLS, SMTP_PLAIN };

struct smtp_server {
	const char *host;	     /* or host:port */
	enum smtp_tls tls;	     /* SMTP_STARTTLS: a server without it is refused */
	const char *ca_file;	     /* NULL: the system's */
	const char *user, *password; /* NULL: no authentication; never without TLS */
	int64_t timeout_ns;
};

/* How far a mail came. */
enum smtp_end {
	SMTP_NOT_SENT,	  /* no server has it: it may be tried again */
	SMTP_HANDED_OVER, /* all of it was written, no answer was seen: it may have been taken */
	SMTP_SENT,
};

/*
 * text has lines that end in \n. handing_over is called once all but the last dot is written; what
 * it stores tells after a crash that the mail may be out. If it fails (negative, err filled) the
 * mail is not sent. Negative: err says why, *ret_end what is known.
 */
int smtp_send(const struct smtp_server *server, const char *from, const char *const *to,
	      const struct buf *text, int (*handing_over)(void *arg, struct err *err), void *arg,
	      enum smtp_end *ret_end, struct err *err);
