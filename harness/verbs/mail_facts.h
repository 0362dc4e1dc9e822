// SPDX-License-Identifier: GPL-2.0-or-later
// What a mail needs beside the report: people, environment, config, raw samples, other sessions.
#pragma once

#include "harness/job/settings.h"
#include "harness/verbs/verbs.h"
#include "reports/mail.h"

struct mail_request {
	struct ctx *ctx;
	struct store *store;
	const struct report *report;
	const struct settings *settings;
	char *const *to; /* in place of all that would be found; NULL */
	bool regzbot;
};

/* Owns what its facts borrow. */
struct gathered {
	struct mail_facts facts;
	VEC(char *) texts;
	VEC(struct mail_address) to, cc;
};
int gather(const struct mail_request *q, struct gathered *ret, struct err *err);
void gathered_release(struct gathered *g);
#define autogathered __attribute__((cleanup(gathered_release))) struct gathered

/* --- people.c --- */
/* Author and signers, then maintainers by the tree's own script and the configured ones. What
 * cannot be found out is a warning, not an error. */
int gather_people(const struct mail_request *q, struct gathered *g, struct err *err);
const char *gathered_keep(struct gathered *g, char *text); /* owned from now on */
