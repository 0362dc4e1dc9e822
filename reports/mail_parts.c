// SPDX-License-Identifier: GPL-2.0-or-later
// What a mail carries beside its text: job file, effective config, raw samples, the whole table.
#include "reports/mail.h"

#include "harness/base/safe.h"
#include "harness/base/util.h"
#include "reports/text.h"

void mail_ascii(struct buf *out, const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		if (*s < 0x80)
			buf_addch(out, (char)*s);
		else if (*s >= 0xc0) /* one mark a character */
			buf_addch(out, '?');
	}
}

static struct mail_part *add_part(struct mail *m, const char *type, const char *format,
				  const char *name)
{
	autobuf safe = {};

	safe_filename(&safe, name, 60);
	m->parts = xrealloc(m->parts, m->n_parts + 1, sizeof(*m->parts));
	m->parts[m->n_parts] =
		(struct mail_part){.type = type, .name = xasprintf("%s%s", buf_str(&safe), format)};
	return &m->parts[m->n_parts++];
}

void mail_parts(const struct report *r, const struct mail_facts *facts, struct mail *m)
{
	autobuf table = {};

	if (r->session.job_source && *r->session.job_source)
		buf_adds(&add_part(m, "text/plain", ".yaml", r->session.job_name)->text,
			 r->session.job_source);
	if (facts->config && *facts->config)
		buf_adds(&add_part(m, "text/plain", ".txt", "config")->text, facts->config);
	if (facts->samples)
		buf_adds(&add_part(m, "application/json", ".json", "samples")->text,
			 facts->samples);
	text_lkp(r, &table);
	mail_ascii(&add_part(m, "text/plain", ".txt", "table")->text, buf_str(&table));
}
