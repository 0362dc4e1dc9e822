// SPDX-License-Identifier: GPL-2.0-or-later
// Hostile texts against every place they can go to; headers are also read by Python in tests/t.
#include "tests/tap.h"

#include "harness/base/safe.h"

static char *long_text(void)
{
	char *text = xmalloc(10001);

	memset(text, 'x', 10000);
	text[10000] = '\0';
	return text;
}

static const char *const hostile[] = {
	"two\nlines",
	"fake\r\nBcc: everybody@example.com",
	"fake\n\nbody",
	"\nFrom a@b Thu Jan  1 00:00:00 1970",
	"From the start",
	"<script>alert(1)</script> & \"q\" 'a'",
	"\033[2J\033]0;title\007 bell",
	"right \342\200\256 to left \342\201\246 isolate",
	"invalid \377\376 \303",
	"=?UTF-8?Q?hidden=0A?= word",
	"`touch /tmp/x` $(id) \\n 'quote'",
	"../../etc/passwd",
	"-rf",
	"caf\303\251 and \346\227\245\346\234\254",
	"tab\there",
	"",
};

/* No place gets a control character (newlines but for a header's folding), a lone byte above ASCII
 * that is no UTF-8, or a reordering mark. */
static bool is_tame(const char *text)
{
	autobuf same = {};

	buf_add_safe(&same, text, strlen(text), SIZE_MAX / 2, true);
	return streq(buf_str(&same), text);
}

static void html(void)
{
	autobuf out = {};

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autobuf one = {};

		safe_html(&one, hostile[i], 200);
		ok(is_tame(buf_str(&one)) && !strpbrk(buf_str(&one), "<>\"'\n"), "html %zu", i);
	}
	safe_html(&out, "<script>", 100);
	is_str(buf_str(&out), "&lt;script&gt;", "a metric named <script>");
}

static void gnuplot(void)
{
	autobuf out = {};

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autobuf one = {};
		size_t quotes = 0;

		safe_gnuplot(&one, hostile[i], 200);
		for (size_t k = 0; k < one.len; k++)
			quotes += one.data[k] == '\'';
		ok(is_tame(buf_str(&one)) && quotes % 2 == 0 && !strpbrk(buf_str(&one), "`\\\n"),
		   "gnuplot %zu", i);
	}
	safe_gnuplot(&out, "it's", 100);
	is_str(buf_str(&out), "'it''s'", "quotes are doubled");
}

static void file_names(void)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"../../etc/passwd", "etc-passwd"},
		{"-rf", "rf"},
		{".hidden", "hidden"},
		{"", "_"},
		{"/", "_"},
		{"size=64,test=UDP_STREAM", "size-64-test-UDP_STREAM"},
		{"v6.1-rc1", "v6.1-rc1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autobuf out = {};

		safe_filename(&out, cases[i].text, 64);
		is_str(buf_str(&out), cases[i].name, "file name of '%s'", cases[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autobuf out = {};

		safe_filename(&out, hostile[i], 20);
		ok(out.len >= 1 && out.len <= 20 && !strpbrk(out.data, "/\n\r\033 '\"<>`$") &&
			   *out.data != '.' && *out.data != '-',
		   "file name %zu", i);
	}
}

/* One header: lines of at most 998 that all begin with its name or a space, none of them blank. */
static void check_header(const char *value, size_t max, const char *what)
{
	autobuf out = {};
	bool good = true;
	size_t widest = 0;

	safe_header(&out, "Subject", value, max);
	for (const char *line = buf_str(&out); *line; line += strcspn(line, "\n") + 1) {
		size_t n = strcspn(line, "\n");

		good = good && (line == out.data || *line == ' ') && strspn(line, " ") < n;
		widest = MAX(widest, n);
		for (size_t i = 0; i < n; i++)
			good = good && line[i] >= ' ' && line[i] <= '~';
	}
	ok(good && str_starts(out.data, "Subject:") && out.data[out.len - 1] == '\n',
	   "%s is one header", what);
	ok(widest <= (strchr(value, 'x') ? 998 : 78), "%s: lines of %zu", what, widest);
}

static void headers(void)
{
	autofree char *text = long_text();
	autobuf plain = {}, encoded = {}, folded = {};

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		autofree char *what = xasprintf("hostile text %zu", i);

		if (*hostile[i])
			check_header(hostile[i], 200, what);
	}
	check_header(text, 300, "10,000 characters");
	safe_header(&plain, "Subject", "net: 5% less", 200);
	is_str(buf_str(&plain), "Subject: net: 5% less\n", "plain text stays");
	safe_header(&encoded, "Subject", "caf\303\251 =", 200);
	is_str(buf_str(&encoded), "Subject: =?UTF-8?Q?caf=C3=A9_=3D?=\n", "UTF-8 is encoded");
	safe_header(&folded, "Subject",
		    "one two three four five six seven eight nine ten eleven twelve thirteen "
		    "fourteen fifteen",
		    200);
	is_str(buf_str(&folded),
	       "Subject: one two three four five six seven eight nine ten eleven twelve\n"
	       " thirteen fourteen fifteen\n",
	       "folded before a word");
}

static void addresses(void)
{
	static const struct {
		const char *name, *address, *want; /* want NULL: refused */
	} cases[] = {
		{"Ann Author", "ann@example.com", "Ann Author <ann@example.com>"},
		{"", "ann@example.com", "ann@example.com"},
		{"Ann, Jr.", "ann@example.com", "\"Ann, Jr.\" <ann@example.com>"},
		{"a\"b\\c", "a@b.de", "\"a\\\"b\\\\c\" <a@b.de>"},
		{"Ren\303\251", "r@b.de", "=?UTF-8?Q?Ren=C3=A9?= <r@b.de>"},
		{"Eve\r\nBcc: x@y", "e@b.de", "\"Eve  Bcc: x@y\" <e@b.de>"},
		{"Eve", "e@b.de>\nBcc: <x@y.de", NULL},
		{"Eve", "e@b.de,x@y.de", NULL},
		{"Eve", "-oProxy@b.de", NULL},
		{"Eve", "e@b..de", NULL},
		{"Eve", "e x@b.de", NULL},
		{"Eve", "\"e\"@b.de", NULL},
		{"Eve", "nobody", NULL},
		{"Eve", "@b.de", NULL},
		{"Eve", "e@", NULL},
		{"Eve", "e@x@y", NULL},
		{"Eve", "\303\251@b.de", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autobuf out = {};
		bool good = safe_address(&out, cases[i].name, cases[i].address);

		is_str(good ? buf_str(&out) : NULL, cases[i].want, "address %zu", i);
		if (!good)
			is_int((int64_t)out.len, 0, "refused: nothing added");
	}
}

static void splits(void)
{
	static const struct {
		const char *text, *name, *address;
	} cases[] = {
		{"Ann Author <ann@x.de>", "Ann Author", "ann@x.de"},
		{"  ann@x.de", "", "ann@x.de"},
		{"\"Ann, Jr.\" <ann@x.de> ", "Ann, Jr.", "ann@x.de"},
		{"Ann <ann@x.de> # v6.1", NULL, NULL},
		{"Ann <ann@x.de", NULL, NULL},
		{"Ann", NULL, NULL},
		{"Eve <e@x.de>, <b@x.de>", NULL, NULL},
		{"Bcc: <b@x.de>", NULL, NULL},
		{"\"a\" <b@x.de> \"c\" <e@x.de>", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		autofree char *name = NULL, *address = NULL;

		address_split(cases[i].text, &name, &address);
		is_str(name, cases[i].name, "name of '%s'", cases[i].text);
		is_str(address, cases[i].address, "address of '%s'", cases[i].text);
	}
}

int main(void)
{
	html();
	gnuplot();
	file_names();
	headers();
	addresses();
	splits();
	return plan_done();
}
