// SPDX-License-Identifier: GPL-2.0-or-later
// proc: the four ends of a child, its surroundings, and that nothing outlives us.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/proc.h"
#include "harness/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SH(script) ((const char *const[]){"sh", "-c", script, NULL})
#define LONG_NS	   (60 * NS_PER_S)

static char dir[] = "/tmp/culprit-proc-XXXXXX";

static struct proc_spec spec_of(const char *const *argv)
{
	return (struct proc_spec){.argv = argv, .deadline_ns = clock_deadline_ns(LONG_NS)};
}

/* Runs a script to its end and returns its output. */
static char *run(const char *script, struct proc_result *ret)
{
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec = spec_of(SH(script));
	autobuf out = {};

	if (proc_run(&spec, &out, NULL, 1 << 20, ret, &err))
		diag("%s", err.message);
	return buf_take(&out);
}

static void test_ends(void)
{
	static const char *const missing[] = {"no-such-program-anywhere", NULL};
	static const char *const missing_path[] = {"./no-such-program", NULL};
	struct err err ERR_CLEANUP = {};
	struct proc_result r = {};
	struct proc_spec spec = spec_of(missing);
	autofree char *out = run("echo hi; exit 3", &r), *none = NULL;
	char how[96];

	ok(r.end == PROC_EXITED && r.code == 3 && streq(out, "hi\n"), "exited with its status");
	is_str(proc_describe(&r, how), "exited with 3", "described");
	none = run("kill -9 $$", &r);
	ok(r.end == PROC_SIGNALED && r.code == SIGKILL, "killed by a signal");
	is_str(proc_describe(&r, how), "was killed by signal 9 (Killed)", "described");
	is_int(proc_run(&spec, NULL, NULL, 0, &r, &err), -ERR_NOT_FOUND,
	       "a program that is not there");
	ok(r.end == PROC_NOT_STARTED && r.code == ENOENT, "did not start");
	is_str(err.message, "program 'no-such-program-anywhere' not found", "said so");
	ok(err.hint != NULL, "and what to do");
	spec.argv = missing_path;
	is_int(proc_run(&spec, NULL, NULL, 0, &r, &err), -ERR_NOT_FOUND,
	       "a path that is not there");
	spec = spec_of(SH("true"));
	spec.cwd = "/no/such/directory";
	is_int(proc_run(&spec, NULL, NULL, 0, &r, &err), -ERR_IO,
	       "a directory that is not there is another error");
	ok(strstr(err.message, "cannot enter directory '/no/such/directory'") != NULL, "said so");
	spec = spec_of((const char *const[]){"/etc/passwd", NULL});
	is_int(proc_run(&spec, NULL, NULL, 0, &r, &err), -ERR_IO, "no permission to execute");
	ok(r.code == EACCES, "its errno");
}

static void test_deadline(void)
{
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec = spec_of(SH("trap '' TERM; echo on; while :; do sleep 1000; done"));
	struct proc_result r = {};
	autobuf out = {};
	char how[96];
	int64_t start = clock_now_ns();

	spec.deadline_ns = clock_deadline_ns(200 * NS_PER_MS);
	is_int(proc_run(&spec, &out, NULL, 100, &r, &err), 0, "a child that ignores SIGTERM");
	is_int(r.end, PROC_DEADLINE, "ends by our deadline");
	ok(clock_now_ns() - start >= 2 * NS_PER_S, "after a time of grace");
	ok(str_starts(proc_describe(&r, how), "did not end within 2"), "%s", how);
	is_str(buf_str(&out), "on\n", "its output is kept");
	spec = spec_of(SH("trap 'exit 0' TERM; while :; do sleep 0.1; done"));
	spec.deadline_ns = clock_deadline_ns(200 * NS_PER_MS);
	ok(proc_run(&spec, NULL, NULL, 0, &r, &err) == 0 && r.end == PROC_DEADLINE,
	   "a polite exit after the deadline is still late");
}

static void test_surroundings(void)
{
	static const char *const env[] = {"CULPRIT_ADDED=a b", "HOME", "PATH_X", NULL};
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec = spec_of(
		SH("echo \"$CULPRIT_ADDED,${HOME-none},${USER_KEPT-none}\"; pwd; cat; echo e >&2"));
	autofree char *input = xasprintf("%s/input", dir), *log = xasprintf("%s/log", dir);
	autobuf out = {}, errors = {}, text = {};
	struct proc_result r;
	autoclose int fd = -1;

	setenv("USER_KEPT", "kept", 1);
	fs_write(input, "from stdin", 10, &err);
	fd = open(input, O_RDONLY | O_CLOEXEC);
	spec.env = env;
	spec.cwd = "/usr";
	spec.stdin_fd = fd;
	spec.lower_priority = true;
	is_int(proc_run(&spec, &out, &errors, 1000, &r, &err), 0, "ran");
	is_str(buf_str(&out), "a b,none,kept\n/usr\nfrom stdin",
	       "environment added, removed, kept; directory; stdin");
	is_str(buf_str(&errors), "e\n", "stderr apart");
	spec = spec_of(SH("echo out; echo err >&2"));
	spec.log_path = log;
	proc_run(&spec, NULL, NULL, 0, &r, &err);
	proc_run(&spec, NULL, NULL, 0, &r, &err);
	fs_read(log, 1000, &text, &err);
	is_str(buf_str(&text), "out\nerr\nout\nerr\n", "a log is appended to");
	spec = spec_of(SH("ls /proc/self/fd | wc -l; ps -o nice= -p $$; readlink /proc/self/fd/0"));
	buf_clear(&out);
	spec.lower_priority = true;
	proc_run(&spec, &out, NULL, 1000, &r, &err);
	is_str(buf_str(&out), "4\n 10\n/dev/null\n", "no other descriptors, nice, stdin empty");
}

static void test_run_ok(void)
{
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec = spec_of(SH("echo one >&2; echo '\033[1mtwo' >&2; exit 2"));
	autobuf out = {};

	spec.what = "make";
	is_int(proc_run_ok(&spec, NULL, 0, ERR_UNTESTABLE, &err), -ERR_UNTESTABLE,
	       "failure is the code asked for");
	is_str(err.message, "make exited with 2: one; ?[1mtwo", "with the last lines, made safe");
	spec = spec_of(SH("echo 12345"));
	is_int(proc_run_ok(&spec, &out, 5, ERR_IO, &err), -ERR_IO,
	       "output that is cut is no success");
	buf_clear(&out);
	is_int(proc_run_ok(&spec, &out, 6, ERR_IO, &err), 0, "just fits");
}

static void test_much_output(void)
{
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec =
		spec_of(SH("head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2"));
	autobuf out = {}, errors = {};
	struct rusage before, after;
	struct proc_result r = {};

	getrusage(RUSAGE_SELF, &before);
	is_int(proc_run(&spec, &out, &errors, 1000, &r, &err), 0, "200 MB of output");
	getrusage(RUSAGE_SELF, &after);
	ok(out.len == 1000 && errors.len == 1000 && r.dropped == 199998000,
	   "the first bytes are kept");
	ok(after.ru_maxrss - before.ru_maxrss < 8192, "memory does not grow with it (%ld KiB)",
	   after.ru_maxrss - before.ru_maxrss);
}

/* Ends the test's child with 0 if both commands worked with these descriptors closed from the
 * start. */
static int without_stdio(int closed)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = {};
		struct proc_spec spec = spec_of(SH("cat; echo out; echo err >&2"));
		struct buf out = {}, errors = {};
		struct proc_result r;
		bool good;

		for (int fd = 0; fd < closed; fd++)
			close(fd);
		good = proc_run(&spec, &out, &errors, 100, &r, &err) == 0 && r.end == PROC_EXITED &&
		       r.code == 0 && streq(buf_str(&out), "out\n") &&
		       streq(buf_str(&errors), "err\n");
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return status;
}

static bool is_alive(const char *pid)
{
	return kill(atoi(pid), 0) == 0;
}

static void test_leftovers(void)
{
	struct proc_result r;
	autofree char *pid = run("setsid sleep 1000 & echo $!", &r);
	autofree char *daemon =
		run("(setsid sh -c 'sleep 1000 & echo $!' &) | { read p; echo $p; }", &r);

	ok(r.end == PROC_EXITED && r.code == 0,
	   "a command that leaves something behind ends at once");
	ok(atoi(pid) > 1 && !is_alive(pid), "what it left is killed");
	ok(atoi(daemon) > 1 && !is_alive(daemon), "a daemon too");
}

/* Reads lines from a pipe that all descendants hold, until there are n of them or its end. */
static void read_lines(int fd, int n, struct buf *text)
{
	char c;

	while (n && read(fd, &c, 1) == 1) {
		buf_addch(text, c);
		n -= c == '\n';
	}
}

/* All descendants hold the pipe open, so its end says that the last of them is gone. */
static bool ends_soon(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char c;

	while (poll(&p, 1, 20000) > 0)
		if (read(fd, &c, 1) <= 0)
			return true;
	return false;
}

static void test_parent_killed(int sig)
{
	static const char script[] =
		"trap '' TERM HUP INT; sleep 1000 & setsid sleep 1000 & "
		"(setsid sh -c 'sleep 1000 & sleep 1000 & echo deep; wait' &) ; echo up; wait";
	struct err err ERR_CLEANUP = {};
	autobuf lines = {};
	int pipe_fds[2];
	pid_t pid;

	ok(pipe2(pipe_fds, O_CLOEXEC) == 0, "pipe");
	pid = fork();
	if (pid == 0) {
		struct proc_spec spec = spec_of(SH(script));
		struct proc_result r;
		struct proc p;

		spec.stdout_fd = pipe_fds[1];
		if (proc_start(&spec, &p, &err) == 0)
			proc_wait(&p, &r, &err);
		_exit(1);
	}
	close(pipe_fds[1]);
	read_lines(pipe_fds[0], 2, &lines);
	ok(strstr(buf_str(&lines), "up\n") && strstr(buf_str(&lines), "deep\n"),
	   "a tree of processes runs");
	kill(pid, sig);
	waitpid(pid, NULL, 0);
	ok(ends_soon(pipe_fds[0]), "parent killed by %d: nothing of it is left", sig);
	close(pipe_fds[0]);
}

static void test_guard_killed(void)
{
	struct err err ERR_CLEANUP = {};
	struct proc_spec spec = spec_of(SH("sleep 1000; true"));
	struct proc_result r;
	struct proc p;
	int pipe_fds[2];

	is_int(proc_start(&spec, &p, &err), 0, "started");
	kill(p.guard_pid, SIGTERM);
	ok(proc_wait(&p, &r, &err) == 0 && r.end == PROC_SIGNALED && r.code == SIGKILL,
	   "a guard that is asked to end takes the command along");
	ok(pipe2(pipe_fds, O_CLOEXEC) == 0, "pipe");
	spec.stdout_fd = pipe_fds[1];
	proc_start(&spec, &p, &err);
	close(pipe_fds[1]);
	kill(p.guard_pid, SIGKILL);
	is_int(proc_wait(&p, &r, &err), -ERR_INFRA,
	       "a guard that was killed is an error of the machine");
	ok(ends_soon(pipe_fds[0]), "the command's group goes with it");
	close(pipe_fds[0]);
}

static void test_handles(void)
{
	struct err err ERR_CLEANUP = {};
	autofree char *lock_path = xasprintf("%s/lock", dir);
	struct proc_spec spec = spec_of(SH("exec sleep 1000"));
	struct proc_result r;
	struct proc a, b;
	int lock = -1, again = -1;

	fs_lock(lock_path, "test", 0, &lock, &err);
	is_int(proc_start(&spec, &a, &err), 0, "one");
	is_int(proc_start(&spec, &b, &err), 0, "another beside it");
	close(lock);
	ok(fs_lock(lock_path, "test", 0, &again, &err) == 0, "children do not hold our locks");
	ok(getpgid(a.pid) == a.pid && getsid(a.pid) != getsid(0),
	   "in a group of its own, away from the terminal");
	is_int(proc_signal(&a, SIGUSR1), 0, "a signal to one");
	ok(proc_wait(&a, &r, &err) == 0 && r.end == PROC_SIGNALED && r.code == SIGUSR1, "ends it");
	is_int(proc_signal(&a, SIGUSR1), -ESRCH, "and no second time");
	ok(kill(b.pid, 0) == 0, "the other lives");
	proc_kill(&b);
	ok(b.guard_pid == 0 && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "killed and reaped");
	proc_kill(&b);
	proc_kill(&(struct proc){});
	ok(true, "killing it again does nothing");
	close(again);
}

static void test_usage(void)
{
	struct proc_result r = {};
	autofree char *out = run("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", &r);

	is_str(out, "", "no output");
	ok(r.user_s > 0 && r.user_s < 60 && r.wall_ns > 0 && r.max_rss_bytes > 100000,
	   "usage: %.3f s, %lld bytes", r.user_s, (long long)r.max_rss_bytes);
}

/* In a process of its own, since the stop flag stays set. */
static void test_stop(void)
{
	autofree char *pid_text = NULL;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = {};
		struct proc_spec spec = spec_of(SH("kill -TERM $STOP_PID; sleep 1000"));
		struct proc_result r;
		bool good;

		signals_init();
		pid_text = xasprintf("STOP_PID=%d", (int)getpid());
		spec.env = (const char *const[]){pid_text, NULL};
		good = proc_run(&spec, NULL, NULL, 0, &r, &err) == -ERR_INTERRUPTED &&
		       signals_pending() == SIGTERM;
		good = good && proc_run(&spec, NULL, NULL, 0, &r, &err) == -ERR_INTERRUPTED;
		spec = spec_of(SH("exit 4"));
		spec.despite_stop = true;
		good = good && proc_run(&spec, NULL, NULL, 0, &r, &err) == 0 && r.code == 4;
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	is_int(status, 0, "a stop signal ends the child and the wait; clean-up work still runs");
}

int main(void)
{
	struct err err ERR_CLEANUP = {};

	ok(mkdtemp(dir) != NULL, "a directory");
	test_ends();
	test_deadline();
	test_surroundings();
	test_run_ok();
	test_much_output();
	is_int(without_stdio(1), 0, "started with stdin closed");
	is_int(without_stdio(3), 0, "started with stdin, stdout and stderr closed");
	test_leftovers();
	test_parent_killed(SIGKILL);
	test_parent_killed(SIGTERM);
	test_guard_killed();
	test_handles();
	test_usage();
	test_stop();
	fs_remove_tree(dir, &err);
	return plan_done();
}
