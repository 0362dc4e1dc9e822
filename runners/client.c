// SPDX-License-Identifier: GPL-2.0-or-later
// Talking to an agent: its greeting, one run at a time, and how the talk can end.
#include "runners/client.h"

#include "harness/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

/* What a guest may say of itself. */
enum { MAX_TEXT = 4096, MAX_NOTES = 512 << 10, MAX_FACTS = 64 };

static const int64_t check_every_ns = 200 * NS_PER_MS;

_Static_assert((int)PROTO_EXITED == RUN_EXITED && (int)PROTO_SIGNALED == RUN_SIGNALED &&
		       (int)PROTO_DEADLINE == RUN_DEADLINE &&
		       (int)PROTO_NOT_STARTED == RUN_NOT_STARTED,
	       "the ends of a run travel as they are");

void run_reply_release(struct run_reply *r)
{
	buf_release(&r->output);
	*r = (struct run_reply){};
}

void agent_hello_release(struct agent_hello *hello)
{
	free(hello->release);
	free(hello->version);
	free(hello->boot_id);
	free(hello->cmdline);
	free(hello->machine);
	free(hello->notes);
	json_free(hello->environment);
	*hello = (struct agent_hello){};
}

static void set_text(char **at, const struct proto_field *f, size_t max)
{
	free(*at);
	*at = proto_field_str(f, max);
}

/* "name=value" into the environment, made safe to print. */
static void add_fact(struct json *environment, const struct proto_field *f)
{
	const char *equal = memchr(f->data, '=', f->len);
	autobuf name = {}, value = {};

	if (!equal || json_len(environment) >= MAX_FACTS)
		return;
	buf_add_safe(&name, f->data, equal - f->data, 64, false);
	buf_add_safe(&value, equal + 1, f->data + f->len - equal - 1, MAX_TEXT, false);
	json_set_str(environment, buf_str(&name), buf_str(&value));
}

static void take_hello_field(struct agent_hello *hello, const struct proto_field *f)
{
	uint64_t number = 0;

	switch (f->tag) {
	case TAG_RELEASE:
		set_text(&hello->release, f, MAX_TEXT);
		break;
	case TAG_VERSION:
		set_text(&hello->version, f, MAX_TEXT);
		break;
	case TAG_BOOT_ID:
		set_text(&hello->boot_id, f, MAX_TEXT);
		break;
	case TAG_CMDLINE:
		set_text(&hello->cmdline, f, MAX_TEXT);
		break;
	case TAG_MACHINE:
		set_text(&hello->machine, f, MAX_TEXT);
		break;
	case TAG_NOTES:
		set_text(&hello->notes, f, MAX_NOTES);
		break;
	case TAG_CPUS:
		if (proto_field_u64(f, &number) && number <= UINT32_MAX)
			hello->cpus = number;
		break;
	case TAG_MEMORY:
		proto_field_u64(f, &hello->memory_bytes);
		break;
	case TAG_FACT:
		add_fact(hello->environment, f);
		break;
	}
}

bool client_decode_hello(const struct proto_frame *frame, struct agent_hello *ret)
{
	struct agent_hello hello = {.protocol = frame->version, .environment = json_object_new()};
	struct proto_frame rest = *frame;
	struct proto_field f;
	int more;

	while ((more = proto_next_field(&rest, &f)) > 0)
		take_hello_field(&hello, &f);
	if (more < 0 || !hello.release || !hello.version || !hello.boot_id || !hello.cmdline ||
	    !hello.machine || !hello.notes || hello.cpus == 0) {
		agent_hello_release(&hello);
		return false;
	}
	*ret = hello;
	return true;
}

bool client_decode_exit(const struct proto_frame *frame, struct run_reply *reply,
			uint64_t *ret_left)
{
	uint64_t v[TAG_LEFT - TAG_END + 1] = {};
	struct proto_frame rest = *frame;
	struct proto_field f;
	int more;

	while ((more = proto_next_field(&rest, &f)) > 0)
		if (f.tag >= TAG_END && f.tag <= TAG_LEFT &&
		    !proto_field_u64(&f, &v[f.tag - TAG_END]))
			return false;
	if (more < 0 || v[0] > RUN_NOT_STARTED || v[TAG_CODE - TAG_END] > INT32_MAX)
		return false;
	reply->end = v[0];
	reply->code = v[TAG_CODE - TAG_END];
	reply->seconds = v[TAG_WALL_NS - TAG_END] / 1e9;
	reply->user_s = v[TAG_USER_US - TAG_END] / 1e6;
	reply->sys_s = v[TAG_SYS_US - TAG_END] / 1e6;
	reply->voluntary_switches = MIN(v[TAG_VOLUNTARY - TAG_END], (uint64_t)INT64_MAX);
	reply->involuntary_switches = MIN(v[TAG_INVOLUNTARY - TAG_END], (uint64_t)INT64_MAX);
	reply->max_rss_bytes = MIN(v[TAG_MAX_RSS - TAG_END], (uint64_t)INT64_MAX);
	reply->output_total = v[TAG_OUTPUT_TOTAL - TAG_END];
	*ret_left = v[TAG_LEFT - TAG_END];
	return true;
}

static void take_output(struct boot *b, const struct proto_frame *frame)
{
	if (frame->len > b->output_max - b->reply.output.len) {
		b->broken = "sent more output than was asked for";
		return;
	}
	buf_add(&b->reply.output, frame->payload, frame->len);
	/* Sending takes time of its own; its amount is bounded, so this is, too. */
	b->run_deadline_ns = MAX(b->run_deadline_ns, clock_deadline_ns(b->grace_ns));
}

static void take_frame(struct boot *b, const struct proto_frame *frame)
{
	struct agent_hello hello;

	if (frame->version != PROTO_VERSION) {
		b->broken = "speaks another version of the protocol";
	} else if (frame->type == PROTO_HELLO && !b->greeted) {
		if (!client_decode_hello(frame, &hello)) {
			b->broken = "sent a greeting that makes no sense";
			return;
		}
		agent_hello_release(&b->hello);
		b->hello = hello;
		b->greeted = true;
	} else if (b->running && frame->seq == b->seq) {
		if (frame->type == PROTO_OUTPUT)
			take_output(b, frame);
		else if (frame->type != PROTO_EXIT)
			return;
		else if (client_decode_exit(frame, &b->reply, &b->left))
			b->running = false;
		else
			b->broken = "sent a result that makes no sense";
	}
}

static void read_agent(struct boot *b)
{
	char chunk[65536];
	ssize_t n = read(b->fd, chunk, sizeof(chunk));
	struct proto_frame frame;
	int found = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		b->gone = true;
		loop_remove(b->loop, b->fd);
		return;
	}
	proto_feed(&b->in, chunk, n);
	while (!b->broken && (found = proto_next(&b->in, &frame)) > 0)
		take_frame(b, &frame);
	if (found < 0)
		b->broken = "sent what is no protocol";
}

static void write_agent(struct boot *b)
{
	ssize_t n = send(b->fd, b->out.data, b->out.len, MSG_NOSIGNAL);

	if (n > 0)
		buf_drop(&b->out, n);
	/* An error here shows as the end of what we read. */
}

static void on_agent(int fd, short revents, void *arg)
{
	struct boot *b = arg;

	if (revents & POLLOUT)
		write_agent(b);
	if (revents & ~POLLOUT)
		read_agent(b);
	if (!b->gone)
		loop_add_fd(b->loop, b->fd, b->out.len ? POLLIN | POLLOUT : POLLIN, on_agent, b);
}

void boot_init(struct boot *boot, const struct boot_kind *kind, int fd)
{
	boot->kind = kind;
	boot->fd = fd;
	boot->loop = loop_new();
	boot->start_ns = clock_now_ns();
	boot->clock_factor = 1;
	boot->grace_ns = 30 * NS_PER_S;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	loop_add_fd(boot->loop, fd, POLLIN, on_agent, boot);
}

void boot_release(struct boot *boot)
{
	loop_free(boot->loop);
	if (boot->fd >= 0)
		close(boot->fd);
	proto_reader_release(&boot->in);
	buf_release(&boot->out);
	agent_hello_release(&boot->hello);
	run_reply_release(&boot->reply);
	free(boot->console_log);
}

void boot_stop(struct boot *boot)
{
	if (boot)
		boot->kind->stop(boot);
}

/* Sends what is in out, as far as the other end takes it now; the loop sends the rest. */
static void flush(struct boot *b)
{
	write_agent(b);
	if (b->out.len && !b->gone)
		loop_add_fd(b->loop, b->fd, POLLIN | POLLOUT, on_agent, b);
}

static int talk_failed(struct boot *b, struct err *err)
{
	if (b->over)
		return err_set(err, ERR_INFRA, "this boot has ended already");
	b->over = true;
	if (b->gone)
		return b->kind->gone(b, b->running, err);
	return err_set(err, ERR_INFRA, "the agent %s", b->broken);
}

/* Waits until *flag is want. What else may happen is an error. */
static int wait_for(struct boot *b, const bool *flag, bool want, const int64_t *deadline_ns,
		    struct err *err)
{
	while (*flag != want) {
		int64_t wake_ns = MIN(*deadline_ns, clock_deadline_ns(check_every_ns));
		int rc;

		if (b->gone || b->broken)
			return talk_failed(b, err);
		if (clock_now_ns() >= *deadline_ns)
			return err_set(err, b->running ? ERR_FAILED : b->kind->boot_failure,
				       "no word from the agent");
		rc = loop_run_once(b->loop, b->kind->check ? wake_ns : *deadline_ns, err);
		if (rc >= 0 && b->kind->check)
			rc = b->kind->check(b, b->running, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Names the phase and adds the console, except where a person stopped us. */
static int in_phase(const struct boot *b, const char *phase, int rc, struct err *err)
{
	if (rc < 0 && err->code != ERR_INTERRUPTED)
		boot_add_console(b, err);
	if (rc < 0 && !err->phase[0])
		err_phase(err, phase);
	return rc;
}

int boot_greet(struct boot *boot, int64_t deadline_ns, struct err *err)
{
	char took[32];
	int rc = wait_for(boot, &boot->greeted, true, &deadline_ns, err);

	boot->seconds = (clock_now_ns() - boot->start_ns) / 1e9;
	if (rc < 0 && clock_now_ns() >= deadline_ns && err->code == boot->kind->boot_failure)
		err_wrap(err, "nothing after %s", clock_format_duration(boot->seconds, took));
	return in_phase(boot, "boot", rc, err);
}

int boot_refresh_hello(struct boot *boot, struct err *err)
{
	int64_t deadline_ns = clock_deadline_ns(boot->grace_ns);

	boot->greeted = false;
	proto_end(&boot->out, proto_begin(&boot->out, PROTO_HELLO, 0, ++boot->seq));
	flush(boot);
	return in_phase(boot, "identity", wait_for(boot, &boot->greeted, true, &deadline_ns, err),
			err);
}

static int send_request(struct boot *b, const struct run_request *req, struct err *err)
{
	const struct proto_run run = {
		.argv = (char **)(uintptr_t)req->argv,
		.env = (char **)(uintptr_t)req->env,
		.cwd = (char *)(uintptr_t)req->cwd,
		.timeout_ns = req->timeout_ns,
		.output_max = MIN(req->output_max, (size_t)PROTO_MAX_OUTPUT),
		.keep = req->keep_children,
	};
	double limit_ns = (double)req->timeout_ns * b->clock_factor + (double)b->grace_ns;

	if (!proto_run_encode(&run, ++b->seq, &b->out))
		return err_set(err, ERR_USAGE, "command and environment are longer than %u bytes",
			       PROTO_MAX_PAYLOAD);
	run_reply_release(&b->reply);
	b->output_max = run.output_max;
	b->run_deadline_ns = limit_ns < 0x1p62 ? clock_deadline_ns((int64_t)limit_ns) : NO_DEADLINE;
	b->running = true;
	flush(b);
	return 0;
}

int boot_run(struct boot *boot, const struct run_request *req, struct run_reply *ret,
	     struct err *err)
{
	int rc = send_request(boot, req, err);

	if (rc == 0)
		rc = wait_for(boot, &boot->running, false, &boot->run_deadline_ns, err);
	if (rc == 0 && boot->left > 0)
		rc = err_set(err, ERR_FAILED, "%llu processes of the run cannot be killed",
			     (unsigned long long)boot->left);
	if (rc < 0)
		return in_phase(boot, "run", rc, err);
	*ret = boot->reply;
	boot->reply = (struct run_reply){};
	return 0;
}

const struct agent_hello *boot_hello(const struct boot *boot)
{
	return &boot->hello;
}

double boot_seconds(const struct boot *boot)
{
	return boot->seconds;
}
