// SPDX-License-Identifier: GPL-2.0-or-later
// The frames between culprit and its agent: what is written, and what is found in streams of all
// kinds.
#include "tests/tap.h"

#include "harness/base/rng.h"
#include "runners/agent/proto.h"

/* Written by hand from the header's description, checksum by Python's zlib.crc32. */
static const unsigned char known[] = {
	0xc5, 0x43, 0x4c, 0x50, 0x01, 0x02, 0x01, 0x00, 0x07, 0x00, 0x00,
	0x00, 0x0c, 0x00, 0x00, 0x00, 0x85, 0x78, 0xba, 0x21, 0x20, 0x00,
	0x06, 0x00, 0x00, 0x00, 'r',  'e',  'b',  'o',	'o',  't',
};

static void known_frame(void)
{
	autobuf out = {};
	struct proto_reader r = {};
	struct proto_frame frame;
	struct proto_field field;
	size_t start = proto_begin(&out, PROTO_RUN, PROTO_KEEP, 7);

	proto_add_str(&out, TAG_ARG, "reboot");
	ok(proto_end(&out, start), "a frame is written");
	ok(out.len == sizeof(known) && memcmp(out.data, known, sizeof(known)) == 0,
	   "byte for byte as described");
	proto_feed(&r, known, sizeof(known));
	is_int(proto_next(&r, &frame), 1, "it is read");
	is_int(frame.version, PROTO_VERSION, "version");
	is_int(frame.type, PROTO_RUN, "type");
	is_int(frame.flags, PROTO_KEEP, "flags");
	is_int(frame.seq, 7, "sequence number");
	is_int(proto_next_field(&frame, &field), 1, "a field");
	ok(field.tag == TAG_ARG && field.len == 6 && memcmp(field.data, "reboot", 6) == 0,
	   "its bytes");
	is_int(proto_next_field(&frame, &field), 0, "and no other");
	is_int(proto_next(&r, &frame), 0, "nor another frame");
	proto_reader_release(&r);
}

static void run_both_ways(void)
{
	static const char *const words[] = {"sh", "-c", "echo $size", "", "size=64", "x=a=b\nc"};
	char dir[] = "/tmp";
	struct proto_run run = {
		.cwd = dir, .timeout_ns = 5000000000, .output_max = 1000, .keep = true};
	struct proto_run back;
	struct proto_reader r = {};
	struct proto_frame frame;
	autobuf out = {};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		strv_push(i < 4 ? &run.argv : &run.env, words[i]);
	ok(proto_run_encode(&run, 3, &out), "a run is encoded");
	proto_feed(&r, out.data, out.len);
	ok(proto_next(&r, &frame) == 1 && proto_run_decode(&frame, &back), "and decoded");
	is_int(strv_len(back.argv), 4, "all arguments");
	is_str(back.argv[2], "echo $size", "as they were");
	is_str(back.argv[3], "", "the empty one too");
	is_str(back.env[1], "x=a=b\nc", "environment");
	is_str(back.cwd, "/tmp", "directory");
	ok(back.timeout_ns == run.timeout_ns && back.output_max == 1000 && back.keep,
	   "and the rest");
	proto_run_release(&back);
	proto_reader_release(&r);
	strv_free(run.argv);
	strv_free(run.env);
}

static void bad_runs(void)
{
	static const struct {
		const char *name;
		int tag;
		const char *data;
		size_t len;
	} bad[] = {
		{"no command", TAG_CWD, "/", 1},
		{"a deadline of three bytes", TAG_TIMEOUT_NS, "abc", 3},
		{"a deadline below zero", TAG_TIMEOUT_NS, "\xff\xff\xff\xff\xff\xff\xff\xff", 8},
		{"all memory for output", TAG_OUTPUT_MAX, "\xff\xff\xff\xff\xff\xff\xff\x7f", 8},
	};
	struct proto_run run;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		autobuf out = {};
		size_t start = proto_begin(&out, PROTO_RUN, 0, 1);
		struct proto_frame frame;

		if (i > 0)
			proto_add_str(&out, TAG_ARG, "true");
		proto_add(&out, bad[i].tag, bad[i].data, bad[i].len);
		frame = (struct proto_frame){.payload = out.data + start + PROTO_HEADER,
					     .len = out.len - start - PROTO_HEADER};
		ok(!proto_run_decode(&frame, &run), "refused: %s", bad[i].name);
		frame.len--;
		ok(!proto_run_decode(&frame, &run), "refused: the same, cut short");
	}
}

static void in_pieces(void)
{
	struct proto_reader r = {};
	struct proto_frame frame;
	int found = 0;

	proto_feed(&r,
		   "SeaBIOS\r\n\xc5\xc5"
		   "CL",
		   13); /* the last bytes look like a beginning */
	for (size_t i = 0; i < sizeof(known); i++) {
		is_int(proto_next(&r, &frame), 0, "%zu bytes are no frame", i);
		proto_feed(&r, known + i, 1);
	}
	found = proto_next(&r, &frame);
	ok(found == 1 && frame.seq == 7, "found behind firmware's words, byte by byte");
	is_int(r.skipped, 13, "which were skipped");
	proto_reader_release(&r);
}

static void damaged(void)
{
	struct proto_reader r = {};
	struct proto_frame frame;
	unsigned char copy[sizeof(known)];

	for (size_t i = 0; i < sizeof(known); i++) {
		memcpy(copy, known, sizeof(known));
		copy[i] ^= 0x10;
		proto_reader_release(&r);
		proto_feed(&r, copy, sizeof(copy));
		proto_feed(&r, known, sizeof(known));
		proto_feed(&r, known, sizeof(known));
		/* a longer length swallows what follows it, until its checksum fails */
		if (i >= 12 && i < 15)
			continue;
		ok(proto_next(&r, &frame) == 1 && frame.len == 12 && r.skipped == sizeof(known),
		   "one bit in byte %zu, and the frame after it is taken", i);
	}
	proto_reader_release(&r);
}

static void without_end(void)
{
	struct proto_reader r = {};
	struct proto_frame frame;
	char zeros[4096] = {};
	unsigned char bad[sizeof(known)];
	int found = 0, fed = 0;

	for (; found == 0 && fed < 1000; fed++) {
		proto_feed(&r, zeros, sizeof(zeros));
		found = proto_next(&r, &frame);
	}
	is_int(found, -1, "garbage without end is given up");
	ok(fed <= 257 && r.in.cap <= 1 << 16, "after a megabyte, and not kept");
	proto_reader_release(&r);

	memcpy(bad, known, sizeof(known));
	bad[16] ^= 1;
	for (found = 0, fed = 0; found == 0 && fed < 1000; fed++) {
		proto_feed(&r, bad, sizeof(bad));
		found = proto_next(&r, &frame);
	}
	ok(found == -1 && fed == 65, "and so are damaged frames");
	proto_reader_release(&r);
}

static void too_long(void)
{
	autofree char *big = xcalloc(1, PROTO_MAX_PAYLOAD);
	autobuf out = {};
	size_t start;

	buf_adds(&out, "before");
	start = proto_begin(&out, PROTO_OUTPUT, 0, 1);
	buf_add(&out, big, PROTO_MAX_PAYLOAD);
	ok(proto_end(&out, start), "a payload of a megabyte is a frame");
	start = proto_begin(&out, PROTO_OUTPUT, 0, 1);
	buf_add(&out, big, PROTO_MAX_PAYLOAD);
	buf_addch(&out, 'x');
	ok(!proto_end(&out, start) && out.len == start, "a byte more is not, and leaves nothing");
}

/* Whatever comes, the reader ends, and what it calls a frame lies inside what it was fed. */
static void anything(void)
{
	struct rng rng;
	size_t frames = 0, outside = 0;

	rng_seed(&rng, 1);
	for (int round = 0; round < 2000; round++) {
		struct proto_reader r = {};
		struct proto_frame frame;
		struct proto_field field;
		struct proto_run run;

		for (int piece = 0; piece < 8; piece++) {
			unsigned char bytes[sizeof(known)];
			size_t len = rng_below(&rng, sizeof(known) + 1);

			memcpy(bytes, known, sizeof(known));
			if (rng_below(&rng, 2) == 0)
				bytes[rng_below(&rng, sizeof(known))] =
					(unsigned char)rng_next(&rng);
			proto_feed(&r, bytes, rng_below(&rng, 3) ? sizeof(bytes) : len);
			while (proto_next(&r, &frame) > 0) {
				frames++;
				outside += frame.payload < r.in.data ||
					   frame.payload + frame.len > r.in.data + r.in.len;
				if (proto_run_decode(&frame, &run))
					proto_run_release(&run);
				while (proto_next_field(&frame, &field) > 0)
					outside += field.data + field.len > r.in.data + r.in.len;
			}
		}
		proto_reader_release(&r);
	}
	ok(frames > 4000, "whole frames are found among broken ones");
	is_int(outside, 0, "and all lie inside what was fed");
}

int main(void)
{
	known_frame();
	run_both_ways();
	bad_runs();
	in_pieces();
	damaged();
	without_end();
	too_long();
	anything();
	return plan_done();
}
