// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as a program's output: finite values or reasons, for every kind of source.
#include "harness/base/fs.h"
#include "harness/measure/parse.h"

#include <math.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char job_text[] =
	"culprit: 1\nrun: {command: x}\nmetrics:\n"
	"  first: {better: lower, pattern: 'r=([0-9.]+)', take: first}\n"
	"  any: {better: lower, pattern: '(\\S+)', take: last, optional: true}\n"
	"  sum: {better: lower, pattern: '\\d+', take: sum, scale: 1e-3}\n"
	"  key: {better: lower, key: k, take: max}\n"
	"  json: {better: lower, json: a.0.b}\n"
	"  derived: {better: lower, derive: (first - key) / json}\n";

static struct job *load(void)
{
	autoclose int fd = memfd_create("job", MFD_CLOEXEC);
	autofree char *path = xasprintf("/proc/self/fd/%d", fd);
	ERR_CLEANUP struct err err = {};
	struct job *job = NULL;

	if (write(fd, job_text, sizeof(job_text) - 1) < 0 || job_load(path, &job, &err) < 0)
		abort();
	return job;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct job *job;
	ERR_CLEANUP struct err err = {};
	struct parsed p = {};
	size_t errors = 0;

	if (!job)
		job = load();
	if (parse_output(job, &job->cells[0], (const char *)data, len, &p, &err) < 0)
		abort();
	for (size_t i = 0; i < p.n; i++) {
		errors += p.values[i].why != NULL;
		if (p.values[i].present ? p.values[i].why || !isfinite(p.values[i].value)
					: !p.values[i].why && !p.values[i].metric->optional)
			abort();
	}
	if (errors != p.n_errors)
		abort();
	parsed_release(&p);
	return 0;
}
