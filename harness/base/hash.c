// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256 through nettle.
#include "harness/base/hash.h"

#include "harness/base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>

struct hash {
	struct sha256_ctx ctx;
};

struct hash *hash_new(void)
{
	struct hash *h = xmalloc(sizeof(*h));

	sha256_init(&h->ctx);
	return h;
}

void hash_add(struct hash *h, const void *data, size_t len)
{
	sha256_update(&h->ctx, len, data);
}

void hash_adds(struct hash *h, const char *s)
{
	/* The length goes first, in a fixed byte order; NULL is a length no string has. */
	uint64_t len = s ? strlen(s) : UINT64_MAX;
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(len >> 8 * i);
	hash_add(h, bytes, sizeof(bytes));
	if (s)
		hash_add(h, s, len);
}

static void digest_hex(struct sha256_ctx *ctx, char ret_hex[HASH_HEX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
}

void hash_end(struct hash *h, char ret_hex[HASH_HEX])
{
	digest_hex(&h->ctx, ret_hex);
	free(h);
}

int hash_file(const char *path, char ret_hex[HASH_HEX], struct err *err)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct sha256_ctx ctx;
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return err_errno(err, "cannot open '%s'", path);
	sha256_init(&ctx);
	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno != EINTR)
			return err_errno(err, "cannot read '%s'", path);
		if (n > 0)
			sha256_update(&ctx, n, (const uint8_t *)block);
	}
	digest_hex(&ctx, ret_hex);
	return 0;
}
