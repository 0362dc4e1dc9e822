// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic for derived metrics: values, order of operators, every refusal.
#include "harness/base/buf.h"
#include "harness/job/expr.h"
#include "tests/tap.h"

static bool lookup(const char *name, double *ret, void *arg)
{
	if (streq(name, "time_ms"))
		*ret = 4234;
	else if (streq(name, "packets"))
		*ret = 100000;
	else if (streq(name, "p99.9"))
		*ret = 7;
	else if (streq(name, "zero"))
		*ret = 0;
	else
		return false;
	return true;
}

static void is_value(const char *text, double want)
{
	ERR_CLEANUP struct err err = {};
	struct expr *e = NULL;
	double v = -12345;
	int rc = expr_parse(text, &e, &err);

	if (rc == 0)
		rc = expr_eval(e, lookup, NULL, &v, &err);
	ok(rc == 0 && v == want, "%s = %.17g", text, want);
	if (rc || v != want)
		diag("got %.17g, %s", v, err.message ? err.message : "");
	expr_free(e);
}

static void refused(const char *text, enum err_code code, const char *message)
{
	ERR_CLEANUP struct err err = {};
	struct expr *e = NULL;
	double v = 77;
	int rc = expr_parse(text, &e, &err);

	if (rc == 0)
		rc = expr_eval(e, lookup, NULL, &v, &err);
	is_int(rc, -(int)code, "'%.40s' is refused", text);
	is_str(err.message, message, "and says why");
	ok(v == 77, "and leaves the result alone");
	expr_free(e);
}

static void add_name(const char *name, void *arg)
{
	buf_printf(arg, "%s ", name);
}

static void names(void)
{
	ERR_CLEANUP struct err err = {};
	struct expr *e = NULL;
	autobuf list = {};

	expr_parse("b * a + (b - 1e3) / c.d - -a", &e, &err);
	expr_names(e, add_name, &list);
	is_str(buf_str(&list), "b a c.d ", "each name once, in order");
	expr_free(e);
}

static void bounds(void)
{
	ERR_CLEANUP struct err err = {};
	autobuf text = {};
	struct expr *e = NULL;

	for (int i = 0; i < 1000; i++)
		buf_addch(&text, '(');
	is_int(expr_parse(buf_str(&text), &e, &err), -ERR_USAGE, "a thousand brackets");
	buf_clear(&text);
	for (int i = 0; i < 1000; i++)
		buf_addch(&text, '-');
	is_int(expr_parse(buf_str(&text), &e, &err), -ERR_USAGE, "a thousand signs");
	buf_clear(&text);
	buf_addch(&text, '1');
	for (int i = 0; i < 2000; i++)
		buf_adds(&text, "+1");
	is_value(buf_str(&text), 2001);
	for (int i = 0; i < 2000; i++)
		buf_adds(&text, "+1");
	is_int(expr_parse(buf_str(&text), &e, &err), -ERR_USAGE, "more than 4096 characters");
	ok(!e, "nothing comes out of what is refused");
}

int main(void)
{
	is_value("1", 1);
	is_value(" 1 + 2 * 3 ", 7);
	is_value("(1 + 2) * 3", 9);
	is_value("10 - 4 - 3", 3);
	is_value("100 / 10 / 5", 2);
	is_value("2 * 3 - 4 / 2", 4);
	is_value("-2 * -3", 6);
	is_value("--2", 2);
	is_value("+2 - -2", 4);
	is_value("1.5e3 + .5", 1500.5);
	is_value("1e-3*1E+3", 1);
	is_value("time_ms * 1000 / packets", 42.34);
	is_value("p99.9 - 1", 6);
	is_value("zero * 5", 0);
	refused("", ERR_USAGE, "'' ends where a number or name is expected");
	refused("1 +", ERR_USAGE, "'1 +' ends where a number or name is expected");
	refused("(1", ERR_USAGE, "'(1' ends where ')' is expected");
	refused("1)", ERR_USAGE, "'1)' has ')' at character 2 where + - * or / is expected");
	refused("1 2", ERR_USAGE, "'1 2' has '2' at character 3 where + - * or / is expected");
	refused("2 ** 3", ERR_USAGE,
		"'2 ** 3' has '*' at character 4 where a number or name is expected");
	refused("1.2.3", ERR_USAGE, "'1.2.3' has '1' at character 1 where a number is expected");
	refused("2e", ERR_USAGE, "'2e' has 'e' at character 2 where + - * or / is expected");
	refused("a; b", ERR_USAGE, "'a; b' has ';' at character 2 where + - * or / is expected");
	refused("f(1)", ERR_USAGE, "'f(1)' has '(' at character 2 where + - * or / is expected");
	refused("$(ls)", ERR_USAGE,
		"'$(ls)' has '$' at character 1 where a number or name is expected");
	refused("time_ms / missing", ERR_NOT_FOUND, "'missing' has no value");
	refused("1 / zero", ERR_FAILED, "a division by zero");
	refused("0 / 0", ERR_FAILED, "a division by zero");
	refused("1e308 * 10", ERR_FAILED, "a result that is no finite number");
	names();
	bounds();
	return plan_done();
}
