// SPDX-License-Identifier: GPL-2.0-or-later
// culprit: finds the verb and gives it the global options.

#include "harness/base/log.h"
#include "harness/base/signals.h"
#include "harness/verbs/verbs.h"

#include <locale.h>

int main(int argc, char **argv)
{
	struct ctx ctx = { .argv = argv };
	ERR_CLEANUP struct err err = {};
	int status;

	setlocale(LC_ALL, "C");
	signals_init();
	status = ctx_start(&ctx, &argc, &argv, &err);
	if (status < 0)
		status = verb_fail(&ctx, &err);
	else if (ctx.verb)
		status = ctx.verb->run(&ctx, argc, argv);
	ctx_end(&ctx);
	return status;
}
