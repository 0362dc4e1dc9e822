// SPDX-License-Identifier: GPL-2.0-or-later
// The framed protocol between culprit and its agent: the same over a pipe, a serial port or ssh.
#pragma once

#include "harness/base/buf.h"

/*
 * A frame; numbers are little endian:
 *	 0  4  magic
 *	 4  1  PROTO_VERSION
 *	 5  1  type
 *	 6  2  flags
 *	 8  4  sequence number of a request, repeated in what answers it
 *	12  4  length of the payload, at most PROTO_MAX_PAYLOAD
 *	16  4  CRC-32 of the 16 bytes before and the payload
 *	20     payload: fields, or plain bytes in PROTO_OUTPUT
 *
 * Who says what: the agent greets with HELLO and says it again when asked with an empty one. RUN
 * asks for one command at a time; any number of OUTPUT and one EXIT answer it. BYE ends the agent.
 */
#define PROTO_VERSION	  1
#define PROTO_HEADER	  20
#define PROTO_MAX_PAYLOAD (1u << 20)
#define PROTO_MAX_OUTPUT  (64u << 20) /* what one run may ask to have kept */

enum proto_type { PROTO_HELLO = 1, PROTO_RUN, PROTO_OUTPUT, PROTO_EXIT, PROTO_BYE };

#define PROTO_KEEP 1 /* flag of RUN: what it leaves running stays until the boot ends */

enum proto_tag {
	/* HELLO */
	TAG_RELEASE = 1,
	TAG_VERSION,
	TAG_BOOT_ID,
	TAG_CMDLINE,
	TAG_MACHINE,
	TAG_NOTES,
	TAG_CPUS,
	TAG_MEMORY,
	TAG_FACT, /* "name=value", repeated */
	/* RUN */
	TAG_ARG = 32, /* repeated */
	TAG_ENV,      /* "NAME=value", repeated */
	TAG_CWD,
	TAG_TIMEOUT_NS,
	TAG_OUTPUT_MAX,
	/* EXIT */
	TAG_END = 64, /* enum proto_end */
	TAG_CODE,
	TAG_WALL_NS,
	TAG_USER_US,
	TAG_SYS_US,
	TAG_VOLUNTARY,
	TAG_INVOLUNTARY,
	TAG_MAX_RSS,
	TAG_OUTPUT_TOTAL,
	TAG_LEFT, /* processes of the run that could not be killed */
};

enum proto_end { PROTO_EXITED, PROTO_SIGNALED, PROTO_DEADLINE, PROTO_NOT_STARTED };

struct proto_frame {
	uint8_t version, type;
	uint16_t flags;
	uint32_t seq;
	const char *payload; /* in the reader, until its next feed */
	size_t len;
};

/* Takes frames out of a byte stream that may hold anything else: what is no frame is skipped. */
struct proto_reader {
	struct buf in;
	size_t pos;	  /* of the first byte not looked at */
	size_t skipped;	  /* garbage so far */
	unsigned damaged; /* frames whose checksum was wrong */
};
void proto_reader_release(struct proto_reader *r);
void proto_feed(struct proto_reader *r, const void *data, size_t len);
/* 1 and a frame, 0 when more bytes are needed, -1 when the stream has too much that is no frame. */
int proto_next(struct proto_reader *r, struct proto_frame *ret);

/* Frames are written into a buffer: begin, add fields or bytes, end. */
size_t proto_begin(struct buf *out, enum proto_type type, uint16_t flags, uint32_t seq);
void proto_add(struct buf *out, enum proto_tag tag, const void *data, size_t len);
void proto_add_str(struct buf *out, enum proto_tag tag, const char *s);
void proto_add_u64(struct buf *out, enum proto_tag tag, uint64_t v);
/* start is what begin returned. false: the payload is too long, and the frame is gone again. */
bool proto_end(struct buf *out, size_t start);

struct proto_field {
	uint16_t tag;
	const char *data;
	size_t len;
};
/* Takes the next field off the payload of a frame: 1, 0 at the end, -1 where it is cut short. */
int proto_next_field(struct proto_frame *rest, struct proto_field *ret);
bool proto_field_u64(const struct proto_field *f, uint64_t *ret); /* false unless it is a number */
char *proto_field_str(const struct proto_field *f, size_t max);	  /* owned, ends at a NUL inside */

/* RUN, for both sides. */
struct proto_run {
	char **argv, **env; /* strv */
	char *cwd;	    /* NULL: the agent's own */
	int64_t timeout_ns;
	uint64_t output_max;
	bool keep;
};
void proto_run_release(struct proto_run *run);
bool proto_run_decode(const struct proto_frame *frame, struct proto_run *ret);
bool proto_run_encode(const struct proto_run *run, uint32_t seq, struct buf *out);
