// SPDX-License-Identifier: GPL-2.0-or-later
// ELF files through libelf: opening, build-id, program interpreter.
#include "harness/kernel/elf.h"

#include "harness/base/buf.h"
#include "harness/base/util.h"
#include "harness/kernel/identity.h"

#include <fcntl.h>

int elf_fail(const struct elf_file *f, const char *what, struct err *err)
{
	const char *why = elf_errmsg(-1);

	return err_set(err, ERR_USAGE, "'%s': %s: %s", f->path, what, why ? why : "malformed");
}

int elf_file_open(const char *path, struct elf_file *ret, struct err *err)
{
	autoelf f = {.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};

	if (f.fd < 0)
		return err_errno(err, "cannot open '%s'", path);
	elf_version(EV_CURRENT);
	f.elf = elf_begin(f.fd, ELF_C_READ_MMAP, NULL);
	if (!f.elf || elf_kind(f.elf) != ELF_K_ELF || !gelf_getehdr(f.elf, &f.header))
		return err_set(err, ERR_USAGE, "'%s' is not an ELF file", path);
	if (elf_getshdrstrndx(f.elf, &f.names))
		f.names = 0;
	*ret = f;
	f = (struct elf_file)ELF_FILE_INIT;
	return 0;
}

void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file)ELF_FILE_INIT;
}

const char *elf_section_name(const struct elf_file *f, const GElf_Shdr *section)
{
	const char *name = f->names ? elf_strptr(f->elf, f->names, section->sh_name) : NULL;

	return name ? name : "";
}

static char *to_hex(const unsigned char *bytes, size_t n)
{
	autobuf hex = {};

	for (size_t i = 0; i < n; i++)
		buf_printf(&hex, "%02x", bytes[i]);
	return buf_take(&hex);
}

/* The build-id among the notes of one section, or NULL. */
static char *build_id_in(Elf_Data *notes)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (notes && (at = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    memcmp(bytes + name, "GNU", sizeof("GNU")) == 0 && note.n_descsz)
			return to_hex((const unsigned char *)bytes + desc, note.n_descsz);
	}
	return NULL;
}

int elf_build_id(const char *path, char **ret_hex, struct err *err)
{
	autoelf f = ELF_FILE_INIT;
	Elf_Scn *section = NULL;
	int rc = elf_file_open(path, &f, err);

	if (rc)
		return rc;
	while ((section = elf_nextscn(f.elf, section))) {
		GElf_Shdr header;
		char *hex;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		hex = build_id_in(elf_getdata(section, NULL));
		if (hex) {
			*ret_hex = hex;
			return 0;
		}
	}
	return err_set(err, ERR_NOT_FOUND, "'%s' has no build-id", path);
}

int elf_interpreter(const char *path, char **ret, struct err *err)
{
	autoelf f = ELF_FILE_INIT;
	size_t n = 0, size = 0;
	const char *image;
	int rc = elf_file_open(path, &f, err);

	if (rc)
		return rc;
	image = elf_rawfile(f.elf, &size);
	if (!image || elf_getphdrnum(f.elf, &n))
		return elf_fail(&f, "no program headers", err);
	*ret = NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(f.elf, (int)i, &p) || p.p_type != PT_INTERP)
			continue;
		if (p.p_offset >= size || p.p_filesz > size - p.p_offset)
			return elf_fail(&f, "interpreter beyond the end", err);
		*ret = xstrndup(image + p.p_offset, p.p_filesz);
		break;
	}
	return 0;
}
