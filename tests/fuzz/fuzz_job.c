// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a job file: a job or a list of faults, never more.
#include "harness/base/fs.h"
#include "harness/job/job.h"
#include "harness/job/yaml.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What was read and printed reads as the same again. */
static void print_and_read(const uint8_t *data, size_t len)
{
	autodiag d = {};
	autoyaml *root = node_parse((const char *)data, len, "fuzz.yaml", &d), *again = NULL;
	autobuf text = {}, text_again = {};

	if (!root || d.faults.n)
		return;
	node_print(root, &text);
	again = node_parse(buf_str(&text), text.len, "again.yaml", &d);
	if (!again || d.faults.n)
		abort();
	node_print(again, &text_again);
	if (!streq(buf_str(&text), buf_str(&text_again)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	autoclose int fd = memfd_create("fuzz", MFD_CLOEXEC);
	autofree char *path = xasprintf("/proc/self/fd/%d", fd);
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return 0;
	if (job_load(path, &job, &err) == 0 ? job->n_cells == 0 || job->n_metrics == 0
					    : !err.message)
		abort();
	print_and_read(data, len);
	return 0;
}
