// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a model of `culprit simulate`: one that may be simulated or a list of faults.
#include "harness/base/err.h"
#include "harness/search/sim_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autofree char *text = xmalloc(len + 1);
	ERR_CLEANUP struct err err = {};
	struct sim_model m;

	memcpy(text, data, len);
	text[len] = '\0';
	if (sim_model_parse(text, len, "fuzz.yaml", &m, &err) == 0 ? sim_model_check(&m, &err) < 0
								   : !err.message)
		abort();
	return 0;
}
