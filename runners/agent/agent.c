// SPDX-License-Identifier: GPL-2.0-or-later
// culprit-agent: takes requests over a pipe or a port, runs one command at a time, says how it went.
#include "runners/agent/agent.h"

#include "harness/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

struct agent {
	int in_fd, out_fd;
	bool spin;
	struct proto_reader reader;
	struct buf out;
	size_t sent; /* of out */
	struct run run;
	VEC(struct pollfd) polled;
};

static void on_child(int sig)
{
}

/* SIGCHLD comes only while we wait, and ends the wait. */
static void setup_signals(void)
{
	struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void start_run(struct agent *a, const struct proto_frame *frame)
{
	struct proto_run request;

	if (a->run.pid) {
		run_refuse(frame->seq, EBUSY, &a->out);
	} else if (!proto_run_decode(frame, &request)) {
		run_refuse(frame->seq, EINVAL, &a->out);
	} else {
		run_start(&a->run, &request, frame->seq, &a->out);
		proto_run_release(&request);
	}
}

/* false: the end was asked for, or what comes is no protocol. */
static bool take_requests(struct agent *a)
{
	struct proto_frame frame;
	int found;

	while ((found = proto_next(&a->reader, &frame)) > 0) {
		if (frame.type == PROTO_BYE)
			return false;
		if (frame.type == PROTO_HELLO || frame.version != PROTO_VERSION)
			hello_add(&a->out, frame.seq); /* which carries our version */
		else if (frame.type == PROTO_RUN)
			start_run(a, &frame);
	}
	return found == 0;
}

static bool can_retry(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static bool read_requests(struct agent *a)
{
	char chunk[16384];
	ssize_t n = read(a->in_fd, chunk, sizeof(chunk));

	if (n <= 0)
		return n < 0 && can_retry();
	proto_feed(&a->reader, chunk, n);
	return take_requests(a);
}

static bool write_replies(struct agent *a)
{
	ssize_t n = write(a->out_fd, a->out.data + a->sent, a->out.len - a->sent);

	if (n < 0)
		return can_retry();
	a->sent += n;
	if (a->sent == a->out.len) {
		buf_clear(&a->out);
		a->sent = 0;
	}
	return true;
}

static void watch(struct agent *a, int fd, short events)
{
	VEC_PUSH(&a->polled, (struct pollfd){.fd = fd, .events = events});
}

/* Waits for something to do. In polled stand: in, out, the run's output, then kept outputs. */
static bool wait_for_work(struct agent *a)
{
	int64_t left = a->run.pid ? a->run.deadline_ns : a->spin ? 0 : NO_DEADLINE;
	struct timespec timeout;
	sigset_t none;
	int n;

	a->polled.n = 0;
	watch(a, a->in_fd, POLLIN);
	watch(a, a->out.len ? a->out_fd : -1, POLLOUT);
	watch(a, a->run.pid ? a->run.output_fd : -1, POLLIN);
	for (size_t i = 0; i < a->run.kept_fds.n; i++)
		watch(a, a->run.kept_fds.at[i], POLLIN);
	if (left != NO_DEADLINE) {
		left = MAX(left - clock_now_ns(), 0);
		timeout = (struct timespec){left / NS_PER_S, left % NS_PER_S};
	}
	sigemptyset(&none);
	n = ppoll(a->polled.at, a->polled.n, left == NO_DEADLINE ? NULL : &timeout, &none);
	return n >= 0 || errno == EINTR;
}

static bool is_ready(const struct agent *a, size_t i)
{
	return a->polled.at[i].fd >= 0 && a->polled.at[i].revents;
}

static bool work(struct agent *a)
{
	size_t n_polled;

	if (!wait_for_work(a))
		return false;
	n_polled = a->polled.n;
	/* Asked each time: a wait that finds output ready takes no signal. */
	run_reap(&a->run, &a->out);
	if (a->run.pid && clock_now_ns() >= a->run.deadline_ns)
		run_expire(&a->run);
	if (a->run.pid && is_ready(a, 2))
		run_read_output(&a->run, &a->out);
	for (size_t i = 3; i < n_polled; i++)
		if (is_ready(a, i))
			run_read_kept(&a->run);
	return (!is_ready(a, 1) || write_replies(a)) && (!is_ready(a, 0) || read_requests(a));
}

/* What programs inherit from us where the request does not say. */
static void setup_environment(void)
{
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0);
	setenv("HOME", "/", 0);
	setenv("LANG", "C", 1);
}

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int main(int argc, char **argv)
{
	struct agent a = {.in_fd = STDIN_FILENO, .out_fd = STDOUT_FILENO, .run.output_fd = -1};
	bool guest = getpid() == 1;
	struct guest init;

	if (!guest && (argc > 1 || isatty(STDIN_FILENO))) {
		fputs("culprit-agent is started by culprit and talks to it on its standard input\n",
		      stderr);
		return 2;
	}
	setup_signals();
	setup_environment();
	if (guest) {
		if (!guest_init(&init))
			guest_end();
		a.in_fd = a.out_fd = init.port_fd;
		a.spin = init.spin;
	} else {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	}
	set_nonblocking(a.in_fd);
	set_nonblocking(a.out_fd);
	hello_add(&a.out, 0);
	while (work(&a))
		;
	run_release(&a.run);
	proto_reader_release(&a.reader);
	buf_release(&a.out);
	VEC_FREE(&a.polled);
	if (guest)
		guest_end();
	return 0;
}
