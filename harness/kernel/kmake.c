// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's make.
#include "harness/kernel/kmake.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/proc.h"
#include "harness/kernel/buildlog.h"

#include <sched.h>
#include <sys/stat.h>

#define FREE_MIN_BYTES                                                                             \
	(16u << 20) /* less left after a failure means that the disk was the reason */

static int usable_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
}

/*
 * Paths of this cache are mapped away wherever a compiler writes them (__FILE__, debug
 * information), so that another cache gives the same build-ids. KCFLAGS comes last on the
 * compiler's command line, after what the config chose, and so does its alignment.
 */
static void add_arguments(const struct kmake *k, const char *out, char ***argv)
{
	const char *ccache = k->tools->ccache ? "ccache " : "";
	autofree char *map =
		xasprintf("-ffile-prefix-map=%s/= -ffile-prefix-map=%s=.", k->src, k->obj);
	autofree char *debug_map =
		xasprintf("-fdebug-prefix-map=%s/= -fdebug-prefix-map=%s=.", k->src, k->obj);

	strv_push(argv, "make");
	strv_pushf(argv, "-j%d", usable_cpus());
	strv_pushf(argv, "O=%s", out);
	strv_pushf(argv, "ARCH=%s", k->options->arch);
	strv_pushf(argv, "CC=%s%s", ccache, k->tools->cc);
	strv_pushf(argv, "HOSTCC=%s%s", ccache, k->tools->cc);
	strv_pushf(argv, "KCFLAGS=%s%s", map, k->options->aligned ? " -falign-functions=64" : "");
	strv_pushf(argv, "KAFLAGS=%s", debug_map);
}

static int64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (int64_t)st.st_size;
}

static int deadline_error(struct kmake *k, int64_t log_start, struct err *err)
{
	autofree char *last = buildlog_last_line(k->log_path, log_start);
	char limit[32];

	k->diagnosed = true;
	err_set(err, ERR_UNTESTABLE, "the build did not end within %s; its last line: %s",
		clock_format_duration((double)k->options->timeout_ns / NS_PER_S, limit),
		*last ? last : "(nothing)");
	return -ERR_UNTESTABLE;
}

static int explain_failure(struct kmake *k, int64_t log_start, const struct proc_result *end,
			   struct err *err)
{
	ERR_CLEANUP struct err ignored = {};
	uint64_t left = UINT64_MAX;
	char text[96];
	int rc;

	if (end->end == PROC_DEADLINE)
		rc = deadline_error(k, log_start, err);
	else
		rc = buildlog_explain(k->log_path, log_start, k->src, &k->diagnosed, err);
	fs_free_bytes(k->cache_dir, &left, &ignored);
	if (rc == -ERR_UNTESTABLE && left < FREE_MIN_BYTES) {
		rc = err_set(err, ERR_DISK_FULL, "the disk of '%s' is full", k->cache_dir);
		err_hint(err, "free some space ('culprit gc' removes old artefacts) and run the "
			      "same again");
	} else if (rc == -ERR_UNTESTABLE && end->end == PROC_SIGNALED) {
		rc = err_set(err, ERR_INFRA, "make %s", proc_describe(end, text));
	}
	err_phase(err, "build");
	return rc;
}

int kmake_run(struct kmake *k, const char *out, const char *const *args, struct err *err)
{
	autostrv char **argv = NULL;
	autostrv char **env = toolchain_environment();
	struct proc_spec spec = {
		.cwd = k->src,
		.env = (const char *const *)env,
		.log_path = k->log_path,
		.deadline_ns = k->deadline_ns,
		.what = "make",
	};
	int64_t log_start = file_bytes(k->log_path);
	struct proc_result end = {};
	int rc;

	add_arguments(k, out, &argv);
	for (size_t i = 0; args[i]; i++)
		strv_push(&argv, args[i]);
	spec.argv = (const char *const *)argv;
	rc = proc_run(&spec, NULL, NULL, 0, &end, err);
	if (rc)
		return rc;
	if (end.end == PROC_EXITED && end.code == 0)
		return 0;
	return explain_failure(k, log_start, &end, err);
}

bool kmake_deadline_passed(const struct kmake *k)
{
	return clock_now_ns() >= k->deadline_ns;
}
