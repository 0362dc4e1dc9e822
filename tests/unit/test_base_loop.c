// SPDX-License-Identifier: GPL-2.0-or-later
// loop, log, progress, signals: waiting for descriptors and timers, and what people see meanwhile.
#include "tests/tap.h"

#include "harness/base/clock.h"
#include "harness/base/crew.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/loop.h"
#include "harness/base/progress.h"
#include "harness/base/signals.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

struct seen {
	struct loop *loop;
	int calls, other;
	char text[16];
};

static void on_data(int fd, short revents, void *arg)
{
	struct seen *s = arg;
	ssize_t n = read(fd, s->text, sizeof(s->text) - 1);

	s->calls++;
	s->text[MAX(n, 0)] = '\0';
}

static void on_timer(void *arg)
{
	struct seen *s = arg;

	s->text[s->calls++] = 'a';
}

static void on_timer_b(void *arg)
{
	struct seen *s = arg;

	s->text[s->calls++] = 'b';
}

/* Removes itself and the other descriptor, which is ready too. */
static void on_first(int fd, short revents, void *arg)
{
	struct seen *s = arg;

	s->calls++;
	loop_remove(s->loop, fd);
	loop_remove(s->loop, s->other);
}

static void on_again(void *arg)
{
	struct seen *s = arg;

	s->calls++;
	loop_timer(s->loop, 0, on_again, s);
}

static void test_fds(void)
{
	struct err err ERR_CLEANUP = {};
	autoloop struct loop *loop = loop_new();
	struct seen seen = {.loop = loop};
	int a[2], b[2];

	ok(pipe(a) == 0 && pipe(b) == 0, "two pipes");
	loop_add_fd(loop, a[0], POLLIN, on_data, &seen);
	is_int(loop_run_once(loop, clock_deadline_ns(NS_PER_MS), &err), 0,
	       "nothing before the deadline");
	ok(write(a[1], "hello", 5) == 5, "written");
	is_int(loop_run_once(loop, NO_DEADLINE, &err), 1, "a callback ran");
	is_str(seen.text, "hello", "and read it");
	close(a[1]);
	is_int(loop_run_once(loop, NO_DEADLINE, &err), 1, "the end of a pipe is told, too");
	seen = (struct seen){.loop = loop, .other = b[0]};
	loop_add_fd(loop, a[0], POLLIN, on_first, &seen);
	loop_add_fd(loop, b[0], POLLIN, on_data, &seen);
	ok(write(b[1], "x", 1) == 1, "both ready");
	loop_run_once(loop, NO_DEADLINE, &err);
	is_int(seen.calls, 1, "a callback that removes the other one");
	is_int(loop_run_once(loop, clock_now_ns(), &err), 0, "nothing is left to watch");
	loop_remove(loop, 999);
	close(a[0]);
	close(b[0]);
	close(b[1]);
}

static void test_timers(void)
{
	struct err err ERR_CLEANUP = {};
	autoloop struct loop *loop = loop_new();
	struct seen seen = {.loop = loop}, again = {.loop = loop};
	int64_t now = clock_now_ns();
	int cancelled = loop_timer(loop, now, on_timer, &seen);

	loop_timer(loop, now + 2 * NS_PER_MS, on_timer, &seen);
	loop_timer(loop, now + NS_PER_MS, on_timer_b, &seen);
	loop_timer_cancel(loop, cancelled);
	loop_timer_cancel(loop, 999);
	while (seen.calls < 2)
		loop_run_once(loop, NO_DEADLINE, &err);
	ok(clock_now_ns() >= now + 2 * NS_PER_MS && strchr(seen.text, 'a') &&
		   strchr(seen.text, 'b'),
	   "timers fire");
	is_int(loop_run_once(loop, clock_deadline_ns(NS_PER_MS), &err), 0, "once");
	loop_timer(loop, 0, on_again, &again);
	loop_run_once(loop, NO_DEADLINE, &err);
	is_int(again.calls, 1, "a timer that sets itself again waits for the next round");
}

/* What a child writes to stderr while it does this. */
static char *stderr_of(void (*fn)(void))
{
	autobuf text = {};
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		return NULL;
	if (pid == 0) {
		dup2(fds[1], 2);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], buf_reserve(&text, 1000), 1000)) > 0)
		buf_truncate(&text, text.len + n);
	close(fds[0]);
	waitpid(pid, &status, 0);
	return buf_take(&text);
}

static void say_things(void)
{
	log_set_level(LOG_WARN);
	log_error("broken");
	log_warn("careful");
	log_info("not shown");
	log_debug("nor this");
}

static void show_progress(void)
{
	progress_phase("not enabled");
	progress_enable(true);
	progress_total(2, 9, 192);
	progress_phase("build %s", "3f2a\033[1m");
	progress_phase("build %s", "3f2a\033[1m");
	progress_tick();
	progress_total(3, 9, 0);
	progress_phase("boot");
	progress_enable(false);
	progress_phase("hidden");
}

static void test_messages(void)
{
	struct err err ERR_CLEANUP = {};
	char path[] = "/tmp/culprit-log-XXXXXX";
	autofree char *said = stderr_of(say_things), *shown = stderr_of(show_progress);
	autobuf text = {};
	int fd = mkstemp(path);

	is_str(said, "error: broken\nwarning: careful\n",
	       "by level, without colours where it is no terminal");
	is_str(shown, "[2 of about 9, 3m 12s left] build 3f2a?[1m (0s)\n[3 of about 9] boot (0s)\n",
	       "a plain line when the text changes");
	setenv("CULPRIT_NOW", "1796074637", 1);
	is_int(log_open_file(path), 0, "log file");
	log_set_level(LOG_ERROR);
	log_debug("detail");
	fs_read(path, 1000, &text, &err);
	ok(str_starts(buf_str(&text), "2026-11-30 21:37:17 [") &&
		   str_ends(buf_str(&text), "] debug: detail\n"),
	   "holds everything: %s", buf_str(&text));
	ok(log_open_file("/no/such/file") < 0, "a log file that cannot be");
	close(fd);
	unlink(path);
}

static int stop_status(int signals)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = {};
		struct loop *loop = loop_new();
		struct pollfd fd;
		bool good;

		signals_init();
		fd = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
		good = !signals_pending() && !signals_check(&err) && poll(&fd, 1, 0) == 0;
		for (int i = 0; i < signals; i++)
			raise(i ? SIGTERM : SIGINT);
		good = good && signals_pending() == SIGINT &&
		       signals_check(&err) == -ERR_INTERRUPTED;
		good = good && poll(&fd, 1, 0) == 1 && poll(&fd, 1, 0) == 1;
		good = good && loop_run_once(loop, NO_DEADLINE, &err) == -ERR_INTERRUPTED;
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --- tasks side by side --- */

struct talker {
	int in, out;
	int *inside; /* tasks that are between two waits */
	int said, met, rc;
};

static void hear(int fd, short revents, void *arg)
{
	struct talker *t = arg;
	char c;

	t->met += read(fd, &c, 1) == 1;
}

/* says a word, waits for the other's, five times: alone it would wait for ever */
static int talk(void *arg, struct err *err)
{
	struct talker *t = arg;
	autoloop struct loop *loop = loop_new();
	int64_t deadline_ns = clock_deadline_ns(20 * NS_PER_S);
	int crowded = 0;

	loop_add_fd(loop, t->in, POLLIN, hear, t);
	for (int i = 0; i < 5; i++) {
		crowded += ++*t->inside > 1;
		t->said += write(t->out, "x", 1) == 1;
		sched_yield();
		crowded += *t->inside > 1;
		--*t->inside;
		if (loop_run_once(loop, deadline_ns, err) <= 0)
			return err_set(err, ERR_FAILED, "the other does not speak");
	}
	if (crowded)
		return err_set(err, ERR_FAILED, "two were at work at once");
	return t->rc ? err_set(err, (enum err_code) - t->rc, "as asked") : 0;
}

static void test_crew(void)
{
	struct err err = {};
	int there[2], back[2], inside = 0, alone[2];

	if (pipe(there) || pipe(back) || pipe(alone))
		return ok(false, "no pipes"), (void)0;

	struct talker a = {.in = back[0], .out = there[1], .inside = &inside};
	struct talker b = {.in = there[0], .out = back[1], .inside = &inside};
	struct talker c = {.in = alone[0], .out = alone[1], .inside = &inside};
	void *all[] = {&a, &b, &c};

	is_int(crew_run(talk, all, 3, &err), 0, "tasks go on while others wait");
	ok(a.met == 5 && b.met == 5 && c.met == 5, "each heard five words");
	b.rc = -ERR_INFRA;
	c.rc = -ERR_BUSY;
	is_int(crew_run(talk, all, 3, &err), -ERR_INFRA, "the first error in their order");
	is_int(err.code, ERR_INFRA, "is the one that is told");
	is_int(a.said + b.said + c.said, 30, "and all go to their end");
	err_release(&err);
	is_int(crew_run(talk, (void *[]){&c}, 1, &err), -ERR_BUSY, "one task is just called");
	err_release(&err);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
		close(alone[i]);
	}
}

int main(void)
{
	test_crew();
	test_fds();
	test_timers();
	test_messages();
	is_int(stop_status(1), 0,
	       "the first signal sets a flag, and a descriptor that stays ready");
	is_int(stop_status(2), 143, "the second ends at once");
	return plan_done();
}
