// SPDX-License-Identifier: GPL-2.0-or-later
// What a user decides once: $XDG_CONFIG_HOME/culprit/config.yaml, read by a schema table as jobs
// are.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <stdint.h>

enum mail_mode { MAIL_DRAFT, MAIL_SEND };
enum mail_tls { MAIL_STARTTLS, MAIL_TLS, MAIL_PLAIN };

struct mail_settings {
	enum mail_mode mode; /* draft: nothing is ever sent */
	char *from;	     /* "Name <address>"; NULL: user and host */
	char **cc;	     /* on every mail */
	char **allow;	     /* addresses that may get mail, "*" is all of them */
	uint32_t per_day;
	char *server; /* host, or host:port */
	enum mail_tls tls;
	char *ca_file;	     /* certificates to trust; NULL: the system's */
	char *user;	     /* NULL: no authentication */
	char *password_file; /* its first line; NULL: $CULPRIT_SMTP_PASSWORD */
	char *archive;	     /* where a Message-ID can be looked up, for Closes; NULL */
};
struct settings {
	struct mail_settings mail;
};

/* The defaults where there is no file. ERR_USAGE lists the faults of one that is wrong. */
int settings_load(const char *path, struct settings *ret, struct err *err);
void settings_release(struct settings *s);
#define autosettings __attribute__((cleanup(settings_release))) struct settings
void settings_print_docs(struct buf *out);
