// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzzes what the host reads from a guest: the greeting and the result of a run.
#include "runners/client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct proto_frame frame = {
		.version = PROTO_VERSION, .payload = (const char *)data, .len = size};
	struct agent_hello hello;
	struct run_reply reply = {};
	uint64_t left;

	if (client_decode_hello(&frame, &hello))
		agent_hello_release(&hello);
	if (client_decode_exit(&frame, &reply, &left) && (reply.code < 0 || reply.seconds < 0))
		abort();
	run_reply_release(&reply);
	return 0;
}
