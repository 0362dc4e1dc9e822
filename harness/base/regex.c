// SPDX-License-Identifier: GPL-2.0-or-later
// PCRE2 with a limit on the steps at one place of the text and on the time for all places.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "harness/base/regex.h"

#include "harness/base/buf.h"
#include "harness/base/clock.h"

enum { STEPS_MAX = 1000000, HEAP_KIB_MAX = 64 * 1024 };
#define BUDGET_NS (10 * NS_PER_S)
#define QUICK_NS  (20 * NS_PER_MS)

struct regex {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static pcre2_code *compile(const char *pattern, struct err *err)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR why[160];
	PCRE2_SIZE offset;
	pcre2_code *code;
	int number;

	/* Serial lines and Windows programs end lines with CR LF. */
	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
			     PCRE2_MULTILINE | PCRE2_NEVER_UTF | PCRE2_USE_OFFSET_LIMIT, &number,
			     &offset, context);
	pcre2_compile_context_free(context);
	if (!code) {
		pcre2_get_error_message(number, why, sizeof(why));
		err_set(err, ERR_USAGE, "pattern '%s': %s at position %zu", pattern,
			(const char *)why, (size_t)offset + 1);
	}
	return code;
}

int regex_new(const char *pattern, struct regex **ret, struct err *err)
{
	pcre2_code *code = compile(pattern, err);
	struct regex *re;

	if (!code)
		return -ERR_USAGE;
	re = xcalloc(1, sizeof(*re));
	re->code = code;
	re->data = pcre2_match_data_create_from_pattern(code, NULL);
	re->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(re->limits, STEPS_MAX);
	pcre2_set_heap_limit(re->limits, HEAP_KIB_MAX);
	*ret = re;
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	pcre2_match_context_free(re->limits);
	pcre2_match_data_free(re->data);
	pcre2_code_free(re->code);
	free(re);
}

static void fill_match(pcre2_match_data *data, struct regex_match *ret)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);
	uint32_t groups = pcre2_get_ovector_count(data);
	uint32_t g = 1;

	while (g < groups && at[2 * g] == PCRE2_UNSET)
		g++;
	if (g >= groups)
		g = 0;
	/* \K can put the start behind the end. */
	*ret = (struct regex_match){
		.start = MIN(at[0], at[1]),
		.end = at[1],
		.group_start = MIN(at[2 * g], at[2 * g + 1]),
		.group_end = at[2 * g + 1],
	};
}

/*
 * PCRE2 counts steps anew for each place a match may start at, so a slow pattern on a long text is
 * bounded here: the places are tried in stretches, short ones first, with a look at the clock.
 */
int regex_next(struct regex *re, const char *text, size_t len, size_t from, struct regex_match *ret,
	       struct err *err)
{
	int64_t start = clock_now_ns(), before = start;
	size_t stretch = 64;

	while (from <= len) {
		size_t last = len - from > stretch ? from + stretch : len;
		int64_t now;
		int rc;

		pcre2_set_offset_limit(re->limits, last);
		rc = pcre2_match(re->code, (PCRE2_SPTR)text, len, from, 0, re->data, re->limits);
		if (rc > 0) {
			fill_match(re->data, ret);
			return 1;
		}
		now = clock_now_ns();
		if (rc != PCRE2_ERROR_NOMATCH || now - start > BUDGET_NS)
			return err_set(err, ERR_FAILED,
				       "pattern takes too many steps on this text of %zu bytes",
				       len);
		stretch = now - before < QUICK_NS ? stretch * 2 : MAX(stretch / 2, (size_t)16);
		before = now;
		from = last + 1;
	}
	return 0;
}

bool regex_is_match(struct regex *re, const char *text)
{
	struct err err ERR_CLEANUP = {};
	struct regex_match match;

	return regex_next(re, text, strlen(text), 0, &match, &err) == 1;
}
