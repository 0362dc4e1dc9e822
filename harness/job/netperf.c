// SPDX-License-Identifier: GPL-2.0-or-later
// netperf's -i out of a shell command, as far as words can tell without running it.
#include "harness/job/netperf.h"

enum { REPETITIONS_MAX = 30 };

struct repetitions {
	bool given;
	uint64_t max, min;
};

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Length of a "$name" or "${name}" of the cell at text, and its value; 0 for anything else. */
static size_t parameter_at(const struct cell *cell, const char *text, const char **ret_value)
{
	bool braces = text[0] == '$' && text[1] == '{';
	const char *name = text + 1 + braces;
	size_t len = 0;

	while (*text == '$' && is_name_byte(name[len]))
		len++;
	if (!len || (braces && name[len] != '}'))
		return 0;
	for (size_t i = 0; i < cell->n_values; i++) {
		const struct parameter_value *v = &cell->values[i];

		if (strlen(v->name) == len && strncmp(v->name, name, len) == 0) {
			*ret_value = v->value;
			return (size_t)(name - text) + len + braces;
		}
	}
	return 0;
}

static char *fill_in(const struct cell *cell, const char *text)
{
	autobuf out = {};

	while (*text) {
		const char *value = NULL;
		size_t n = parameter_at(cell, text, &value);

		if (n)
			buf_adds(&out, value);
		else
			buf_addch(&out, *text);
		text += n ? n : 1;
	}
	return buf_take(&out);
}

/* The command as one line, an argument vector joined by blanks. */
static char *command_text(const struct command *command)
{
	char *const *argv = command->argv;
	autobuf out = {};

	if (strv_len(command->argv) > 2 && streq(argv[0], "sh") && streq(argv[1], "-c"))
		return xstrdup(argv[2]);
	for (; argv && *argv; argv++)
		buf_printf(&out, "%s ", *argv);
	return buf_take(&out);
}

/* The next word; false at the end of the simple command. Quotes are no part of it. */
static bool next_word(const char **at, char *word, size_t size)
{
	size_t n = 0;

	while (**at == ' ' || **at == '\t' || (**at == '\\' && (*at)[1] == '\n'))
		*at += 1 + (**at == '\\');
	if (!**at || strchr(";|&\n()<>", **at))
		return false;
	for (; **at && !strchr(" \t;|&\n()<>", **at); (*at)++)
		if (!strchr("'\"", **at) && n + 1 < size)
			word[n++] = **at;
	word[n] = '\0';
	return true;
}

/* "30,3", "30" for both, ",3" for the second alone, as netperf takes it. */
static void read_repetitions(const char *text, struct repetitions *r)
{
	const char *comma = strchr(text, ',');
	autofree char *first = xstrndup(text, comma ? (size_t)(comma - text) : strlen(text));
	uint64_t max, min;
	bool has_max = str_to_u64(first, &max);
	bool has_min = comma && str_to_u64(comma + 1, &min);

	r->given = r->given || has_max || has_min;
	if (has_max)
		r->max = max;
	if (has_min)
		r->min = min;
	else if (has_max && !comma)
		r->min = max;
}

/* The options of netperf itself end at "--". */
static struct repetitions read_options(const char *at)
{
	struct repetitions r = {.max = 1, .min = 1};
	char word[256];

	while (next_word(&at, word, sizeof(word)) && !streq(word, "--")) {
		if (streq(word, "-i") && next_word(&at, word, sizeof(word)))
			read_repetitions(word, &r);
		else if (str_starts(word, "-i"))
			read_repetitions(word + 2, &r);
	}
	return r;
}

/* The place behind the next word `netperf`, with or without directories, or NULL. */
static const char *find_netperf(const char *text)
{
	for (const char *at = text; (at = strstr(at, "netperf")); at++) {
		const char *end = at + strlen("netperf");
		bool begins = at == text || strchr(" \t\n;|&(/'\"", at[-1]);

		if (begins && (*end == ' ' || *end == '\t'))
			return end;
	}
	return NULL;
}

/* Something is put into the background: an & that is neither && nor part of a redirection. */
static bool runs_several(const char *text)
{
	for (const char *at = text; (at = strchr(at, '&')); at++) {
		char before = at > text ? at[-1] : ' ';

		if (at[1] == '&')
			at++;
		else if (before != '>' && before != '<' && at[1] != '>')
			return true;
	}
	return strstr(text, "xargs -P") || strstr(text, "parallel ");
}

static void add_once(char ***warnings, char *text)
{
	bool there = false;

	for (size_t i = 0; (*warnings)[i]; i++)
		there = there || streq((*warnings)[i], text);
	if (!there)
		strv_push(warnings, text);
	free(text);
}

static void warn_of(const char *text, char ***warnings)
{
	for (const char *at = text; (at = find_netperf(at));) {
		struct repetitions r = read_options(at);

		if (r.given && MAX(r.max, r.min) > REPETITIONS_MAX)
			add_once(warnings,
				 xasprintf("netperf cuts '-i %llu,%llu' to %d repetitions "
					   "without a word; iterate: has no such limit",
					   (unsigned long long)r.max, (unsigned long long)r.min,
					   REPETITIONS_MAX));
		if (r.given && r.max != r.min && runs_several(text))
			add_once(
				warnings,
				xasprintf("several clients with netperf's '-i %llu,%llu' stop at "
					  "different times, and no longer overlap: make both equal",
					  (unsigned long long)r.max, (unsigned long long)r.min));
	}
}

void netperf_warnings(const struct job *job, char ***warnings)
{
	autofree char *command = command_text(&job->run);

	for (size_t i = 0; i < job->n_cells; i++) {
		autofree char *text = fill_in(&job->cells[i], command);

		warn_of(text, warnings);
	}
}
