// SPDX-License-Identifier: GPL-2.0-or-later
// What numbers depend on beside the kernel's code, read from proc and sysfs.
#include "runners/agent/agent.h"

#include <dirent.h>
#include <fcntl.h>

static char *read_small(const char *path, size_t max)
{
	autofree char *text = xmalloc(max + 1);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && len < max && (n = read(fd, text + len, max - len)) > 0)
		len += n;
	text[len] = '\0';
	return take_ptr(&text);
}

char *fact_line(const char *path)
{
	char *text = read_small(path, 4096);

	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* "always [madvise] never" means madvise. */
static void keep_chosen(char *s)
{
	char *open = strchr(s, '['), *close = open ? strchr(open, ']') : NULL;

	if (close) {
		*close = '\0';
		memmove(s, open + 1, strlen(open + 1) + 1);
	}
}

/* The first "key : value" line of /proc/cpuinfo. */
static void cpuinfo_fact(fact_fn *fn, void *arg, const char *name, const char *key)
{
	autofree char *text = read_small("/proc/cpuinfo", 8192);

	for (char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *value = line + strcspn(line, ":\n");

		if (!str_starts(line, key) || *value != ':')
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		fn(arg, FACT_OF_MACHINE, name, value);
		return;
	}
}

/* What the processor's flaws cost: "meltdown=Not affected, spectre_v2=Mitigation: ...", sorted. */
static void mitigations_fact(fact_fn *fn, void *arg)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	autobuf all = {};
	struct dirent **entries;
	int n = scandir(dir, &entries, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			autofree char *path = xasprintf("%s/%s", dir, entries[i]->d_name);
			autofree char *line = fact_line(path);

			buf_printf(&all, "%s%s=%s", all.len ? ", " : "", entries[i]->d_name, line);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	if (all.len)
		fn(arg, FACT_OF_KERNEL, "mitigations", buf_str(&all));
}

void facts_each(fact_fn *fn, void *arg)
{
	static const struct {
		enum fact_of of;
		const char *name, *path;
	} files[] = {
		{FACT_OF_MACHINE, "governor",
		 "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
		{FACT_OF_MACHINE, "no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
		{FACT_OF_MACHINE, "boost", "/sys/devices/system/cpu/cpufreq/boost"},
		{FACT_OF_MACHINE, "smt", "/sys/devices/system/cpu/smt/control"},
		{FACT_OF_KERNEL, "thp", "/sys/kernel/mm/transparent_hugepage/enabled"},
		{FACT_OF_KERNEL, "aslr", "/proc/sys/kernel/randomize_va_space"},
		{FACT_OF_KERNEL, "clocksource",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	};

	cpuinfo_fact(fn, arg, "cpu_model", "model name");
	cpuinfo_fact(fn, arg, "microcode", "microcode");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *line = fact_line(files[i].path);

		keep_chosen(line);
		if (*line)
			fn(arg, files[i].of, files[i].name, line);
	}
	mitigations_fact(fn, arg);
}
