// SPDX-License-Identifier: GPL-2.0-or-later
// Starting, watching and capturing children; the guard in between is in guard.c.
#include "harness/base/proc.h"

#include "harness/base/clock.h"
#include "harness/base/crew.h"
#include "harness/base/guard.h"
#include "harness/base/progress.h"
#include "harness/base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* From the polite signal to the kill, and from the kill to giving up on a process that the kernel
 * does not let die. */
#define GRACE_NS   (2 * NS_PER_S)
#define GIVE_UP_NS (10 * NS_PER_S)

/* "NAME=value" adds or replaces, "NAME" alone removes. */
static char **merge_env(const char *const *changes)
{
	VEC(char *) env = {};

	for (char **e = environ; e && *e; e++)
		VEC_PUSH(&env, xstrdup(*e));
	for (; changes && *changes; changes++) {
		size_t name = strcspn(*changes, "="), kept = 0;

		for (size_t i = 0; i < env.n; i++) {
			if (strncmp(env.at[i], *changes, name) == 0 && env.at[i][name] == '=')
				free(env.at[i]);
			else
				env.at[kept++] = env.at[i];
		}
		env.n = kept;
		if ((*changes)[name])
			VEC_PUSH(&env, xstrdup(*changes));
	}
	VEC_PUSH(&env, NULL);
	return env.at;
}

/* Takes fd and returns it, or a copy, as 3 or higher: 0, 1 and 2 are where a child's own go. */
static int above_stdio(int fd)
{
	int high;

	if (fd < 0 || fd > 2)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high;
}

/* What the guard needs, as we hold it until the fork. */
struct launch {
	struct guard_job job;
	char **envp;
	int control[2], status[2], null, log, copies[3];
	int64_t asked_ns; /* when our caller asked: a deadline is meant from there, not from the fork */
};

static void launch_release(struct launch *l)
{
	int *fds[] = {&l->control[0], &l->control[1], &l->status[0], &l->status[1], &l->null,
		      &l->log,	      &l->copies[0],  &l->copies[1], &l->copies[2]};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		cleanup_close(fds[i]);
	strv_free(l->envp);
}

static int open_plumbing(struct launch *l, const struct proc_spec *spec, struct err *err)
{
	l->null = above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
	if (l->null < 0)
		return err_errno(err, "cannot open '/dev/null'");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, l->control) ||
	    pipe2(l->status, O_CLOEXEC))
		return err_errno(err, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		l->control[i] = above_stdio(l->control[i]);
		l->status[i] = above_stdio(l->status[i]);
		if (l->control[i] < 0 || l->status[i] < 0)
			return err_errno(err, "cannot make a pipe");
	}
	if (!spec->log_path)
		return 0;
	l->log = above_stdio(open(spec->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
	if (l->log < 0)
		return err_errno(err, "cannot open log '%s'", spec->log_path);
	return 0;
}

/* The child's 0, 1 and 2, each a descriptor of 3 or higher. */
static int choose_stdio(struct launch *l, const struct proc_spec *spec, struct err *err)
{
	int wanted[] = {spec->stdin_fd, spec->log_path ? l->log : spec->stdout_fd,
			spec->log_path ? l->log : spec->stderr_fd};

	for (int i = 0; i < 3; i++) {
		l->job.stdio[i] = wanted[i] > 0 ? wanted[i] : l->null;
		if (l->job.stdio[i] > 2)
			continue;
		l->copies[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, 3);
		if (l->copies[i] < 0)
			return err_errno(err, "cannot give descriptor %d to '%s'", wanted[i],
					 spec->argv[0]);
		l->job.stdio[i] = l->copies[i];
	}
	return 0;
}

static int prepare(struct launch *l, const struct proc_spec *spec, struct err *err)
{
	int rc = open_plumbing(l, spec, err);

	if (!rc)
		rc = choose_stdio(l, spec, err);
	if (rc)
		return rc;
	l->envp = merge_env(spec->env);
	l->job.argv = spec->argv;
	l->job.envp = l->envp;
	l->job.cwd = spec->cwd;
	l->job.lower_priority = spec->lower_priority;
	l->job.control_fd = l->control[1];
	l->job.status_fd = l->status[1];
	return 0;
}

/* No handler of ours may run in the guard, so signals are blocked over the fork and stay so there.
 */
static pid_t fork_guard(const struct guard_job *job)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		guard_main(job);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static bool read_message(int fd, void *message, size_t size)
{
	ssize_t n;

	do
		n = read(fd, message, size);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

static int start_error(const struct guard_started *started, const struct proc_spec *spec,
		       struct err *err)
{
	const char *program = spec->argv[0];

	errno = started->error;
	switch (started->step) {
	case GUARD_CHDIR:
		return err_set(err, ERR_IO, "cannot enter directory '%s' to run '%s': %s",
			       spec->cwd, program, strerror(errno));
	case GUARD_EXEC:
		if (errno != ENOENT || strchr(program, '/'))
			return err_errno(err, "cannot run '%s'", program);
		err_set(err, ERR_NOT_FOUND, "program '%s' not found", program);
		err_hint(err, "install it, or add its directory to PATH");
		return -ERR_NOT_FOUND;
	default:
		return err_errno(err, "cannot start '%s'", program);
	}
}

/* Forks, and hears whether the exec worked. *ret_errno tells a caller that wants the bare number.
 */
static int launch(struct launch *l, const struct proc_spec *spec, struct proc *ret, int *ret_errno,
		  struct err *err)
{
	struct guard_started started = {};
	pid_t guard = fork_guard(&l->job);

	if (guard < 0) {
		*ret_errno = errno;
		return err_errno(err, "cannot start '%s'", spec->argv[0]);
	}
	close(take_fd(&l->status[1]));
	close(take_fd(&l->control[1]));
	if (!read_message(l->status[0], &started, sizeof(started)))
		started = (struct guard_started){.step = GUARD_FORK, .error = ECHILD};
	if (started.step != GUARD_STARTED) {
		close(take_fd(&l->control[0]));
		waitpid(guard, NULL, 0);
		*ret_errno = started.error;
		return start_error(&started, spec, err);
	}
	*ret = (struct proc){
		.pid = started.pid,
		.guard_pid = guard,
		.guard_pidfd = (int)syscall(SYS_pidfd_open, guard, 0),
		.control_fd = take_fd(&l->control[0]),
		.status_fd = take_fd(&l->status[0]),
		.deadline_ns = spec->deadline_ns,
		.start_ns = l->asked_ns,
		.despite_stop = spec->despite_stop,
		.what = xstrdup(spec->what ? spec->what : spec->argv[0]),
	};
	return 0;
}

static int start(const struct proc_spec *spec, int64_t asked_ns, struct proc *ret, int *ret_errno,
		 struct err *err)
{
	__attribute__((cleanup(launch_release))) struct launch l = {
		.asked_ns = asked_ns,
		.control = {-1, -1},
		.status = {-1, -1},
		.null = -1,
		.log = -1,
		.copies = {-1, -1, -1},
	};
	int rc = spec->despite_stop ? 0 : signals_check(err);

	if (rc)
		return rc;
	rc = prepare(&l, spec, err);
	if (rc) {
		*ret_errno = errno;
		return rc;
	}
	return launch(&l, spec, ret, ret_errno, err);
}

int proc_start(const struct proc_spec *spec, struct proc *ret, struct err *err)
{
	int ignored;

	return start(spec, clock_now_ns(), ret, &ignored, err);
}

int proc_signal(struct proc *p, int sig)
{
	unsigned char byte = (unsigned char)sig;

	/* The guard sends it, since it alone knows that the number still is the command's. */
	if (p->control_fd < 0 || send(p->control_fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return -ESRCH;
	return 0;
}

static void release(struct proc *p)
{
	cleanup_close(&p->control_fd);
	cleanup_close(&p->status_fd);
	cleanup_close(&p->guard_pidfd);
	free(p->what);
	*p = (struct proc){.control_fd = -1, .status_fd = -1, .guard_pidfd = -1};
}

/* The guard ends once nothing is left; one that cannot kill all (a process stuck in the kernel) is
 * left to go on trying. */
static void reap_guard(struct proc *p)
{
	struct pollfd fd = {.fd = p->guard_pidfd, .events = POLLIN};
	int64_t until = clock_deadline_ns(GIVE_UP_NS);
	int rc;

	do
		rc = fd.fd >= 0 ? crew_poll(&fd, 1, clock_poll_timeout_ms(until)) : 1;
	while (rc < 0 && errno == EINTR);
	if (rc > 0)
		waitpid(p->guard_pid, NULL, 0);
}

void proc_kill(struct proc *p)
{
	if (p->guard_pid <= 0)
		return;
	cleanup_close(&p->control_fd);
	p->control_fd = -1;
	reap_guard(p);
	release(p);
}

/* Where a child's output goes: the first max bytes, or the last ones. */
struct capture {
	int fd;
	struct buf *to; /* or NULL: read and dropped */
	size_t max;
	bool tail;
	uint64_t dropped;
};

static void capture_add(struct capture *c, const char *data, size_t len)
{
	size_t room;

	if (c->tail) {
		buf_add(c->to, data, len);
		if (c->to->len > 2 * c->max)
			buf_drop(c->to, c->to->len - c->max);
		return;
	}
	room = c->max > c->to->len ? c->max - c->to->len : 0;
	buf_add(c->to, data, MIN(room, len));
	c->dropped += len - MIN(room, len);
}

/* Reads what is there; with all, until nothing is left. Closes the descriptor at its end. */
static void capture_read(struct capture *c, bool all)
{
	char block[65536];
	ssize_t n;

	do {
		n = c->fd >= 0 ? read(c->fd, block, sizeof(block)) : -1;
		if (n > 0)
			capture_add(c, block, n);
	} while ((n > 0 && all) || (n < 0 && c->fd >= 0 && errno == EINTR));
	if (c->fd >= 0 && (n == 0 || (n < 0 && errno != EAGAIN)))
		close(take_fd(&c->fd));
}

/* How far we are in ending a child. */
struct ending {
	enum { LET_RUN, ASKED, KILLED, GIVEN_UP } stage;
	int64_t next_ns; /* when the next stage is due */
	bool stopped, late;
};

static void escalate(struct proc *p, struct ending *e)
{
	e->stage++;
	if (e->stage == ASKED) {
		proc_signal(p, SIGTERM);
		e->next_ns = clock_deadline_ns(GRACE_NS);
	} else if (e->stage == KILLED) {
		close(take_fd(&p->control_fd));
		e->next_ns = clock_deadline_ns(GIVE_UP_NS);
	}
}

/* Waits for output, the end, a stop signal or a deadline, a second at most. True: it ended. */
static bool wait_a_moment(struct proc *p, struct capture *captures, size_t n, struct ending *e)
{
	struct pollfd fds[4];
	bool watch_stop = !p->despite_stop && !e->stopped;
	int64_t until = MIN(e->next_ns, clock_deadline_ns(NS_PER_S));

	fds[0] = (struct pollfd){.fd = p->status_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = watch_stop ? signals_fd() : -1, .events = POLLIN};
	for (size_t i = 0; i < n; i++)
		fds[2 + i] = (struct pollfd){.fd = captures[i].fd, .events = POLLIN};
	if (crew_poll(fds, 2 + n, clock_poll_timeout_ms(until)) <= 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (fds[2 + i].revents)
			capture_read(&captures[i], false);
	return fds[0].revents;
}

/* Until the child ended and its output was read; false if it cannot be killed. */
static bool pump(struct proc *p, struct capture *captures, size_t n, struct ending *e)
{
	while (!wait_a_moment(p, captures, n, e)) {
		progress_tick();
		if (!e->stopped && !p->despite_stop && signals_pending()) {
			e->stopped = true;
			if (e->stage == LET_RUN)
				escalate(p, e);
		}
		if (clock_now_ns() >= e->next_ns) {
			e->late |= e->stage == LET_RUN;
			escalate(p, e);
		}
		if (e->stage == GIVEN_UP)
			return false;
	}
	for (size_t i = 0; i < n; i++)
		capture_read(&captures[i], true);
	return true;
}

static void fill_result(const struct proc *p, const struct guard_ended *ended,
			const struct ending *e, struct proc_result *ret)
{
	*ret = (struct proc_result){
		.end = WIFEXITED(ended->status) ? PROC_EXITED : PROC_SIGNALED,
		.code = WIFEXITED(ended->status) ? WEXITSTATUS(ended->status)
						 : WTERMSIG(ended->status),
		.user_s = ended->user_s,
		.sys_s = ended->sys_s,
		.wall_ns = ended->wall_ns,
		.max_rss_bytes = ended->max_rss_bytes,
	};
	if (e->late) {
		ret->end = PROC_DEADLINE;
		ret->code = 0;
		ret->wall_ns = p->deadline_ns - p->start_ns;
	}
}

static int wait_captured(struct proc *p, struct capture *captures, size_t n,
			 struct proc_result *ret, struct err *err)
{
	struct ending e = {.next_ns = p->deadline_ns};
	struct guard_ended ended = {};
	struct proc_result result;
	bool can_die = pump(p, captures, n, &e);
	int rc = 0;

	if (can_die && !read_message(p->status_fd, &ended, sizeof(ended))) {
		kill(-p->pid, SIGKILL); /* the command itself died with its guard */
		rc = err_set(err, ERR_INFRA, "the guard process of %s was killed", p->what);
	}
	fill_result(p, &ended, &e, &result);
	if (e.stopped)
		rc = signals_check(err);
	else if (!can_die)
		rc = err_set(err, ERR_INFRA, "%s cannot be killed", p->what);
	if (can_die)
		waitpid(p->guard_pid, NULL, 0);
	for (size_t i = 0; i < n; i++)
		result.dropped += captures[i].dropped;
	release(p);
	if (!rc)
		*ret = result;
	return rc;
}

int proc_wait(struct proc *p, struct proc_result *ret, struct err *err)
{
	return wait_captured(p, NULL, 0, ret, err);
}

/* The child's end of a pipe whose other end is read into c. */
static int open_capture(struct capture *c, int *ret_child_fd, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_errno(err, "cannot make a pipe");
	ends[0] = above_stdio(ends[0]);
	ends[1] = above_stdio(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	c->fd = ends[0];
	*ret_child_fd = ends[1];
	return 0;
}

static int run(const struct proc_spec *given, struct capture captures[2], struct proc_result *ret,
	       struct err *err)
{
	struct proc_spec spec = *given;
	int64_t asked_ns = clock_now_ns();
	autoclose int out_fd = -1, err_fd = -1;
	int rc = 0, failure = 0;
	struct proc p;

	if (captures[0].to)
		rc = open_capture(&captures[0], &out_fd, err);
	if (!rc && captures[1].to)
		rc = open_capture(&captures[1], &err_fd, err);
	if (!rc) {
		spec.stdout_fd = out_fd >= 0 ? out_fd : given->stdout_fd;
		spec.stderr_fd = err_fd >= 0 ? err_fd : given->stderr_fd;
		rc = start(&spec, asked_ns, &p, &failure, err);
	}
	if (rc) {
		*ret = (struct proc_result){.end = PROC_NOT_STARTED, .code = failure};
	} else {
		/* The child has these; ours would keep the end of its output from being seen. */
		cleanup_close(&out_fd);
		cleanup_close(&err_fd);
		out_fd = err_fd = -1;
		rc = wait_captured(&p, captures, 2, ret, err);
	}
	cleanup_close(&captures[0].fd);
	cleanup_close(&captures[1].fd);
	return rc;
}

int proc_run(const struct proc_spec *spec, struct buf *ret_out, struct buf *ret_err,
	     size_t max_bytes, struct proc_result *ret, struct err *err)
{
	struct capture captures[] = {{.fd = -1, .to = ret_out, .max = max_bytes},
				     {.fd = -1, .to = ret_err, .max = max_bytes}};

	return run(spec, captures, ret, err);
}

int proc_run_ok(const struct proc_spec *spec, struct buf *ret_out, size_t max_bytes,
		enum err_code code, struct err *err)
{
	autobuf errors = {}, said = {};
	bool ours = !spec->stderr_fd && !spec->log_path;
	struct capture captures[] = {
		{.fd = -1, .to = ret_out, .max = max_bytes},
		{.fd = -1, .to = ours ? &errors : NULL, .max = 4096, .tail = true}};
	const char *what = spec->what ? spec->what : spec->argv[0];
	struct proc_result result;
	char how[96];
	int rc = run(spec, captures, &result, err);

	if (rc)
		return rc;
	if (result.dropped)
		return err_set(err, code, "%s printed more than %zu bytes", what, max_bytes);
	if (result.end == PROC_EXITED && result.code == 0)
		return 0;
	if (errors.len) {
		buf_adds(&said, ": ");
		buf_add_last_lines(&said, errors.data, errors.len, 3);
	}
	return err_set(err, code, "%s %s%s", what, proc_describe(&result, how), buf_str(&said));
}

const char *proc_describe(const struct proc_result *r, char buf[96])
{
	char duration[32];

	switch (r->end) {
	case PROC_NOT_STARTED:
		snprintf(buf, 96, "could not start: %s", strerror(r->code));
		break;
	case PROC_EXITED:
		snprintf(buf, 96, "exited with %d", r->code);
		break;
	case PROC_SIGNALED:
		snprintf(buf, 96, "was killed by signal %d (%s)", r->code, strsignal(r->code));
		break;
	case PROC_DEADLINE:
		snprintf(buf, 96, "did not end within %s",
			 clock_format_duration((double)r->wall_ns / 1e9, duration));
		break;
	}
	return buf;
}
