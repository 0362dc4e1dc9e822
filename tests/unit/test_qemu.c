// SPDX-License-Identifier: GPL-2.0-or-later
// The QEMU runner. What QEMU itself does wrong comes from fakes in PATH; real boots need a kernel
// with built-in 8250 ports, given by CULPRIT_TEST_IMAGE, and are skipped without.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/proc.h"
#include "harness/base/signals.h"
#include "harness/kernel/initramfs.h"
#include "runners/runner.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[] = "/tmp/culprit-qemu.XXXXXX";
static char *real_path;

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* A qemu-system-x86_64 that is this shell script, first in PATH. */
static void fake_qemu(const char *script)
{
	autofree char *path = in_dir("bin/qemu-system-x86_64"), *bin = in_dir("bin");
	autofree char *search = xasprintf("%s:%s", bin, real_path);
	autofree char *text = xasprintf("#!/bin/sh\n%s\n", script);
	struct err err = {};

	if (fs_mkdirs(bin, &err) < 0 || fs_write(path, text, strlen(text), &err) < 0 ||
	    chmod(path, 0755) < 0)
		exit(1);
	setenv("PATH", search, 1);
}

static struct job make_job(enum qemu_accel accel, enum qemu_clock clock)
{
	return (struct job){.runner = RUNNER_QEMU,
			    .is_kernel = true,
			    .qemu = {.cpus = 1,
				     .memory_bytes = 256 << 20,
				     .accel = accel,
				     .clock = clock,
				     .boot_timeout_ns = 60 * NS_PER_S}};
}

struct start {
	struct job job;
	const char *image, *initrd, *cmdline;
	struct boot *boot;
	struct err err;
	int rc;
};

static void start(struct start *s)
{
	autofree char *console = in_dir("con,sole"); /* a comma means something to QEMU */
	const struct boot_spec spec = {.job = &s->job,
				       .image = s->image,
				       .initrd = s->initrd,
				       .cmdline = s->cmdline,
				       .console_log = console,
				       .scratch = dir};

	s->rc = runner_qemu.start(&spec, &s->boot, &s->err);
}

static void finish(struct start *s)
{
	runner_qemu.stop(s->boot);
	err_release(&s->err);
}

static void says(const struct start *s, const char *words, const char *name)
{
	if (!ok(s->err.message && strstr(s->err.message, words), "%s", name))
		diag("%s", s->err.message ? s->err.message : "(no error)");
}

/* A start that fails, and how. */
static void fails(const char *name, struct start *s, enum err_code code, const char *phase,
		  const char *message)
{
	start(s);
	is_int(s->rc, -(int)code, "%s", name);
	is_str(s->err.phase, phase, "in phase %s", phase);
	says(s, message, message);
	finish(s);
	s->boot = NULL;
}

static void broken_qemu(void)
{
	struct start s = {
		.job = make_job(ACCEL_TCG, CLOCK_REAL), .image = "/image", .initrd = "/initrd"};

	setenv("PATH", dir, 1);
	fails("no qemu at all", &s, ERR_INFRA, "power", "qemu-system-x86_64");
	fake_qemu("echo 'qemu: could not load kernel' >&2; exit 1");
	fails("a qemu that refuses", &s, ERR_INFRA, "power",
	      "qemu exited with 1: qemu: could not load kernel");
	fake_qemu("kill -SEGV $$");
	fails("a qemu that dies", &s, ERR_INFRA, "power", "qemu was killed by signal 11");
}

#define CONSOLE                                                                                    \
	"for a; do case $a in file,id=console,path=*) c=${a#*path=};; esac; done; "                \
	"c=$(echo \"$c\" | sed 's/,,/,/g'); "

static void guests_that_hang(void)
{
	struct start s = {
		.job = make_job(ACCEL_TCG, CLOCK_REAL), .image = "/image", .initrd = "/initrd"};

	s.job.qemu.boot_timeout_ns = 300 * NS_PER_MS;
	fake_qemu("exec sleep 1000");
	fails("silence", &s, ERR_UNTESTABLE, "boot",
	      "neither the console nor the agent spoke for 300ms");
	fake_qemu(CONSOLE "while :; do echo tick >>\"$c\"; sleep 0.05; done");
	fails("chatter", &s, ERR_UNTESTABLE, "boot", "no word from the agent");
	s.job.qemu.boot_timeout_ns = 60 * NS_PER_S;
	fake_qemu(CONSOLE "yes 'a line' | head -c 70000000 >\"$c\"; exec sleep 1000");
	fails("a flood", &s, ERR_UNTESTABLE, "boot", "more than 64 MB");
	fake_qemu(CONSOLE "printf 'early\\nBUG: \\033[31mred\\n' >\"$c\"; exit 0");
	fails("an end without a reason", &s, ERR_INFRA, "power", "BUG: ?[31mred");
}

static void what_qmp_says(void)
{
	struct start s = {
		.job = make_job(ACCEL_TCG, CLOCK_REAL), .image = "/image", .initrd = "/initrd"};

	fake_qemu(
		"echo '{\"QMP\": {}}'; echo '{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, "
		"\"reason\": \"guest-reset\"}}'");
	fails("a guest that resets", &s, ERR_UNTESTABLE, "boot",
	      "the guest restarted before the agent spoke");
	fake_qemu(CONSOLE
		  "echo 'Kernel panic - not syncing: oh' >\"$c\"; "
		  "echo '{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": \"guest-reset\"}}'");
	fails("one that panics", &s, ERR_UNTESTABLE, "boot",
	      "the kernel panicked before the agent spoke");
	fake_qemu("echo '{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": \"host-signal\"}}'");
	fails("a qemu that was told to end", &s, ERR_INFRA, "power", "qemu exited with 0");
	/* fd 0 is the agent's socket and fd 1 the monitor: the answer is read where the question
	 * comes */
	fake_qemu("echo '{\"event\": \"STOP\"}'; read line <&1; "
		  "case $line in *query-status*) echo '{\"return\": {\"status\": "
		  "\"internal-error\"}}';; esac; "
		  "exec sleep 1000");
	fails("a machine that stops", &s, ERR_INFRA, "boot",
	      "the virtual machine stopped (internal-error)");
}

/* In a process of its own, since the answer is kept for its life. */
static int kvm_works(const char *expect)
{
	int status = 0;

	fflush(stdout);
	if (fork() == 0) {
		autofree char *why = NULL, *again = NULL;
		int works = qemu_kvm_works(&why);

		if (!works && expect && !strstr(why, expect)) {
			diag("%s", why);
			_exit(2);
		}
		setenv("PATH", "/nonexistent", 1);
		_exit(qemu_kvm_works(&again) == works ? works : 3);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void kvm(void)
{
	autofree char *as_tcg =
		xasprintf("PATH='%s'; n=$#; for a; do "
			  "[ \"$a\" = kvm ] && a=tcg; set -- \"$@\" \"$a\"; done; shift $n; "
			  "exec qemu-system-x86_64 \"$@\"",
			  real_path);
	struct start s = {
		.job = make_job(ACCEL_KVM, CLOCK_REAL), .image = "/image", .initrd = "/initrd"};
	char *machine = NULL;

	fake_qemu("exec sleep 1000");
	is_int(kvm_works("no sign of life"), 0,
	       "KVM whose guest hangs in the firmware does not work");
	fake_qemu("echo 'Could not access KVM kernel module' >&2; exit 1");
	is_int(kvm_works("qemu exited with 1: Could not access KVM kernel module"), 0,
	       "nor one that is not there");
	fake_qemu("exit 0");
	is_int(kvm_works("qemu exited with 0"), 0, "nor one whose guest says nothing");
	if (fs_exists("/usr/bin/qemu-system-x86_64")) {
		fake_qemu(as_tcg);
		is_int(kvm_works(NULL), 1, "a guest that comes to life proves it (under TCG here)");
	} else {
		skip("no qemu-system-x86_64");
	}
	fake_qemu("exit 1");
	fails("KVM asked for and not there", &s, ERR_INFRA, "power", "KVM does not work here");
	is_int(runner_qemu.machine(&s.job, &machine, &s.err), -ERR_INFRA, "has no machine");
	err_release(&s.err);
	s.job = make_job(ACCEL_AUTO, CLOCK_REAL);
	is_int(runner_qemu.machine(&s.job, &machine, &s.err), 0, "auto has one");
	is_str(machine, "qemu-tcg", "the emulated one");
	free(machine);
	s.job = make_job(ACCEL_AUTO, CLOCK_ICOUNT);
	is_int(runner_qemu.machine(&s.job, &machine, &s.err), 0, "virtual time has one");
	is_str(machine, "qemu-tcg-icount", "of its own");
	free(machine);
}

/* --- real boots --- */

static char *image, *initrd;

static struct start boot_with(enum qemu_clock clock, const char *cmdline)
{
	struct start s = {.job = make_job(ACCEL_TCG, clock),
			  .image = image,
			  .initrd = initrd,
			  .cmdline = cmdline};

	return s;
}

static bool up(struct start *s)
{
	start(s);
	if (!ok(s->rc == 0, "a kernel boots"))
		diag("%s", s->err.message);
	return s->rc == 0;
}

/* Runs a script in the guest; *ret_reply is the caller's when it returns 0. */
static int run(struct start *s, const char *script, int64_t timeout_ns, struct run_reply *ret_reply)
{
	const struct run_request request = {.argv = (const char *const[]){"sh", "-c", script, NULL},
					    .timeout_ns = timeout_ns,
					    .output_max = 1 << 20};

	err_release(&s->err);
	return boot_run(s->boot, &request, ret_reply, &s->err);
}

static void prints(struct start *s, const char *script, const char *want, const char *name)
{
	struct run_reply reply = {};

	if (run(s, script, 60 * NS_PER_S, &reply) < 0)
		ok(false, "%s: %s", name, s->err.message);
	else
		is_str(buf_str(&reply.output), want, "%s", name);
	run_reply_release(&reply);
}

static void a_guest(void)
{
	struct start s = boot_with(CLOCK_REAL, "culprit.test=1");
	struct run_reply reply = {};
	const struct agent_hello *hello;

	if (!up(&s))
		return;
	hello = boot_hello(s.boot);
	ok(strstr(hello->cmdline, " culprit.test=1"), "with the command line that was asked for");
	ok(str_starts(hello->notes, "vmlinux ") && strlen(hello->notes) >= 48,
	   "it proves its identity");
	is_int(hello->cpus, 1, "processors");
	ok(hello->memory_bytes < 256 << 20, "memory");
	prints(&s, "echo rate=nan; echo err >&2", "rate=nan\nerr\n",
	       "a program's output comes as it is");
	prints(&s, "cat /proc/1/comm; cat /proc/sys/kernel/hostname; readlink /proc/self/fd/0",
	       "init\nculprit\n/dev/null\n", "the agent is the first process");
	prints(&s,
	       "for d in /proc /sys /dev /tmp /run /dev/shm; do grep -c \" $d \" /proc/mounts; "
	       "done",
	       "1\n1\n1\n1\n1\n1\n", "what programs expect is mounted");
	prints(&s,
	       "for a in 127.0.0.1 192.0.2.1; do ping -c 1 -W 60 $a >/dev/null && echo $a; done",
	       "127.0.0.1\n192.0.2.1\n", "loopback is up, with both addresses");
	prints(&s, "kill -9 1; kill -SEGV 1; sleep 1000 & setsid sleep 1000 & echo still here",
	       "still here\n", "a program tries to kill the agent");
	prints(&s, "ps -o args | grep -c '^sleep'", "0\n", "and leaves nothing behind");
	if (run(&s, "yes | head -c 200000", 60 * NS_PER_S, &reply) == 0)
		is_int(reply.output.len, 200000, "much output comes through the port");
	run_reply_release(&reply);
	if (run(&s, "while :; do echo noise >/dev/console; done", NS_PER_S, &reply) == 0)
		is_int(reply.end, RUN_DEADLINE,
		       "a program that floods the console meets its deadline");
	run_reply_release(&reply);
	is_int(run(&s, "reboot -f; sleep 100", 60 * NS_PER_S, &reply), -ERR_FAILED,
	       "one reboots the guest");
	is_str(s.err.phase, "run", "which fails the run");
	says(&s, "the guest restarted during the run", "and says so");
	finish(&s);
}

static void panic_in_a_run(void)
{
	struct start s = boot_with(CLOCK_REAL, NULL);
	struct run_reply reply = {};

	if (!up(&s))
		return;
	if (run(&s, "test -w /proc/sysrq-trigger", 60 * NS_PER_S, &reply) == 0 && reply.code == 0) {
		is_int(run(&s, "echo c >/proc/sysrq-trigger", 60 * NS_PER_S, &reply), -ERR_FAILED,
		       "a program crashes the kernel");
		says(&s, "the kernel panicked during the run", "which is told");
		says(&s, "Kernel panic - not syncing: ", "with the kernel's last words");
	} else {
		skip("this kernel has no sysrq");
	}
	run_reply_release(&reply);
	finish(&s);
}

static void bad_boots(void)
{
	struct start s = boot_with(CLOCK_REAL, "rdinit=/bin/false");

	fails("a kernel that panics", &s, ERR_UNTESTABLE, "boot",
	      "the kernel panicked before the agent spoke");
	s = boot_with(CLOCK_REAL, "culprit.port=no-such-port");
	fails("a kernel without the agent's port", &s, ERR_UNTESTABLE, "boot",
	      "cannot open /dev/no-such-port");
	s = boot_with(CLOCK_REAL, "rdinit=/bin/sh");
	s.job.qemu.boot_timeout_ns = 15 * NS_PER_S;
	fails("a guest that hangs", &s, ERR_UNTESTABLE, "boot",
	      "neither the console nor the agent spoke");
	s = boot_with(CLOCK_REAL, "rdinit=/bin/busybox -- yes 'for ever'");
	s.job.qemu.boot_timeout_ns = 5 * NS_PER_S;
	fails("a guest that hangs while it prints", &s, ERR_UNTESTABLE, "boot",
	      "no word from the agent");
	s = boot_with(CLOCK_REAL, NULL);
	s.image = "/dev/null";
	fails("an image that is none", &s, ERR_INFRA, "power", "qemu exited with 1");
}

static void virtual_time(void)
{
	static const char loop[] = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
	struct start s = boot_with(CLOCK_ICOUNT, NULL);
	struct run_reply reply = {};
	double times[3] = {};

	if (!up(&s))
		return;
	for (int i = 0; i < 3; i++) {
		is_int(run(&s, loop, 100 * NS_PER_S, &reply), 0, "a loop in virtual time");
		times[i] = reply.seconds;
		run_reply_release(&reply);
	}
	ok(fabs(times[1] - times[2]) < 0.02 * times[1], "takes the same time twice: %f, %f",
	   times[1], times[2]);
	is_int(run(&s, "sleep 600", 1000 * NS_PER_S, &reply), 0, "ten minutes of sleep");
	ok(reply.seconds >= 600 && reply.seconds < 606, "are ten minutes there: %f", reply.seconds);
	run_reply_release(&reply);
	is_int(run(&s, "sleep 600", 10 * NS_PER_S, &reply), 0, "or a deadline");
	is_int(reply.end, RUN_DEADLINE, "by the guest's clock");
	run_reply_release(&reply);
	finish(&s);
}

static void real_boots(void)
{
	autofree char *cache = in_dir("cache"), *agent = NULL;
	struct err err = {};

	setenv("PATH", real_path, 1);
	image = getenv("CULPRIT_TEST_IMAGE");
	if (!image) {
		skip("no kernel image in CULPRIT_TEST_IMAGE");
		return;
	}
	if (agent_path(&agent, &err) < 0 ||
	    initramfs_make(cache, agent, NULL, NULL, &initrd, &err) < 0) {
		ok(false, "an initramfs: %s", err.message);
		return;
	}
	a_guest();
	panic_in_a_run();
	bad_boots();
	virtual_time();
	free(initrd);
}

/* Last: the signal stays asked for. */
static void stop_signal(void)
{
	struct start s = {
		.job = make_job(ACCEL_TCG, CLOCK_REAL), .image = "/image", .initrd = "/initrd"};

	fake_qemu("kill -TERM $(awk '{print $4}' /proc/$PPID/stat); exec sleep 1000");
	start(&s);
	is_int(s.rc, -ERR_INTERRUPTED, "a stop signal ends a boot");
	finish(&s);
}

int main(void)
{
	struct err err = {};

	real_path = xstrdup(getenv("PATH"));
	signals_init();
	if (!mkdtemp(dir))
		return 1;
	broken_qemu();
	guests_that_hang();
	what_qmp_says();
	kvm();
	real_boots();
	stop_signal();
	is_int(fs_remove_tree(dir, &err), 0, "and all is cleared away");
	free(real_path);
	return plan_done();
}
