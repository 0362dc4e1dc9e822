// SPDX-License-Identifier: GPL-2.0-or-later
// The table of the user's settings.
#include "harness/job/settings.h"

#include "harness/base/fs.h"
#include "harness/base/safe.h"
#include "harness/job/schema.h"

static const char *const mode_words[] = {"draft", "send", NULL};
static const char *const tls_words[] = {"starttls", "tls", "none", NULL};

static void check_address(const struct yaml_node *node, struct diag *d)
{
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->n : 1); i++) {
		const struct yaml_node *one = node->kind == NODE_LIST ? node->items[i] : node;
		autofree char *name = NULL, *address = NULL;

		if (one->text && !address_split(one->text, &name, &address))
			node_fault(one, d, "'%s' is no mail address", one->text);
	}
}

static void check_allow(const struct yaml_node *node, struct diag *d)
{
	for (size_t i = 0; i < (node->kind == NODE_LIST ? node->n : 1); i++) {
		const struct yaml_node *one = node->kind == NODE_LIST ? node->items[i] : node;

		if (one->text && !streq(one->text, "*") && !address_is_valid(one->text))
			node_fault(one, d, "'%s' is neither a mail address nor *", one->text);
	}
}

#define FIELD(name) offsetof(struct mail_settings, name)
static const struct schema mail_rows[] = {
	{.key = "mode",
	 .kind = SCHEMA_ENUM,
	 .offset = FIELD(mode),
	 .words = mode_words,
	 .fallback = "draft",
	 .help = "draft never sends anything, send lets --send do it"},
	{.key = "from",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(from),
	 .check = check_address,
	 .help = "the sender",
	 .example = "'Ann Author <ann@example.com>'"},
	{.key = "cc",
	 .kind = SCHEMA_STRINGS,
	 .offset = FIELD(cc),
	 .check = check_address,
	 .help = "who else gets every mail",
	 .example = "[regressions@lists.linux.dev]"},
	{.key = "allow",
	 .kind = SCHEMA_STRINGS,
	 .offset = FIELD(allow),
	 .check = check_allow,
	 .help = "the only addresses that mail is sent to; '*' allows all",
	 .example = "[ann@example.com]"},
	{.key = "per_day",
	 .kind = SCHEMA_U32,
	 .offset = FIELD(per_day),
	 .min = 1,
	 .max = 1000,
	 .fallback = "5",
	 .help = "mails sent within 24 hours at most"},
	{.key = "server",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(server),
	 .help = "the SMTP server, with a port if it is not the usual one",
	 .example = "smtp.example.com:587"},
	{.key = "tls",
	 .kind = SCHEMA_ENUM,
	 .offset = FIELD(tls),
	 .words = tls_words,
	 .fallback = "starttls",
	 .help = "starttls refuses a server without it, tls is SMTPS, none is for loopback"},
	{.key = "ca_file",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(ca_file),
	 .help = "certificates to trust in place of the system's"},
	{.key = "user",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(user),
	 .help = "the name to authenticate with"},
	{.key = "password_file",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(password_file),
	 .help = "its first line is the password; without it $CULPRIT_SMTP_PASSWORD is"},
	{.key = "archive",
	 .kind = SCHEMA_STRING,
	 .offset = FIELD(archive),
	 .help = "web address in front of a Message-ID, for Closes lines",
	 .example = "https://lore.kernel.org/r/"},
	{}};
#undef FIELD

static const struct schema rows[] = {{.key = "mail",
				      .kind = SCHEMA_GROUP,
				      .offset = offsetof(struct settings, mail),
				      .rows = mail_rows,
				      .help = "mails about what was found"},
				     {}};

static int read_file(const char *path, struct settings *s, struct diag *d, struct err *err)
{
	autoyaml *root = NULL;
	int rc;

	if (fs_exists(path))
		rc = node_load(path, d, &root, NULL, err);
	else
		rc = (root = node_parse("{}", 2, "defaults", d)) ? 0 : -ERR_USAGE;
	if (rc < 0)
		return rc;
	if (root)
		schema_read(rows, root, s, d);
	return diag_err(d, err);
}

int settings_load(const char *path, struct settings *ret, struct err *err)
{
	autosettings s = {};
	autodiag d = {};

	if (read_file(path, &s, &d, err))
		return -(int)err->code;
	*ret = s;
	s = (struct settings){};
	return 0;
}

void settings_release(struct settings *s)
{
	schema_release(rows, s);
}

void settings_print_docs(struct buf *out)
{
	schema_print_docs(rows, out);
}
