// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic for derived metrics: + - * / ( ) numbers and names, nothing else.
#pragma once

#include "harness/base/err.h"

struct expr;
int expr_parse(const char *text, struct expr **ret, struct err *err); /* bounded depth */
void expr_free(struct expr *e);
/* Names used, for checking against metrics and parameters: calls back once per name in order. */
void expr_names(const struct expr *e, void (*cb)(const char *name, void *arg), void *arg);
/* lookup returns false for a missing value: the result is then missing, too (*missing names it).
 * Division by zero is an ERR_FAILED. */
int expr_eval(const struct expr *e, bool (*lookup)(const char *name, double *ret, void *arg), void *arg,
	      double *ret, struct err *err);
