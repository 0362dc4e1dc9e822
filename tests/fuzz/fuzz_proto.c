// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzzes the frame reader and the request decoder: the first byte says how the rest comes in
// pieces.
#include "runners/agent/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proto_reader r = {};
	struct proto_frame frame;
	struct proto_run run;
	size_t step = size ? (size_t)data[0] + 1 : 1;

	for (size_t at = 1; at < size; at += step) {
		proto_feed(&r, data + at, MIN(step, size - at));
		while (proto_next(&r, &frame) > 0)
			if (proto_run_decode(&frame, &run))
				proto_run_release(&run);
	}
	/* Behind the checksum, which the fuzzer does not guess. */
	frame = (struct proto_frame){.payload = (const char *)data, .len = size};
	if (proto_run_decode(&frame, &run))
		proto_run_release(&run);
	proto_reader_release(&r);
	return 0;
}
