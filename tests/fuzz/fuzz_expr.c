// SPDX-License-Identifier: GPL-2.0-or-later
// Any text as arithmetic: a finite result or a reason.
#include "harness/base/util.h"
#include "harness/job/expr.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool lookup(const char *name, double *ret, void *arg)
{
	*ret = (double)strlen(name) - 3;
	return *name != 'q';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autofree char *text = xmalloc(len + 1);
	ERR_CLEANUP struct err err = {};
	struct expr *e = NULL;
	double v = 0;
	int rc;

	memcpy(text, data, len);
	text[len] = '\0';
	rc = expr_parse(text, &e, &err);
	if (rc == 0)
		rc = expr_eval(e, lookup, NULL, &v, &err);
	if (rc == 0 ? !isfinite(v) : !err.message)
		abort();
	expr_free(e);
	return 0;
}
