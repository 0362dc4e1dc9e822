// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent says of itself: which kernel runs, proved by the build-ids that it carries in
// memory.
#include "runners/agent/agent.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/utsname.h>

enum { NOTE_BUILD_ID = 3, MAX_NOTES = 64 << 10 };

static uint32_t note_word(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v)); /* notes are in the order of the machine that reads them */
	return v;
}

/* ELF notes: name length, description length, type, name and description padded to four bytes. */
static void add_build_id(struct buf *out, const char *what, const char *notes, size_t len)
{
	for (size_t at = 0; len - at >= 12;) {
		size_t name_len = note_word(notes + at), desc_len = note_word(notes + at + 4);
		uint32_t type = note_word(notes + at + 8);
		size_t name = at + 12, desc = name + ((name_len + 3) & ~(size_t)3);

		at = desc + ((desc_len + 3) & ~(size_t)3);
		if (desc + desc_len > len)
			return;
		if (type == NOTE_BUILD_ID && name_len == 4 && memcmp(notes + name, "GNU", 4) == 0) {
			buf_printf(out, "%s ", what);
			for (size_t i = 0; i < desc_len; i++)
				buf_printf(out, "%02x", (unsigned char)notes[desc + i]);
			buf_addch(out, '\n');
			return;
		}
		if (at > len)
			return;
	}
}

static void add_notes_of(struct buf *out, const char *what, const char *path)
{
	autofree char *notes = xmalloc(MAX_NOTES);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	size_t len = 0;

	while (fd >= 0 && len < MAX_NOTES && (n = read(fd, notes + len, MAX_NOTES - len)) > 0)
		len += n;
	add_build_id(out, what, notes, len);
}

/* "vmlinux <hex>", then the loaded modules by name; those that are built in carry no note of their
 * own. */
static void add_identity(struct buf *out)
{
	struct dirent **modules;
	int n = scandir("/sys/module", &modules, NULL, alphasort);

	add_notes_of(out, "vmlinux", "/sys/kernel/notes");
	for (int i = 0; i < n; i++) {
		autofree char *path =
			xasprintf("/sys/module/%s/notes/.note.gnu.build-id", modules[i]->d_name);

		if (modules[i]->d_name[0] != '.')
			add_notes_of(out, modules[i]->d_name, path);
		free(modules[i]);
	}
	if (n >= 0)
		free(modules);
}

/* In a guest the machine is what its recipe says, and all but the processor's name what this kernel
 * makes of it. */
static void add_fact(void *out, enum fact_of of, const char *name, const char *value)
{
	bool kernel = of == FACT_OF_KERNEL || (getpid() == 1 && !streq(name, "cpu_model"));
	autofree char *fact = xasprintf("%s%s=%s", kernel ? "kernel." : "", name, value);

	proto_add_str(out, TAG_FACT, fact);
}

void hello_add(struct buf *out, uint32_t seq)
{
	size_t start = proto_begin(out, PROTO_HELLO, 0, seq);
	autofree char *boot_id = fact_line("/proc/sys/kernel/random/boot_id");
	autofree char *cmdline = fact_line("/proc/cmdline");
	autobuf notes = {};
	struct utsname uts;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (uname(&uts) == 0) {
		proto_add_str(out, TAG_RELEASE, uts.release);
		proto_add_str(out, TAG_VERSION, uts.version);
		proto_add_str(out, TAG_MACHINE, uts.machine);
	}
	proto_add_str(out, TAG_BOOT_ID, boot_id);
	proto_add_str(out, TAG_CMDLINE, cmdline);
	add_identity(&notes);
	proto_add_str(out, TAG_NOTES, buf_str(&notes));
	proto_add_u64(out, TAG_CPUS, MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L));
	proto_add_u64(out, TAG_MEMORY, pages > 0 ? (uint64_t)pages * page : 0);
	facts_each(add_fact, out);
	proto_end(out, start);
}
