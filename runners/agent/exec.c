// SPDX-License-Identifier: GPL-2.0-or-later
// Running one command: its own session, output through a pipe, a deadline, and nothing left behind.
#include "runners/agent/agent.h"

#include "harness/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Output is sent while the run goes on only when it is long: sending costs the guest time. */
enum { SEND_AT = 64 << 10, READ_AT_ONCE = 64 << 10, READS_AT_END = 64 };

static const int64_t give_up_ns = 5 * NS_PER_S;

struct process {
	pid_t pid, parent, group, session;
};

struct processes {
	struct process *at;
	size_t n, cap_;
};

/* pid (name) state parent group session ...; the name may hold anything. */
static bool read_process(const char *pid, struct process *ret)
{
	autofree char *path = xasprintf("/proc/%s/stat", pid);
	autofree char *stat = fact_line(path);
	const char *after_name = strrchr(stat, ')');

	ret->pid = atoi(pid);
	return after_name && sscanf(after_name + 1, " %*c %d %d %d", &ret->parent, &ret->group,
				    &ret->session) == 3;
}

static void list_processes(struct processes *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct process process;

	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    read_process(entry->d_name, &process))
			VEC_PUSH(ret, process);
	if (proc)
		closedir(proc);
}

static bool no_children(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid < 0;
}

static bool is_older(const struct run *run, pid_t id)
{
	for (size_t i = 0; i < run->older.n; i++)
		if (run->older.at[i] == id)
			return true;
	return false;
}

/* Every descendant and its session: parents before children, however the list is sorted. */
static void remember_older(struct run *run)
{
	struct processes all = {};
	size_t before;

	run->older.n = 0;
	if (no_children())
		return;
	list_processes(&all);
	do {
		before = run->older.n;
		for (size_t i = 0; i < all.n; i++) {
			const struct process *p = &all.at[i];

			if (is_older(run, p->pid) ||
			    (p->parent != getpid() && !is_older(run, p->parent)))
				continue;
			VEC_PUSH(&run->older, p->pid);
			if (!is_older(run, p->session))
				VEC_PUSH(&run->older, p->session);
		}
	} while (run->older.n > before);
	VEC_FREE(&all);
}

/* Kills the children of ours that are not older, each with its whole group at once, so that none
 * can fork its way out. A group never reaches into another session. */
static size_t kill_younger_children(const struct run *run)
{
	struct processes all = {};
	size_t n = 0;

	list_processes(&all);
	for (size_t i = 0; i < all.n; i++) {
		const struct process *p = &all.at[i];

		if (p->parent != getpid() || is_older(run, p->pid) || is_older(run, p->session))
			continue;
		if (p->group > 1)
			kill(-p->group, SIGKILL);
		kill(p->pid, SIGKILL);
		n++;
	}
	VEC_FREE(&all);
	return n;
}

/* What dies leaves its children to us, so this goes on until none is left; returns who refuses. */
static size_t kill_younger(struct run *run)
{
	int64_t give_up = clock_deadline_ns(give_up_ns);
	const struct timespec pause = {.tv_nsec = 20 * NS_PER_MS};
	sigset_t child_died;
	size_t left;

	sigemptyset(&child_died);
	sigaddset(&child_died, SIGCHLD);
	while (!no_children()) {
		left = kill_younger_children(run);
		if (left == 0 || clock_now_ns() > give_up)
			return left;
		sigtimedwait(&child_died, NULL, &pause);
	}
	return 0;
}

void run_release(struct run *run)
{
	run->older.n = 0;
	kill_younger(run);
	run->pid = 0;
	buf_release(&run->output);
	VEC_FREE(&run->older);
	VEC_FREE(&run->kept_fds);
}

static void add_end(struct buf *out, enum proto_end end, int code)
{
	proto_add_u64(out, TAG_END, end);
	proto_add_u64(out, TAG_CODE, code);
}

void run_refuse(uint32_t seq, int error, struct buf *out)
{
	size_t start = proto_begin(out, PROTO_EXIT, 0, seq);

	add_end(out, PROTO_NOT_STARTED, error);
	proto_end(out, start);
}

static bool has_variable(char *const *env, const char *name)
{
	for (; env && *env; env++)
		if (str_starts(*env, name) && (*env)[strlen(name)] == '=')
			return true;
	return false;
}

/* The request's variables, the three that every program may rely on, and a guest's time to here. */
static char **make_environment(char *const *asked)
{
	static const char *const always[] = {"PATH", "HOME", "LANG"};
	char **env = strv_dup((const char *const *)asked);

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (!has_variable(env, always[i]))
			strv_pushf(&env, "%s=%s", always[i], getenv(always[i]));
	if (getenv("CULPRIT_READY"))
		strv_pushf(&env, "CULPRIT_READY=%s", getenv("CULPRIT_READY"));
	return env;
}

/* What our own starter chose to ignore (a shell's background job, nohup, make) is not the run's affair.
 * By the system call, since the C library keeps two of the real-time signals to itself. */
static void reset_signals(void)
{
	static const unsigned long default_action[4]; /* the kernel's struct sigaction: all zero is SIG_DFL */
	sigset_t none;

	for (int sig = 1; sig <= 64; sig++)
		syscall(SYS_rt_sigaction, sig, default_action, NULL, 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Looked up before the clock runs, and by access(2), which fails faster than an exec does. */
static char *find_program(const char *name)
{
	const char *path = getenv("PATH");

	for (size_t len; !strchr(name, '/') && *path; path += len + (path[len] == ':')) {
		autofree char *file = NULL;

		len = strcspn(path, ":");
		file = xasprintf("%.*s/%s", (int)len, path, name);
		if (access(file, X_OK) == 0)
			return take_ptr(&file);
	}
	return xstrdup(name);
}

/*
 * vfork: the parent's memory is not copied, so starting costs the same however large the agent is,
 * and the child can leave its errno in the parent's variable. Returns 0 with *ret_error set if it
 * fails.
 */
static pid_t spawn(const char *file, const struct proto_run *request, char *const *env, int null_fd,
		   int output_fd, int *ret_error)
{
	volatile int error = 0;
	pid_t pid = vfork();

	if (pid == 0) {
		setsid();
		if (dup2(null_fd, STDIN_FILENO) >= 0 && dup2(output_fd, STDOUT_FILENO) >= 0 &&
		    dup2(output_fd, STDERR_FILENO) >= 0 &&
		    (!request->cwd || chdir(request->cwd) == 0)) {
			reset_signals();
			execvpe(file, request->argv, env);
		}
		error = errno;
		_exit(127);
	}
	if (pid < 0)
		error = errno;
	else if (error)
		waitpid(pid, NULL, 0);
	*ret_error = error;
	return error ? 0 : pid;
}

void run_start(struct run *run, const struct proto_run *request, uint32_t seq, struct buf *out)
{
	autostrv char **env = make_environment(request->env);
	autofree char *file = find_program(request->argv[0]);
	autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), write_fd = -1;
	int pipe_fds[2], error;

	if (null_fd < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0) {
		run_refuse(seq, errno, out);
		return;
	}
	write_fd = pipe_fds[1];
	fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
	remember_older(run);
	run->start_ns = clock_now_ns();
	run->pid = spawn(file, request, env, null_fd, write_fd, &error);
	if (run->pid == 0) {
		close(pipe_fds[0]);
		run_refuse(seq, error, out);
		return;
	}
	run->deadline_ns =
		request->timeout_ns ? clock_deadline_ns(request->timeout_ns) : NO_DEADLINE;
	run->seq = seq;
	run->keep = request->keep;
	run->expired = false;
	run->output_fd = pipe_fds[0];
	run->output_max = request->output_max;
	run->output_kept = run->output_total = 0;
}

static void send_output(struct run *run, struct buf *out)
{
	size_t start = proto_begin(out, PROTO_OUTPUT, 0, run->seq);

	buf_add(out, run->output.data, run->output.len);
	proto_end(out, start);
	buf_clear(&run->output);
}

/* One read; false when there is nothing more for now. */
static bool read_output(struct run *run, struct buf *out)
{
	char chunk[READ_AT_ONCE];
	ssize_t n = read(run->output_fd, chunk, sizeof(chunk));
	size_t keep;

	if (n <= 0) {
		if (n == 0) {
			close(run->output_fd);
			run->output_fd = -1;
		}
		return false;
	}
	keep = MIN((uint64_t)n, run->output_max - run->output_kept);
	buf_add(&run->output, chunk, keep);
	run->output_kept += keep;
	run->output_total += n;
	if (run->output.len >= SEND_AT)
		send_output(run, out);
	return true;
}

void run_read_output(struct run *run, struct buf *out)
{
	read_output(run, out);
}

void run_read_kept(struct run *run)
{
	char chunk[4096];

	for (size_t i = 0; i < run->kept_fds.n;) {
		ssize_t n = read(run->kept_fds.at[i], chunk, sizeof(chunk));

		if (n == 0) {
			close(run->kept_fds.at[i]);
			run->kept_fds.at[i] = run->kept_fds.at[--run->kept_fds.n];
		} else {
			i++;
		}
	}
}

void run_expire(struct run *run)
{
	run->expired = true;
	run->deadline_ns = NO_DEADLINE;
	kill(-run->pid, SIGKILL); /* the rest follows when it is reaped */
	kill(run->pid, SIGKILL);
}

static void add_usage(struct buf *out, const struct rusage *usage)
{
	proto_add_u64(out, TAG_USER_US,
		      usage->ru_utime.tv_sec * 1000000ULL + usage->ru_utime.tv_usec);
	proto_add_u64(out, TAG_SYS_US,
		      usage->ru_stime.tv_sec * 1000000ULL + usage->ru_stime.tv_usec);
	proto_add_u64(out, TAG_VOLUNTARY, usage->ru_nvcsw);
	proto_add_u64(out, TAG_INVOLUNTARY, usage->ru_nivcsw);
	proto_add_u64(out, TAG_MAX_RSS, usage->ru_maxrss * 1024ULL);
}

static void finish(struct run *run, int status, const struct rusage *usage, struct buf *out)
{
	int64_t wall_ns = clock_now_ns() - run->start_ns;
	bool signaled = WIFSIGNALED(status);
	size_t left = run->keep && !run->expired ? 0 : kill_younger(run), start;

	/* All that wrote is dead, its last words are in the pipe; a kept server may go on. */
	for (int i = 0; i < READS_AT_END && run->output_fd >= 0 && read_output(run, out); i++)
		;
	if (run->output_fd >= 0 && run->keep && !run->expired)
		VEC_PUSH(&run->kept_fds, run->output_fd);
	else if (run->output_fd >= 0)
		close(run->output_fd);
	if (run->output.len)
		send_output(run, out);
	start = proto_begin(out, PROTO_EXIT, 0, run->seq);
	add_end(out,
		run->expired ? PROTO_DEADLINE : (signaled ? PROTO_SIGNALED : PROTO_EXITED),
		signaled ? WTERMSIG(status) : WEXITSTATUS(status));
	proto_add_u64(out, TAG_WALL_NS, wall_ns);
	add_usage(out, usage);
	proto_add_u64(out, TAG_OUTPUT_TOTAL, run->output_total);
	proto_add_u64(out, TAG_LEFT, left);
	proto_end(out, start);
	run->pid = 0;
	run->output_fd = -1;
}

void run_reap(struct run *run, struct buf *out)
{
	struct rusage usage;
	pid_t pid;
	int status;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
		if (pid == run->pid)
			finish(run, status, &usage, out);
}
