// SPDX-License-Identifier: GPL-2.0-or-later
// Writes newc cpio archives: owner 0, time 0, sorted, every directory before what is in it.
#include "harness/kernel/cpio.h"

#include "harness/base/buf.h"
#include "harness/base/fs.h"

#define FILE_MAX_BYTES (1u << 30)
#define ALIGN	       4

static void add(struct cpio *c, const char *path, struct cpio_entry e)
{
	e.path = xstrdup(path + strspn(path, "/"));
	e.order = c->entries.n;
	VEC_PUSH(&c->entries, e);
}

void cpio_add_dir(struct cpio *c, const char *path, mode_t permissions)
{
	add(c, path, (struct cpio_entry){.mode = S_IFDIR | permissions});
}

void cpio_add_file(struct cpio *c, const char *path, mode_t permissions, const char *source)
{
	add(c, path, (struct cpio_entry){.mode = S_IFREG | permissions, .source = xstrdup(source)});
}

void cpio_add_text(struct cpio *c, const char *path, mode_t permissions, const char *text)
{
	add(c, path, (struct cpio_entry){.mode = S_IFREG | permissions, .text = xstrdup(text)});
}

void cpio_add_link(struct cpio *c, const char *path, const char *target)
{
	add(c, path, (struct cpio_entry){.mode = S_IFLNK | 0777, .text = xstrdup(target)});
}

void cpio_add_char(struct cpio *c, const char *path, mode_t permissions, uint32_t major,
		   uint32_t minor)
{
	add(c, path,
	    (struct cpio_entry){.mode = S_IFCHR | permissions, .major = major, .minor = minor});
}

static void entry_release(struct cpio_entry *e)
{
	free(e->path);
	free(e->source);
	free(e->text);
}

static int by_path_and_order(const void *va, const void *vb)
{
	const struct cpio_entry *a = va, *b = vb;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static void add_parents(struct cpio *c, const char *path)
{
	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		autofree char *dir = xstrndup(path, slash - path);

		cpio_add_dir(c, dir, 0755);
	}
}

void cpio_finish(struct cpio *c)
{
	size_t added = c->entries.n, n = 0;

	for (size_t i = 0; i < added; i++) {
		/* A copy: adding moves the array. */
		autofree char *path = xstrdup(c->entries.at[i].path);

		add_parents(c, path);
	}
	if (c->entries.n)
		qsort(c->entries.at, c->entries.n, sizeof(*c->entries.at), by_path_and_order);
	for (size_t i = 0; i < c->entries.n; i++) {
		if (n && streq(c->entries.at[n - 1].path, c->entries.at[i].path))
			entry_release(&c->entries.at[i]);
		else
			c->entries.at[n++] = c->entries.at[i];
	}
	c->entries.n = n;
}

static void hash_numbers(struct hash *h, const struct cpio_entry *e)
{
	autofree char *text = xasprintf("%o %u %u", (unsigned)e->mode, e->major, e->minor);

	hash_adds(h, text);
}

int cpio_hash(const struct cpio *c, char ret_hex[HASH_HEX], struct err *err)
{
	struct hash *h = hash_new();
	char source[HASH_HEX];
	int rc = 0;

	for (size_t i = 0; i < c->entries.n && !rc; i++) {
		const struct cpio_entry *e = &c->entries.at[i];

		rc = e->source ? hash_file(e->source, source, err) : 0;
		hash_adds(h, e->path);
		hash_numbers(h, e);
		hash_adds(h, e->source && !rc ? source : e->text);
	}
	hash_end(h, ret_hex);
	return rc;
}

static void write_padding(FILE *f, size_t len)
{
	static const char zeros[ALIGN];

	fwrite(zeros, 1, (ALIGN - len % ALIGN) % ALIGN, f);
}

/* One member: header, name, data, each padded to four bytes. Write errors show at the end, in
 * ferror. */
static void write_member(FILE *f, uint32_t inode, const struct cpio_entry *e, const char *data,
			 size_t len)
{
	size_t name_len = strlen(e->path) + 1;
	int header = fprintf(f, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", inode,
			     (unsigned)e->mode, 0, 0, S_ISDIR(e->mode) ? 2 : 1, 0, (unsigned)len, 0,
			     0, e->major, e->minor, (unsigned)name_len, 0);

	fwrite(e->path, 1, name_len, f);
	write_padding(f, (header > 0 ? header : 0) + name_len);
	fwrite(data, 1, len, f);
	write_padding(f, len);
}

static int write_entry(FILE *f, uint32_t inode, const struct cpio_entry *e, struct err *err)
{
	autobuf bytes = {};
	int rc = e->source ? fs_read(e->source, FILE_MAX_BYTES, &bytes, err) : 0;

	if (rc)
		return rc;
	if (e->text)
		buf_adds(&bytes, e->text);
	write_member(f, inode, e, buf_str(&bytes), bytes.len);
	return 0;
}

static int write_all(const struct cpio *c, FILE *f, const char *path, struct err *err)
{
	char name[] = "TRAILER!!!";
	const struct cpio_entry trailer = {.path = name};
	int rc = 0;

	for (size_t i = 0; i < c->entries.n && !rc; i++)
		rc = write_entry(f, (uint32_t)i + 1, &c->entries.at[i], err);
	if (rc)
		return rc;
	write_member(f, 0, &trailer, "", 0);
	if (ferror(f) || fflush(f) || fsync(fileno(f)))
		return err_errno(err, "cannot write '%s'", path);
	return 0;
}

int cpio_write(const struct cpio *c, const char *path, struct err *err)
{
	autofree char *temp = xasprintf("%s.tmp-%d", path, (int)getpid());
	autofclose FILE *f = fopen(temp, "we");
	int rc = f ? write_all(c, f, path, err) : err_errno(err, "cannot write '%s'", path);

	if (!rc && rename(temp, path))
		rc = err_errno(err, "cannot write '%s'", path);
	if (rc)
		unlink(temp);
	return rc;
}

void cpio_release(struct cpio *c)
{
	for (size_t i = 0; i < c->entries.n; i++)
		entry_release(&c->entries.at[i]);
	VEC_FREE(&c->entries);
}
