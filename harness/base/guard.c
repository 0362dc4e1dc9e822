// SPDX-License-Identifier: GPL-2.0-or-later
// The process between us and a command: it outlives us by the moment it takes to kill what is left.
#include "harness/base/guard.h"

#include "harness/base/clock.h"
#include "harness/base/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* One process of /proc. */
struct process {
	pid_t pid, parent;
	bool zombie, ours;
};

/* From "pid (name) S ppid ..."; the name may hold anything, so its end is the last bracket. */
static bool read_process(int proc_dir, const char *pid, struct process *ret)
{
	char path[64], text[512];
	const char *end;
	autoclose int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stat", pid);
	fd = openat(proc_dir, path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		return false;
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return false;
	*ret = (struct process){.pid = atoi(pid),
				.parent = atoi(end + 4),
				.zombie = end[2] == 'Z' || end[2] == 'X'};
	return true;
}

static size_t list_processes(struct process **ret)
{
	VEC(struct process) all = {};
	struct process process;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    read_process(dirfd(dir), entry->d_name, &process))
			VEC_PUSH(&all, process);
	if (dir)
		closedir(dir);
	*ret = all.at;
	return all.n;
}

static bool is_ours(const struct process *all, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].pid == pid)
			return all[i].ours;
	return false;
}

/* Kills all descendants seen in one look; true if a direct child is among them, whose end can be
 * waited for. */
static bool kill_tree(void)
{
	autofree struct process *all = NULL;
	size_t n = list_processes(&all);
	bool child = false, more = true;
	pid_t self = getpid();

	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			struct process *p = &all[i];

			if (p->ours || (p->parent != self && !is_ours(all, n, p->parent)))
				continue;
			p->ours = more = true;
			child |= p->parent == self && !p->zombie;
			kill(p->pid, SIGKILL);
		}
	}
	return child;
}

void proc_kill_descendants(void)
{
	for (;;) {
		pid_t reaped = waitpid(-1, NULL, WNOHANG);

		if (reaped < 0 && errno == ECHILD)
			return;
		/* As parents die their children become ours, and the next look sees them. */
		if (reaped == 0 && kill_tree())
			waitpid(-1, NULL, 0);
	}
}

static void close_between(unsigned int from, unsigned int to)
{
	if (from <= to && close_range(from, to, 0) && errno == ENOSYS)
		for (unsigned int fd = from; fd <= MIN(to, 65536U); fd++)
			close((int)fd);
}

/* What we inherited would hold locks, pipes and the database open after its owner died. */
static void close_all_but(int a, int b, int c)
{
	unsigned int keep[] = {MIN(a, MIN(b, c)), MAX(MIN(a, b), MIN(MAX(a, b), c)),
			       MAX(a, MAX(b, c))};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	close_between(3, keep[0] - 1);
	close_between(keep[0] + 1, keep[1] - 1);
	close_between(keep[1] + 1, keep[2] - 1);
	close_between(keep[2] + 1, ~0U);
}

static void reset_signals(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_modest(void)
{
	/* Neither matters enough to fail for. */
	setpriority(PRIO_PROCESS, 0, 10);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

/* The command's process up to its exec; returns the step that failed, with errno. */
static enum guard_step become_command(const struct guard_job *job)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	reset_signals();
	if (job->lower_priority)
		be_modest();
	for (int fd = 0; fd < 3; fd++)
		if (dup2(job->stdio[fd], fd) < 0)
			return GUARD_STDIO;
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	if (job->cwd && chdir(job->cwd))
		return GUARD_CHDIR;
	execvpe(job->argv[0], (char *const *)(uintptr_t)job->argv, job->envp);
	return GUARD_EXEC;
}

/* Forks the command and waits until its exec worked (the pipe closes) or did not (it says why). */
static struct guard_started start_command(const struct guard_job *job)
{
	struct guard_started started = {.step = GUARD_FORK};
	int news[2];

	if (pipe2(news, O_CLOEXEC) || (started.pid = fork()) < 0) {
		started.error = errno;
		return started;
	}
	if (started.pid == 0) {
		started.step = become_command(job);
		started.error = errno;
		if (write(news[1], &started, sizeof(started)) < 0)
			_exit(126);
		_exit(127);
	}
	close(news[1]);
	if (read(news[0], &started, sizeof(started)) == sizeof(started))
		waitpid(-1, NULL, 0);
	else
		started.step = GUARD_STARTED;
	close(news[0]);
	return started;
}

/* Reaps whoever ended, orphans too; true once the command did. */
static bool reap(pid_t command, int *ret_status)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == command) {
			*ret_status = status;
			ended = true;
		}
	}
	return ended;
}

/* Passes signals on; false when our parent is gone or wants an end. */
static bool obey(int control_fd, pid_t command)
{
	unsigned char sig;

	if (read(control_fd, &sig, 1) != 1)
		return false;
	kill(-command, sig);
	return true;
}

/* Waits for the command's end, or brings it about; returns its wait status. */
static int watch(int control_fd, int signal_fd, pid_t command)
{
	struct pollfd fds[] = {{.fd = control_fd, .events = POLLIN},
			       {.fd = signal_fd, .events = POLLIN}};
	struct signalfd_siginfo signal;
	bool go_on = true;
	int status = 0;

	while (go_on) {
		fds[0].revents = fds[1].revents = 0;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents && read(signal_fd, &signal, sizeof(signal)) > 0) {
			if (reap(command, &status))
				return status;
			go_on = signal.ssi_signo == SIGCHLD;
		}
		if (fds[0].revents)
			go_on = go_on && obey(control_fd, command);
	}
	kill(-command, SIGKILL);
	kill(command, SIGKILL);
	waitpid(command, &status, 0);
	return status;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* We may have been started with stdin closed: what is opened from here on is 3 or higher. */
static void fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd < 3);
	if (fd >= 0)
		close(fd);
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

_Noreturn void guard_main(const struct guard_job *job)
{
	int64_t start_ns = clock_now_ns();
	struct guard_started started;
	struct guard_ended ended = {};
	struct rusage usage;
	int signal_fd;

	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "culprit-guard");
	fill_stdio();
	signal_fd = open_signals();
	started = start_command(job);
	/* Before our parent hears of it: it may want a lock again whose descriptor we inherited. */
	close_all_but(job->control_fd, job->status_fd, signal_fd);
	if (write(job->status_fd, &started, sizeof(started)) < 0 || started.step != GUARD_STARTED)
		_exit(1);
	if (chdir("/"))
		_exit(1);
	ended.status = watch(job->control_fd, signal_fd, started.pid);
	ended.wall_ns = clock_now_ns() - start_ns;
	proc_kill_descendants();
	getrusage(RUSAGE_CHILDREN, &usage);
	ended.user_s = seconds(usage.ru_utime);
	ended.sys_s = seconds(usage.ru_stime);
	ended.max_rss_bytes = (int64_t)usage.ru_maxrss * 1024;
	_exit(write(job->status_fd, &ended, sizeof(ended)) == sizeof(ended) ? 0 : 1);
}
