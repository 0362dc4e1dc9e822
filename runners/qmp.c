// SPDX-License-Identifier: GPL-2.0-or-later
// QEMU's control protocol: its events, line by line.
#include "runners/qmp.h"

#include "harness/base/json.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum { MAX_LINE = 64 << 10 };

static void say(struct qmp *qmp, const char *command)
{
	autofree char *line = xasprintf("{\"execute\":\"%s\"}\n", command);

	/* A few bytes into an empty socket; where they do not fit, nobody listens. */
	send(qmp->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void keep(char to[32], const char *text)
{
	snprintf(to, 32, "%s", text ? text : "?");
}

static void take_line(struct qmp *qmp, const char *line, size_t len)
{
	ERR_CLEANUP struct err ignored = {};
	autojson struct json *message = NULL;
	const char *event, *status;

	if (json_parse(line, len, &message, &ignored) < 0)
		return;
	event = json_str(json_get(message, "event"));
	status = json_str(json_at(message, "return.status"));
	if (json_get(message, "QMP")) {
		say(qmp, "qmp_capabilities");
	} else if (streq(event, "STOP")) {
		say(qmp, "query-status");
	} else if (streq(event, "SHUTDOWN")) {
		keep(qmp->reason, json_str(json_at(message, "data.reason")));
		qmp->by_guest = str_starts(qmp->reason, "guest-");
	} else if (status && !streq(status, "running") && !streq(status, "shutdown")) {
		keep(qmp->stopped, status);
	}
}

static void take_lines(struct qmp *qmp)
{
	char *start = qmp->in.data, *end = start + qmp->in.len, *newline;

	while (start < end && (newline = memchr(start, '\n', end - start))) {
		take_line(qmp, start, newline - start);
		start = newline + 1;
	}
	buf_drop(&qmp->in, start - qmp->in.data);
	if (qmp->in.len > MAX_LINE)
		buf_clear(&qmp->in);
}

/* false when there is nothing to read now, or never again. */
static bool read_some(struct qmp *qmp)
{
	char chunk[4096];
	ssize_t n = recv(qmp->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n > 0) {
		buf_add(&qmp->in, chunk, n);
		take_lines(qmp);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		loop_remove(qmp->loop, qmp->fd);
		close(take_fd(&qmp->fd));
	}
	return n > 0;
}

static void on_readable(int fd, short revents, void *arg)
{
	read_some(arg);
}

void qmp_init(struct qmp *qmp, int fd, struct loop *loop)
{
	*qmp = (struct qmp){.fd = fd, .loop = loop};
	loop_add_fd(loop, fd, POLLIN, on_readable, qmp);
}

void qmp_drain(struct qmp *qmp)
{
	while (qmp->fd >= 0 && read_some(qmp))
		;
}

void qmp_release(struct qmp *qmp)
{
	if (qmp->fd >= 0) {
		loop_remove(qmp->loop, qmp->fd);
		close(qmp->fd);
	}
	buf_release(&qmp->in);
}
