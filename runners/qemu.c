// SPDX-License-Identifier: GPL-2.0-or-later
// The QEMU runner: a kernel booted directly, the agent as its first process on a port of its own.
#include "runners/client.h"
#include "runners/qmp.h"

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* A guest that prints without end must not fill the disk. */
static const off_t max_console_bytes = 64 << 20;

/*
 * Virtual time for -icount: 8 ns an instruction, and sleep=off, so that an idle guest's clock jumps
 * to its next timer: nothing that the guest can see depends on how busy this host is. While the
 * guest waits for us its clock would race ahead by minutes, so there the agent waits busily
 * (culprit.wait).
 */
#define ICOUNT "shift=3,sleep=off"

/* How much longer than the job says a boot may take under emulation. */
enum { TCG_PATIENCE = 3 };

struct qemu_boot {
	struct boot boot;
	struct proc qemu;
	struct qmp qmp;
	char *log; /* what QEMU itself says */
	int64_t silence_ns, heard_ns;
	off_t console_bytes;
};

/* --- how it ends --- */

static bool console_has(const struct boot *boot, const char *text)
{
	autofree char *tail = boot_console_tail(boot, 16384);

	return strstr(tail, text) != NULL;
}

static int guest_ended(struct qemu_boot *q, bool running, struct err *err)
{
	const char *what = "the guest restarted";

	if (console_has(&q->boot, "Kernel panic"))
		what = "the kernel panicked";
	else if (streq(q->qmp.reason, "guest-shutdown"))
		what = "the guest shut down";
	return err_set(err, running ? ERR_FAILED : ERR_UNTESTABLE, "%s %s", what,
		       running ? "during the run" : "before the agent spoke");
}

/* Last line of QEMU's own messages. */
static char *last_words(const struct qemu_boot *q)
{
	autoclose int fd = open(q->log, O_RDONLY | O_CLOEXEC);
	autobuf safe = {};
	char text[4096], *line;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[MAX(n, 0)] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	buf_add_safe(&safe, line, strlen(line), 300, false);
	return buf_take(&safe);
}

static int qemu_gone(struct boot *boot, bool running, struct err *err)
{
	struct qemu_boot *q = container_of(boot, struct qemu_boot, boot);
	autofree char *said = NULL;
	struct proc_result result;
	char how[96];

	q->qemu.deadline_ns = clock_deadline_ns(10 * NS_PER_S);
	if (proc_wait(&q->qemu, &result, err) < 0)
		return -(int)err->code;
	qmp_drain(&q->qmp);
	if (q->qmp.by_guest)
		return guest_ended(q, running, err);
	said = last_words(q);
	err_set(err, ERR_INFRA, "qemu %s%s%s", proc_describe(&result, how), *said ? ": " : "",
		said);
	err_phase(err, "power");
	return -ERR_INFRA;
}

/* The console: growing means alive, growing without end means hanging in another way. */
static int qemu_check(struct boot *boot, bool running, struct err *err)
{
	struct qemu_boot *q = container_of(boot, struct qemu_boot, boot);
	enum err_code code = running ? ERR_FAILED : ERR_UNTESTABLE;
	char took[32];
	struct stat st;

	if (q->qmp.stopped[0])
		return err_set(err, ERR_INFRA, "the virtual machine stopped (%s)", q->qmp.stopped);
	if (boot->console_log && stat(boot->console_log, &st) == 0 &&
	    st.st_size != q->console_bytes) {
		q->console_bytes = st.st_size;
		q->heard_ns = clock_now_ns();
	}
	if (q->console_bytes > max_console_bytes)
		return err_set(err, code, "the guest printed more than %lld MB on its console",
			       (long long)(max_console_bytes >> 20));
	if (boot->seconds == 0 && clock_now_ns() - q->heard_ns > q->silence_ns)
		return err_set(err, code, "neither the console nor the agent spoke for %s",
			       clock_format_duration(q->silence_ns / 1e9, took));
	return 0;
}

static void qemu_free(struct qemu_boot *q)
{
	free(q->log);
	free(q);
}

static void qemu_stop(struct boot *boot)
{
	struct qemu_boot *q = container_of(boot, struct qemu_boot, boot);

	/* There is nothing in it to keep, so it is not asked. */
	proc_kill(&q->qemu);
	qmp_release(&q->qmp);
	boot_release(boot);
	qemu_free(q);
}

static const struct boot_kind qemu_kind = {
	.boot_failure = ERR_UNTESTABLE,
	.gone = qemu_gone,
	.check = qemu_check,
	.stop = qemu_stop,
};

/* --- how it starts --- */

/* Says so once, since every boot asks. */
static void warn_of_tcg(const char *why)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&said))
		log_warn("KVM does not work here: %s; kernels run under emulation (TCG), whose "
			 "numbers are never compared with those of KVM",
			 why);
}

static int choose_accel(const struct job *job, bool *ret_kvm, struct err *err)
{
	autofree char *why = NULL;

	*ret_kvm = false;
	if (job->qemu.clock == CLOCK_ICOUNT || job->qemu.accel == ACCEL_TCG)
		return 0;
	*ret_kvm = qemu_kvm_works(&why);
	if (*ret_kvm)
		return 0;
	if (job->qemu.accel == ACCEL_KVM) {
		err_set(err, ERR_INFRA, "KVM does not work here: %s", why);
		err_hint(err, "'qemu: {accel: auto}' falls back to emulation");
		err_phase(err, "power");
		return -ERR_INFRA;
	}
	warn_of_tcg(why);
	return 0;
}

/* In QEMU's option lists a comma is written twice. */
static void push_file_chardev(char ***argv, const char *id, const char *path)
{
	autobuf arg = {};

	buf_printf(&arg, "file,id=%s,path=", id);
	for (; *path; path++)
		buf_adds(&arg, *path == ',' ? ",," : (char[]){*path, '\0'});
	strv_push(argv, "-chardev");
	strv_push(argv, buf_str(&arg));
}

static void push_all(char ***argv, const char *const *args)
{
	for (; *args; args++)
		strv_push(argv, *args);
}

/* The agent's port comes as descriptor 0 and the monitor as 1: no socket path to be too long or in
 * anybody's way, and nothing to connect to. */
static char **make_argv(const struct boot_spec *spec, bool kvm)
{
	const struct qemu_options *o = &spec->job->qemu;
	bool icount = o->clock == CLOCK_ICOUNT;
	const char *cmdline = spec->cmdline ? spec->cmdline : spec->job->kernel.cmdline;
	char **argv = NULL;

	push_all(&argv, (const char *const[]){"qemu-system-x86_64", "-nodefaults",
					      "-no-user-config", "-display", "none", "-no-reboot",
					      "-accel", kvm ? "kvm" : "tcg", NULL});
	if (kvm)
		push_all(&argv, (const char *const[]){"-cpu", "host", NULL});
	if (icount)
		push_all(&argv, (const char *const[]){"-icount", ICOUNT, "-rtc", "clock=vm", NULL});
	strv_push(&argv, "-smp");
	strv_pushf(&argv, "%u", o->cpus);
	strv_push(&argv, "-m");
	strv_pushf(&argv, "%lluM", (unsigned long long)(o->memory_bytes >> 20));
	push_all(&argv, (const char *const[]){"-kernel", spec->image, "-initrd", spec->initrd,
					      "-append", NULL});
	strv_pushf(&argv, "console=ttyS0 panic=-1 oops=panic culprit.port=ttyS1%s %s",
		   icount ? " culprit.wait=spin" : "", cmdline ? cmdline : "");
	push_file_chardev(&argv, "console", spec->console_log);
	push_all(&argv, (const char *const[]){"-device", "isa-serial,chardev=console,index=0",
					      "-chardev", "socket,id=agent,fd=0", "-device",
					      "isa-serial,chardev=agent,index=1", "-chardev",
					      "socket,id=qmp,fd=1", "-mon",
					      "chardev=qmp,mode=control", NULL});
	for (char **a = o->args; a && *a; a++)
		strv_push(&argv, *a);
	return argv;
}

/* Two socket pairs; ours first. */
static int make_sockets(int agent[2], int qmp[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, agent) < 0)
		return err_errno(err, "cannot make a socket pair");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, qmp) < 0) {
		err_errno(err, "cannot make a socket pair");
		close(agent[0]);
		close(agent[1]);
		return -(int)err->code;
	}
	return 0;
}

static int create_file(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	return fd < 0 ? err_errno(err, "cannot write '%s'", path) : fd;
}

/* Starts the process. On success the caller owns ret_agent_fd and ret_qmp_fd. */
static int start_qemu(struct qemu_boot *q, const struct boot_spec *spec, bool kvm,
		      int *ret_agent_fd, int *ret_qmp_fd, struct err *err)
{
	autostrv char **argv = make_argv(spec, kvm);
	autoclose int log_fd = create_file(q->log, err);
	autoclose int console_fd = create_file(spec->console_log, err); /* no old one is read */
	int agent[2], qmp[2], rc;

	if (log_fd < 0 || console_fd < 0)
		return -(int)err->code;
	rc = make_sockets(agent, qmp, err);
	if (rc < 0)
		return rc;
	rc = proc_start(
		&(struct proc_spec){
			.argv = (const char *const *)argv,
			.stdin_fd = agent[1],
			.stdout_fd = qmp[1],
			.stderr_fd = log_fd,
			.deadline_ns = NO_DEADLINE,
			.what = "qemu",
		},
		&q->qemu, err);
	close(agent[1]);
	close(qmp[1]);
	if (rc < 0) {
		close(agent[0]);
		close(qmp[0]);
		return rc;
	}
	*ret_agent_fd = agent[0];
	*ret_qmp_fd = qmp[0];
	return 0;
}

/* Emulation is slower than the job's author thought, and virtual time is not ours. */
static void set_limits(struct qemu_boot *q, const struct job *job, bool kvm)
{
	q->silence_ns = job->qemu.boot_timeout_ns;
	q->heard_ns = clock_now_ns();
	if (job->qemu.clock == CLOCK_ICOUNT) {
		q->boot.clock_factor = 10;
		q->boot.grace_ns = 60 * NS_PER_S;
	} else if (!kvm) {
		q->boot.clock_factor = 1.5;
	}
}

/* What kept QEMU from starting is the lab's fault, whatever it was, unless it can be waited for. */
static int no_qemu(struct err *err)
{
	if (err->code == ERR_NOT_FOUND)
		err_hint(err, "apt-get install qemu-system-x86 seabios");
	if (err->code != ERR_INTERRUPTED && err->code != ERR_DISK_FULL)
		err->code = ERR_INFRA;
	err_phase(err, "power");
	return -(int)err->code;
}

static int qemu_start(const struct boot_spec *spec, struct boot **ret, struct err *err)
{
	int64_t limit_ns = spec->job->qemu.boot_timeout_ns;
	struct qemu_boot *q;
	int agent_fd = -1, qmp_fd = -1, rc;
	bool kvm;

	rc = choose_accel(spec->job, &kvm, err);
	if (rc < 0)
		return rc;
	q = xcalloc(1, sizeof(*q));
	q->log = xasprintf("%s/qemu.log", spec->scratch);
	rc = start_qemu(q, spec, kvm, &agent_fd, &qmp_fd, err);
	if (rc < 0) {
		qemu_free(q);
		return no_qemu(err);
	}
	boot_init(&q->boot, &qemu_kind, agent_fd);
	q->boot.console_log = xstrdup(spec->console_log);
	qmp_init(&q->qmp, qmp_fd, q->boot.loop);
	set_limits(q, spec->job, kvm);
	rc = boot_greet(&q->boot, clock_deadline_ns(kvm ? limit_ns : TCG_PATIENCE * limit_ns), err);
	if (rc < 0) {
		qemu_stop(&q->boot);
		return rc;
	}
	*ret = &q->boot;
	return 0;
}

/* --- what it is --- */

static int qemu_machine(const struct job *job, char **ret, struct err *err)
{
	bool kvm;
	int rc = choose_accel(job, &kvm, err);

	if (rc < 0)
		return rc;
	if (kvm)
		*ret = xstrdup("qemu-kvm");
	else
		*ret = xstrdup(job->qemu.clock == CLOCK_ICOUNT ? "qemu-tcg-icount" : "qemu-tcg");
	return 0;
}

static void add_version(struct json *fingerprint)
{
	ERR_CLEANUP struct err ignored = {};
	autobuf said = {}, line = {};
	const struct proc_spec spec = {
		.argv = (const char *const[]){"qemu-system-x86_64", "--version", NULL},
		.deadline_ns = clock_deadline_ns(10 * NS_PER_S),
		.what = "qemu",
	};

	if (proc_run_ok(&spec, &said, 4096, ERR_INFRA, &ignored) == 0) {
		buf_add_safe(&line, buf_str(&said), strcspn(buf_str(&said), "\n"), 200, false);
		json_set_str(fingerprint, "qemu", buf_str(&line));
	}
}

/* The recipe; and this host, except where virtual time makes the guest blind to it. */
static void qemu_describe(const struct job *job, struct json *fingerprint)
{
	autobuf args = {};

	if (job->qemu.clock != CLOCK_ICOUNT)
		host_describe(fingerprint);
	add_version(fingerprint);
	for (char **a = job->qemu.args; a && *a; a++)
		buf_printf(&args, "%s%s", args.len ? " " : "", *a);
	json_set_str(fingerprint, "qemu_args", buf_str(&args));
	json_set_str(fingerprint, "qemu_icount", job->qemu.clock == CLOCK_ICOUNT ? ICOUNT : "");
	json_set_int(fingerprint, "qemu_cpus", job->qemu.cpus);
	json_set_int(fingerprint, "qemu_memory_mb", (int64_t)(job->qemu.memory_bytes >> 20));
}

/* Virtual time does not feel its neighbours: one guest for each CPU, in half of the memory. */
static int qemu_parallel(const struct job *job)
{
	int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int64_t memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
	int64_t guest = (int64_t)MAX(job->qemu.memory_bytes, 1U);

	if (job->qemu.clock != CLOCK_ICOUNT)
		return 1;
	return (int)MAX(MIN(cpus, memory / guest), 1);
}

const struct runner_ops runner_qemu = {
	.name = "qemu",
	.start = qemu_start,
	.stop = boot_stop,
	.machine = qemu_machine,
	.describe = qemu_describe,
	.parallel_boots = qemu_parallel,
};
