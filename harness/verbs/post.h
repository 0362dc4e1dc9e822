// SPDX-License-Identifier: GPL-2.0-or-later
// Drafts and their sending: one mail a step, sent once, only where the settings allow it.
#pragma once

#include "harness/job/settings.h"
#include "harness/verbs/verbs.h"
#include "reports/mail.h"

/* The row of this step's mail, made with its Message-ID where there is none yet. domain: of the
 * sender's address. */
int post_row(struct store *store, const struct report *r, const char *domain, struct mail_row *ret,
	     struct err *err);
char *post_dir(const struct ctx *ctx);					     /* owned */
char *post_path(const struct ctx *ctx, int64_t session, const char *suffix); /* owned */
/* Writes the draft as an mbox, and the attachments beside it where they are too large. */
int post_write(const struct ctx *ctx, const struct report *r, const struct mail *m,
	       const char *from, struct err *err);
/*
 * Sends the mail of a row, whose state says afterwards how far it came: refused by the settings,
 * the day's limit or the server it stays "queued" and err says why. again: although it may be out
 * already.
 */
int post_send(const struct ctx *ctx, struct store *store, const struct settings *settings,
	      const struct mail_facts *facts, const struct mail *m, bool again,
	      struct mail_row *row, struct err *err);
