// SPDX-License-Identifier: GPL-2.0-or-later
// Frames and fields: writing them, and finding them in a stream that may hold anything.
#include "runners/agent/proto.h"

static const unsigned char magic[4] = {0xc5, 'C', 'L', 'P'};

/* Firmware and a kernel that shares the port may speak before the agent does, but not without end.
 * A damaged frame costs up to a megabyte of checksum, so the number of those is limited as well. */
enum { MAX_GARBAGE = 1 << 20, MAX_DAMAGED = 64 };

static void put_le(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_addch(b, (char)(v >> 8 * i));
}

static uint64_t get_le(const char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | (unsigned char)p[i];
	return v;
}

/* CRC-32 as in IEEE 802.3 (reflected, polynomial 0x04c11db7), four bits at a time. */
static uint32_t crc32_add(uint32_t crc, const char *data, size_t len)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)data[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static uint32_t frame_crc(const char *frame, size_t payload_len)
{
	return crc32_add(crc32_add(0, frame, 16), frame + PROTO_HEADER, payload_len);
}

void proto_reader_release(struct proto_reader *r)
{
	buf_release(&r->in);
	*r = (struct proto_reader){};
}

void proto_feed(struct proto_reader *r, const void *data, size_t len)
{
	buf_drop(&r->in, r->pos);
	r->pos = 0;
	buf_add(&r->in, data, len);
}

/* Steps over bytes that begin no frame; false once there were too many of them. */
static bool skip(struct proto_reader *r, size_t n)
{
	r->pos += n;
	r->skipped += n;
	return r->skipped <= MAX_GARBAGE;
}

/* Moves to the next place where a frame may begin. */
static bool skip_to_magic(struct proto_reader *r)
{
	const char *start = r->in.data + r->pos;
	size_t left = r->in.len - r->pos;
	const char *at = memmem(start, left, magic, sizeof(magic));

	if (!at && left >= sizeof(magic))
		at = start + left - (sizeof(magic) - 1); /* it may have come in part */
	return !at || skip(r, at - start);
}

/* Looks at a magic: 1 a frame, 0 more bytes are needed, -1 it is none. */
static int frame_here(struct proto_reader *r, struct proto_frame *ret)
{
	const char *p = r->in.data + r->pos;
	size_t left = r->in.len - r->pos, len;

	if (left < PROTO_HEADER)
		return 0;
	len = get_le(p + 12, 4);
	if (len > PROTO_MAX_PAYLOAD)
		return -1;
	if (left - PROTO_HEADER < len)
		return 0;
	if (get_le(p + 16, 4) != frame_crc(p, len)) {
		r->damaged++;
		return -1;
	}
	*ret = (struct proto_frame){
		.version = p[4],
		.type = p[5],
		.flags = get_le(p + 6, 2),
		.seq = get_le(p + 8, 4),
		.payload = p + PROTO_HEADER,
		.len = len,
	};
	return 1;
}

int proto_next(struct proto_reader *r, struct proto_frame *ret)
{
	while (r->pos < r->in.len) {
		int found;

		if (!skip_to_magic(r))
			return -1;
		found = frame_here(r, ret);
		if (found > 0)
			r->pos += PROTO_HEADER + ret->len;
		if (found >= 0)
			return found;
		if (r->damaged > MAX_DAMAGED || !skip(r, 1))
			return -1;
	}
	return 0;
}

size_t proto_begin(struct buf *out, enum proto_type type, uint16_t flags, uint32_t seq)
{
	size_t start = out->len;

	buf_add(out, magic, sizeof(magic));
	put_le(out, PROTO_VERSION, 1);
	put_le(out, type, 1);
	put_le(out, flags, 2);
	put_le(out, seq, 4);
	put_le(out, 0, 8); /* length and checksum come with the end */
	return start;
}

void proto_add(struct buf *out, enum proto_tag tag, const void *data, size_t len)
{
	put_le(out, tag, 2);
	put_le(out, len, 4);
	buf_add(out, data, len);
}

void proto_add_str(struct buf *out, enum proto_tag tag, const char *s)
{
	proto_add(out, tag, s, strlen(s));
}

void proto_add_u64(struct buf *out, enum proto_tag tag, uint64_t v)
{
	put_le(out, tag, 2);
	put_le(out, sizeof(v), 4);
	put_le(out, v, sizeof(v));
}

static void set_le32(char *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (char)(v >> 8 * i);
}

bool proto_end(struct buf *out, size_t start)
{
	char *frame = out->data + start;
	size_t len = out->len - start - PROTO_HEADER;

	if (len > PROTO_MAX_PAYLOAD) {
		buf_truncate(out, start);
		return false;
	}
	set_le32(frame + 12, len);
	set_le32(frame + 16, frame_crc(frame, len));
	return true;
}

int proto_next_field(struct proto_frame *rest, struct proto_field *ret)
{
	size_t len;

	if (rest->len == 0)
		return 0;
	if (rest->len < 6)
		return -1;
	len = get_le(rest->payload + 2, 4);
	if (len > rest->len - 6)
		return -1;
	*ret = (struct proto_field){get_le(rest->payload, 2), rest->payload + 6, len};
	rest->payload += 6 + len;
	rest->len -= 6 + len;
	return 1;
}

bool proto_field_u64(const struct proto_field *f, uint64_t *ret)
{
	if (f->len != sizeof(*ret))
		return false;
	*ret = get_le(f->data, sizeof(*ret));
	return true;
}

char *proto_field_str(const struct proto_field *f, size_t max)
{
	return xstrndup(f->data, MIN(f->len, max));
}

void proto_run_release(struct proto_run *run)
{
	strv_free(run->argv);
	strv_free(run->env);
	free(run->cwd);
	*run = (struct proto_run){};
}

static void push_field(char ***v, const struct proto_field *f)
{
	autofree char *s = proto_field_str(f, f->len);

	strv_push(v, s);
}

bool proto_run_decode(const struct proto_frame *frame, struct proto_run *ret)
{
	enum { MAX_STRINGS = 4096 };
	struct proto_run run = {.keep = frame->flags & PROTO_KEEP};
	struct proto_frame rest = *frame;
	struct proto_field f;
	uint64_t timeout = 0;
	size_t strings = 0;
	bool good = true;
	int more;

	while (good && (more = proto_next_field(&rest, &f)) != 0) {
		good = more > 0;
		if (good && f.tag == TAG_ARG && ++strings <= MAX_STRINGS)
			push_field(&run.argv, &f);
		else if (good && f.tag == TAG_ENV && ++strings <= MAX_STRINGS)
			push_field(&run.env, &f);
		else if (good && f.tag == TAG_CWD && !run.cwd)
			run.cwd = proto_field_str(&f, f.len);
		else if (good && f.tag == TAG_TIMEOUT_NS)
			good = proto_field_u64(&f, &timeout);
		else if (good && f.tag == TAG_OUTPUT_MAX)
			good = proto_field_u64(&f, &run.output_max);
	}
	run.timeout_ns = (int64_t)timeout;
	if (!good || strings > MAX_STRINGS || !run.argv || timeout > INT64_MAX ||
	    run.output_max > PROTO_MAX_OUTPUT) {
		proto_run_release(&run);
		return false;
	}
	*ret = run;
	return true;
}

bool proto_run_encode(const struct proto_run *run, uint32_t seq, struct buf *out)
{
	size_t start = proto_begin(out, PROTO_RUN, run->keep ? PROTO_KEEP : 0, seq);

	for (char **a = run->argv; a && *a; a++)
		proto_add_str(out, TAG_ARG, *a);
	for (char **e = run->env; e && *e; e++)
		proto_add_str(out, TAG_ENV, *e);
	if (run->cwd)
		proto_add_str(out, TAG_CWD, run->cwd);
	proto_add_u64(out, TAG_TIMEOUT_NS, run->timeout_ns);
	proto_add_u64(out, TAG_OUTPUT_MAX, run->output_max);
	return proto_end(out, start);
}
