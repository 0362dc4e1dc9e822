// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic: parsed once into postfix, evaluated on a small stack, so no text can make it deep.
#include "harness/job/expr.h"

#include "harness/base/util.h"

#include <ctype.h>
#include <math.h>

enum { LENGTH_MAX = 4096, DEPTH_MAX = 64 };

struct op {
	char what; /* '#' number, 'x' name, '~' negate, or + - * / */
	double number;
	char *name;
};

struct expr {
	VEC(struct op) ops;
};

struct parser {
	const char *text, *at;
	struct expr *e;
	unsigned depth;
	struct err *err;
};

static int parse_sum(struct parser *p);

void expr_free(struct expr *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->ops.n; i++)
		free(e->ops.at[i].name);
	VEC_FREE(&e->ops);
	free(e);
}

static void emit(struct parser *p, char what)
{
	VEC_PUSH(&p->e->ops, (struct op){.what = what});
}

static char peek(struct parser *p)
{
	p->at += strspn(p->at, " \t\n");
	return *p->at;
}

static int fail(struct parser *p, const char *wanted)
{
	if (!*p->at)
		return err_set(p->err, ERR_USAGE, "'%s' ends where %s is expected", p->text,
			       wanted);
	return err_set(p->err, ERR_USAGE, "'%s' has '%c' at character %zu where %s is expected",
		       p->text, *p->at, (size_t)(p->at - p->text) + 1, wanted);
}

/* Digits, a point, an exponent: what can be a number's letters, to be judged by str_to_double. */
static int parse_number(struct parser *p)
{
	size_t len = strspn(p->at, "0123456789.");
	size_t digits = 0;
	autofree char *text = NULL;
	double v;

	if (p->at[len] == 'e' || p->at[len] == 'E') {
		size_t sign = p->at[len + 1] == '+' || p->at[len + 1] == '-';

		digits = strspn(p->at + len + 1 + sign, "0123456789");
		len += digits ? 1 + sign + digits : 0;
	}
	text = xstrndup(p->at, len);
	if (!str_to_double(text, &v))
		return fail(p, "a number");
	p->at += len;
	VEC_PUSH(&p->e->ops, (struct op){.what = '#', .number = v});
	return 0;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static void parse_name(struct parser *p)
{
	size_t len = 0;

	while (is_name_char(p->at[len]))
		len++;
	VEC_PUSH(&p->e->ops, (struct op){.what = 'x', .name = xstrndup(p->at, len)});
	p->at += len;
}

static int parse_factor(struct parser *p)
{
	char c = peek(p);
	int rc = 0;

	if (p->depth == DEPTH_MAX)
		return err_set(p->err, ERR_USAGE, "'%s' is nested too deep", p->text);
	p->depth++;
	if (c == '-' || c == '+') {
		p->at++;
		rc = parse_factor(p);
		if (!rc && c == '-')
			emit(p, '~');
	} else if (c == '(') {
		p->at++;
		rc = parse_sum(p);
		if (!rc && peek(p) != ')')
			rc = fail(p, "')'");
		else if (!rc)
			p->at++;
	} else if (isdigit((unsigned char)c) || c == '.') {
		rc = parse_number(p);
	} else if (isalpha((unsigned char)c) || c == '_') {
		parse_name(p);
	} else {
		rc = fail(p, "a number or name");
	}
	p->depth--;
	return rc;
}

/* A row of operands joined by one of two operators of equal rank, from left to right. */
static int parse_row(struct parser *p, char a, char b, int (*operand)(struct parser *p))
{
	int rc = operand(p);
	char c;

	while (!rc && ((c = peek(p)) == a || c == b)) {
		p->at++;
		rc = operand(p);
		emit(p, c);
	}
	return rc;
}

static int parse_product(struct parser *p)
{
	return parse_row(p, '*', '/', parse_factor);
}

static int parse_sum(struct parser *p)
{
	return parse_row(p, '+', '-', parse_product);
}

int expr_parse(const char *text, struct expr **ret, struct err *err)
{
	struct parser p = {.text = text, .at = text, .err = err};
	int rc;

	if (strlen(text) > LENGTH_MAX)
		return err_set(err, ERR_USAGE, "an expression of more than %d characters",
			       LENGTH_MAX);
	p.e = xcalloc(1, sizeof(*p.e));
	rc = parse_sum(&p);
	if (!rc && peek(&p))
		rc = fail(&p, "+ - * or /");
	if (rc)
		expr_free(p.e);
	else
		*ret = p.e;
	return rc;
}

void expr_names(const struct expr *e, void (*cb)(const char *name, void *arg), void *arg)
{
	for (size_t i = 0; i < e->ops.n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = e->ops.at[k].name && streq(e->ops.at[k].name, e->ops.at[i].name);
		if (e->ops.at[i].name && !seen)
			cb(e->ops.at[i].name, arg);
	}
}

static int apply(char what, double a, double b, double *ret, struct err *err)
{
	switch (what) {
	case '+':
		*ret = a + b;
		break;
	case '-':
		*ret = a - b;
		break;
	case '*':
		*ret = a * b;
		break;
	default:
		if (b == 0)
			return err_set(err, ERR_FAILED, "a division by zero");
		*ret = a / b;
		break;
	}
	return 0;
}

int expr_eval(const struct expr *e, bool (*lookup)(const char *name, double *ret, void *arg),
	      void *arg, double *ret, struct err *err)
{
	autofree double *stack = xcalloc(e->ops.n, sizeof(*stack));
	size_t n = 0;

	for (size_t i = 0; i < e->ops.n; i++) {
		const struct op *op = &e->ops.at[i];

		if (op->what == '#') {
			stack[n++] = op->number;
		} else if (op->what == 'x') {
			if (!lookup(op->name, &stack[n++], arg))
				return err_set(err, ERR_NOT_FOUND, "'%s' has no value", op->name);
		} else if (op->what == '~') {
			stack[n - 1] = -stack[n - 1];
		} else {
			n--;
			if (apply(op->what, stack[n - 1], stack[n], &stack[n - 1], err) < 0)
				return -ERR_FAILED;
		}
	}
	if (!isfinite(stack[0]))
		return err_set(err, ERR_FAILED, "a result that is no finite number");
	*ret = stack[0];
	return 0;
}
