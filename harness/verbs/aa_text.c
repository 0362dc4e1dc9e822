// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `culprit aa` for people.

#include "harness/verbs/aa.h"

#include "reports/text.h"

#include <math.h>

#define NAME_COLUMN    24
#define PLACE_COLUMN   4
#define VISIBLE_COLUMN 22

static double number(const struct json *o, const char *key)
{
	double v;

	return json_num(json_get(o, key), &v) ? v : NAN;
}

/* "3.1%"; around zero, where there is no percentage, the number itself; "none" for not known */
static void add_size(const struct json *o, const char *absolute, struct buf *out)
{
	double pct = number(o, "percent"), sd = number(o, absolute);
	char text[32];

	if (isfinite(pct))
		buf_printf(out, "%.2g%%", pct);
	else
		buf_adds(out, isfinite(sd) ? text_value(sd, text) : "none");
}

static void add_text(const struct json *o, const char *key, struct buf *out)
{
	const char *text = json_str(json_get(o, key));

	if (text)
		text_safe(out, text, 200);
}

static void add_name(const struct json *row, struct buf *out)
{
	const struct json *cell = json_get(row, "cell");

	buf_adds(out, "  ");
	add_text(row, "metric", out);
	buf_addch(out, ' ');
	add_text(row, "unit", out);
	for (size_t i = 0; i < json_len(cell); i++) {
		const char *key = json_key(cell, i);

		buf_printf(out, "%s%s=", i ? "," : "  ", key);
		add_text(cell, key, out);
	}
	buf_addch(out, ' ');
	buf_pad(out, NAME_COLUMN, ' ');
}

static void add_noise(const struct json *rows, struct buf *out)
{
	static const char *const levels[] = {"runs", "boots", "builds", "boot_value"};

	buf_printf(out, "\n  %-*s%10s %14s %14s %14s %12s\n", NAME_COLUMN - 2, "metric", "centre",
		   "between runs", "boots", "builds", "a boot value");
	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *row = json_item(rows, i);
		double centre = number(row, "centre");
		char text[32];

		add_name(row, out);
		buf_printf(out, "%10s", isfinite(centre) ? text_value(centre, text) : "none");
		for (size_t k = 0; k < ARRAY_SIZE(levels); k++) {
			const struct json *level = json_get(row, levels[k]);
			autobuf cell = {};

			add_size(level, "sd", &cell);
			if (k < 3 && number(level, "n") > 0)
				buf_printf(&cell, " (%.0f)", number(level, "n"));
			buf_printf(out, " %*s", k < 3 ? 14 : 12, buf_str(&cell));
		}
		buf_addch(out, '\n');
	}
}

static void add_visible(const struct json *document, const struct json *rows, struct buf *out)
{
	const struct json *first = json_get(json_item(rows, 0), "visible");

	buf_printf(out, "\n  %-*s", NAME_COLUMN - 2, "smallest change seen by");
	for (size_t k = 0; k < json_len(first); k++)
		buf_printf(out, "%*.0f boots", VISIBLE_COLUMN - 6,
			   number(json_item(first, k), "boots"));
	buf_addch(out, '\n');
	for (size_t i = 0; i < json_len(rows); i++) {
		const struct json *visible = json_get(json_item(rows, i), "visible");

		add_name(json_item(rows, i), out);
		for (size_t k = 0; k < json_len(visible); k++) {
			const struct json *v = json_item(visible, k);
			double change = number(v, "change");
			autobuf cell = {};
			char text[32];

			add_size(v, "change", &cell);
			if (isfinite(number(v, "percent")) && isfinite(change))
				buf_printf(&cell, " (%s)", text_value(change, text));
			buf_printf(out, "%*s", VISIBLE_COLUMN, buf_str(&cell));
		}
		buf_addch(out, '\n');
	}
	buf_printf(out,
		   "  Boots a side, each with %.0f run%s; nine times in ten, by one test at %g%% "
		   "error.\n",
		   number(document, "runs_per_boot"),
		   number(document, "runs_per_boot") == 1 ? "" : "s",
		   100 * number(document, "error"));
}

static void add_remarks(const struct json *document, struct buf *out)
{
	const struct json *builds = json_get(document, "builds");
	const char *why = json_str(json_get(document, "no_other_build"));

	if (number(document, "runs_per_boot") == 1)
		buf_adds(out, "  Between runs is not known from one run a boot; it is part of what "
			      "is between boots.\n");
	if (why)
		buf_printf(out, "  Between builds is not applicable: %s.\n", why);
	else if (json_len(builds) == 1)
		buf_adds(out, "  Between builds is not known from one build; --builds 2 adds "
			      "another.\n");
	else
		buf_adds(out, "  No number of boots averages out what is between builds.\n");
	for (size_t i = 0; i < json_len(builds); i++) {
		const struct json *build = json_item(builds, i);

		if (!json_str(json_get(build, "why")))
			continue;
		buf_printf(out,
			   "  Build '%s' could not be tested: ", json_str(json_get(build, "name")));
		add_text(build, "why", out);
		buf_addch(out, '\n');
	}
}

void aa_text(const struct json *document, struct buf *out)
{
	const char *commit = json_str(json_get(document, "commit"));
	const struct json *builds = json_get(document, "builds");
	const struct json *rows = json_get(document, "rows");

	buf_printf(out, "Noise %.0f of ", number(document, "aa"));
	add_text(document, "job", out);
	buf_adds(out, " on ");
	add_text(document, "machine", out);
	if (commit) {
		buf_printf(out, ", commit %.12s (\"", commit);
		add_text(document, "subject", out);
		buf_adds(out, "\")");
	}
	buf_addch(out, '\n');
	for (size_t i = 0; i < json_len(builds); i++)
		buf_printf(out, "%*s%-8s  %.0f boots with a value\n", PLACE_COLUMN, "",
			   json_str(json_get(json_item(builds, i), "name")),
			   number(json_item(builds, i), "boots"));
	add_noise(rows, out);
	add_visible(document, rows, out);
	add_remarks(document, out);
}
