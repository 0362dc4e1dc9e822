// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic for derived metrics: + - * / ( ) numbers and names, nothing else.
#pragma once

#include "harness/base/err.h"

struct expr;
/* Names are letters, digits, _ and . and begin with a letter or _. ERR_USAGE names the place. */
int expr_parse(const char *text, struct expr **ret, struct err *err); /* bounded length and depth */
void expr_free(struct expr *e);
/* Names used, for checking against metrics and parameters: calls back once per name in order. */
void expr_names(const struct expr *e, void (*cb)(const char *name, void *arg), void *arg);
/* lookup returns false for a missing value: the result is then ERR_NOT_FOUND, and the message names
 * it. Division by zero and results that are no finite number are ERR_FAILED. */
int expr_eval(const struct expr *e, bool (*lookup)(const char *name, double *ret, void *arg),
	      void *arg, double *ret, struct err *err);
