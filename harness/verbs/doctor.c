// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit doctor`: what this machine lacks, and what would disturb a measurement.

#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/verbs/verbs.h"
#include "runners/runner.h"

enum finding { FINE, NOTE, MISSING };

struct exam {
	struct json *list;
	int missing, notes;
	bool json;
};

static void say(struct exam *e, enum finding finding, const char *what, const char *detail,
		const char *fix)
{
	static const char *const words[] = {"ok", "note", "missing"};
	struct json *row = json_push(e->list, json_object_new());

	json_set_str(row, "check", what);
	json_set_str(row, "status", words[finding]);
	json_set_str(row, "detail", detail);
	json_set_str(row, "fix", fix);
	e->missing += finding == MISSING;
	e->notes += finding == NOTE;
	if (e->json)
		return;
	printf("%-8s %-14s %s\n", words[finding], what, detail);
	if (fix && *fix && finding != FINE)
		printf("%-8s %-14s   %s\n", "", "", fix);
}

/* program, what for, Debian package; a missing optional one is only a note */
static const struct tool {
	const char *program, *purpose, *package;
	bool optional;
} tools[] = {
	{"git", "reads repositories and makes worktrees", "git"},
	{"make", "builds kernels", "make"},
	{"gcc", "builds kernels", "gcc"},
	{"ld", "builds kernels", "binutils"},
	{"flex", "builds kernels", "flex"},
	{"bison", "builds kernels", "bison"},
	{"bc", "builds kernels", "bc"},
	{"qemu-system-x86_64", "boots kernels", "qemu-system-x86"},
	{"busybox", "the guest's shell and tools", "busybox-static"},
	{"ccache", "makes rebuilds of the same source quick", "ccache", true},
	{"hackbench", "the job hackbench", "rt-tests", true},
};

static void examine_tools(struct exam *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		const struct tool *t = &tools[i];
		autofree char *path = fs_find_program(t->program);
		autofree char *fix = xasprintf("apt-get install %s", t->package);
		autofree char *lack = xasprintf("not found; %s", t->purpose);

		say(e,
		    path	  ? FINE
		    : t->optional ? NOTE
				  : MISSING,
		    t->program, path ? path : lack, fix);
	}
}

static void examine_agent(struct exam *e)
{
	ERR_CLEANUP struct err err = {};
	autofree char *path = NULL;

	if (agent_path(&path, &err) == 0)
		say(e, FINE, "agent", path, "");
	else
		say(e, MISSING, "agent", err.message, "make, or make install");
}

static void examine_kvm(struct exam *e)
{
	autofree char *why = NULL;

	if (!fs_exists("/dev/kvm"))
		say(e, NOTE, "kvm", "no /dev/kvm: guests run under TCG, which is slow",
		    "load kvm_intel or kvm_amd, or allow nested virtualisation");
	else if (qemu_kvm_works(&why) == 1)
		say(e, FINE, "kvm", "a guest really ran with it", "");
	else
		say(e, NOTE, "kvm", why ? why : "does not work",
		    "guests run under TCG, which is slow");
}

/* one line of a sysfs file, or NULL where this machine has none */
static char *sysfs_line(const char *path)
{
	ERR_CLEANUP struct err err = {};
	autobuf text = {};

	if (!fs_exists(path) || fs_read(path, 4096, &text, &err) < 0)
		return NULL;
	buf_truncate(&text, strcspn(buf_str(&text), "\n"));
	return buf_take(&text);
}

/* a knob that should have one value for steady measurements; only of interest to the local runner
 */
static void examine_knob(struct exam *e, const char *what, const char *path, const char *steady,
			 const char *fix)
{
	autofree char *value = sysfs_line(path);

	if (!value)
		say(e, FINE, what, "this machine has no such knob", "");
	else
		say(e, streq(value, steady) ? FINE : NOTE, what, value, fix);
}

static void examine_noise(struct exam *e)
{
	autofree char *irqbalance = sysfs_line("/run/irqbalance.pid");

	examine_knob(e, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		     "performance", "cpupower frequency-set -g performance");
	examine_knob(e, "turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo", "1",
		     "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
	examine_knob(e, "boost", "/sys/devices/system/cpu/cpufreq/boost", "0",
		     "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
	examine_knob(e, "smt", "/sys/devices/system/cpu/smt/active", "0",
		     "echo off > /sys/devices/system/cpu/smt/control");
	say(e, irqbalance ? NOTE : FINE, "irqbalance",
	    irqbalance ? "runs and moves interrupts" : "does not run", "systemctl stop irqbalance");
}

static void examine_disk(struct exam *e, const char *what, const char *dir, uint64_t wanted)
{
	ERR_CLEANUP struct err err = {};
	autofree char *at = xstrdup(dir), *text = NULL;
	uint64_t free_bytes = 0;

	while (!fs_exists(at) && strrchr(at, '/') > at)
		*strrchr(at, '/') = '\0';
	if (fs_free_bytes(at, &free_bytes, &err) < 0) {
		say(e, MISSING, what, err.message, "");
		return;
	}
	text = xasprintf("%.1f GiB free below %s", (double)free_bytes / (1 << 30), dir);
	say(e, free_bytes >= wanted ? FINE : NOTE, what, text,
	    "culprit gc, or another --cache and --state");
}

int verb_doctor(struct ctx *ctx, int argc, char **argv)
{
	struct exam e = {.list = json_array_new(), .json = ctx->json};
	int status = 0;

	if (verb_options(ctx, NULL, argc, argv, 0, 0, &status) < 0) {
		json_free(e.list);
		return status;
	}
	e.json = ctx->json;
	examine_tools(&e);
	examine_agent(&e);
	examine_kvm(&e);
	examine_noise(&e);
	examine_disk(&e, "cache", ctx->cache_dir, (uint64_t)8 << 30);
	examine_disk(&e, "state", ctx->state_dir, (uint64_t)1 << 30);
	if (ctx->json) {
		struct json *document = verb_document();

		json_set_bool(document, "ready", !e.missing);
		json_set(document, "checks", e.list);
		verb_print_json(document);
	} else {
		json_free(e.list);
		printf("\n%s", e.missing ? "not ready: install what is missing\n" : "ready\n");
	}
	return e.missing ? 1 : 0;
}
