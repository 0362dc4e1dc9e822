// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about this host, for the fingerprint of what is measured on it.
#include "runners/client.h"

#include "runners/agent/agent.h"

#include <sys/utsname.h>

/* No kernel is under test here, so all of it is the machine. */
static void add_fact(void *fingerprint, enum fact_of of, const char *name, const char *value)
{
	json_set_str(fingerprint, name, value);
}

void host_describe(struct json *fingerprint)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	struct utsname uts;

	if (uname(&uts) == 0)
		json_set_str(fingerprint, "host_kernel", uts.release);
	json_set_int(fingerprint, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	json_set_int(fingerprint, "memory_mb",
		     pages > 0 && page > 0 ? (int64_t)pages * page >> 20 : 0);
	facts_each(add_fact, fingerprint);
}
