// SPDX-License-Identifier: GPL-2.0-or-later
// The host's side of the agent protocol; what every runner's boot is made of.
#pragma once

#include "runners/agent/proto.h"
#include "runners/runner.h"

#include "harness/base/loop.h"

/* What differs between runners once the agent talks. */
struct boot_kind {
	enum err_code boot_failure; /* what no agent at boot means: ERR_UNTESTABLE, ERR_INFRA */
	/* The agent's end is closed: says why, with a code of its choice. */
	int (*gone)(struct boot *boot, bool running, struct err *err);
	/* Asked a few times a second while waiting; NULL: there is nothing to look at. */
	int (*check)(struct boot *boot, bool running, struct err *err);
	void (*stop)(struct boot *boot); /* ends what was started and frees the whole boot */
};

/* The first member of a runner's own struct. */
struct boot {
	const struct boot_kind *kind;
	struct loop *loop;
	int fd; /* to the agent; owned */
	struct proto_reader in;
	struct buf out;
	bool gone;	    /* the other end is closed */
	const char *broken; /* what the other end did that no agent does, or NULL */
	bool over;	    /* and the caller was told why */
	bool greeted;
	struct agent_hello hello;
	int64_t start_ns;
	double seconds;
	char *console_log; /* or NULL */
	uint32_t seq;
	/* A run's time by our clock: the guest's may go slower, and a dead guest has none. */
	double clock_factor;
	int64_t grace_ns;
	/* The run that is waited for. */
	bool running;
	size_t output_max;
	struct run_reply reply;
	int64_t run_deadline_ns;
	uint64_t left; /* processes that the agent could not kill */
};

/* fd becomes the boot's. The clock of boot_seconds starts. */
void boot_init(struct boot *boot, const struct boot_kind *kind, int fd);
void boot_release(struct boot *boot); /* what init and the talk allocated; for kind->stop */
void boot_stop(struct boot *boot);    /* kind->stop; NULL is fine */
/* Waits for the agent's first word. Errors carry phase "boot". */
int boot_greet(struct boot *boot, int64_t deadline_ns, struct err *err);

/* What came from a guest, checked; also for the fuzzer. false: it is no such message. */
bool client_decode_hello(const struct proto_frame *frame, struct agent_hello *ret);
void agent_hello_release(struct agent_hello *hello);
bool client_decode_exit(const struct proto_frame *frame, struct run_reply *reply,
			uint64_t *ret_left);

/* --- tail.c --- */
/* Appends what the console said of a trouble, or last of all, to the message of err. */
void boot_add_console(const struct boot *boot, struct err *err);
/* The lines of a console that tell most, indented, each on a line of its own. */
void console_excerpt(const char *text, struct buf *out);

/* --- host.c --- */
/* Facts about this host that numbers depend on. */
void host_describe(struct json *fingerprint);
