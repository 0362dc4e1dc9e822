// SPDX-License-Identifier: GPL-2.0-or-later
// The identity of a kernel and the hash of its code, read from vmlinux and module files.
#include "harness/kernel/identity.h"

#include "harness/base/buf.h"
#include "harness/base/util.h"
#include "harness/kernel/elf.h"

#define BUG_ENTRY_BYTES 12 /* s32 address, s32 file, u16 line, u16 flags */
#define BUG_LINE_OFFSET 8

/* What is blanked before hashing, wherever it is found. */
struct mask {
	bool bug_lines;
	char release[66]; /* "" when unknown */
};

static bool counts(const struct elf_file *f, const GElf_Shdr *s)
{
	const char *name = elf_section_name(f, s);

	return (s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NOBITS && s->sh_type != SHT_NOTE &&
	       !str_starts(name, ".BTF") && !streq(name, ".modinfo");
}

static void hash_number(struct hash *h, uint64_t v)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	hash_add(h, bytes, sizeof(bytes));
}

/* Blanks n bytes after each occurrence of a pattern; with n = 0 the pattern itself. */
static void blank_all(struct buf *b, const void *pattern, size_t len, size_t n)
{
	char *p = b->data, *end = b->data + b->len;

	while (len && (p = memmem(p, end - p, pattern, len))) {
		char *from = n ? p + len : p;

		memset(from, 0, MIN(n ? n : len, (size_t)(end - from)));
		p += len;
	}
}

static void blank_bug_lines(struct buf *b)
{
	if (b->len % BUG_ENTRY_BYTES)
		return;
	for (size_t at = BUG_LINE_OFFSET; at + 2 <= b->len; at += BUG_ENTRY_BYTES)
		memset(b->data + at, 0, 2);
}

/* Finds a symbol by name in the first symbol table. */
static bool find_symbol(const struct elf_file *f, const char *name, GElf_Sym *ret)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(f->elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *text = elf_strptr(f->elf, header.sh_link, sym.st_name);

			if (text && streq(text, name)) {
				*ret = sym;
				return true;
			}
		}
	}
	return false;
}

/* Where a symbol's bytes lie in its section of a linked file; false if they do not. */
static bool symbol_range(const struct elf_file *f, const char *name, size_t *ret_section,
			 size_t *ret_at, size_t *ret_len)
{
	GElf_Shdr header;
	GElf_Sym sym;

	if (!find_symbol(f, name, &sym) || sym.st_shndx >= SHN_LORESERVE ||
	    !gelf_getshdr(elf_getscn(f->elf, sym.st_shndx), &header) ||
	    sym.st_value < header.sh_addr || sym.st_value - header.sh_addr > header.sh_size ||
	    sym.st_size > header.sh_size - (sym.st_value - header.sh_addr))
		return false;
	*ret_section = sym.st_shndx;
	*ret_at = sym.st_value - header.sh_addr;
	*ret_len = sym.st_size;
	return true;
}

/* The release out of "Linux version 6.1.0 (user@host) ...". */
static void read_release(const struct elf_file *f, struct mask *mask)
{
	static const char prefix[] = "Linux version ";
	size_t section, at, len, n;
	autofree char *banner = NULL;
	Elf_Data *data;

	if (!symbol_range(f, "linux_banner", &section, &at, &len))
		return;
	data = elf_getdata(elf_getscn(f->elf, section), NULL);
	if (!data || !data->d_buf || at + len > data->d_size)
		return;
	banner = xstrndup((const char *)data->d_buf + at, len);
	if (!str_starts(banner, prefix))
		return;
	n = strcspn(banner + strlen(prefix), " ");
	/* A shorter one could hit bytes that are no version. */
	if (n >= 3 && n < sizeof(mask->release))
		snprintf(mask->release, sizeof(mask->release), "%.*s", (int)n,
			 banner + strlen(prefix));
}

static void blank_symbol(const struct elf_file *f, size_t section, const char *name, struct buf *b)
{
	size_t in, at, len;

	if (symbol_range(f, name, &in, &at, &len) && in == section && at + len <= b->len)
		memset(b->data + at, 0, len);
}

static int hash_section(const struct elf_file *f, Elf_Scn *section, const GElf_Shdr *header,
			const struct mask *mask, struct hash *h, struct err *err)
{
	static const char build_id_note[] = "\4\0\0\0\x14\0\0\0\3\0\0\0GNU";
	Elf_Data *data = elf_rawdata(section, NULL);
	const char *name = elf_section_name(f, header);
	autobuf bytes = {};

	if (!data)
		return elf_fail(f, name, err);
	buf_add(&bytes, data->d_buf, data->d_size);
	if (f->header.e_type != ET_REL) {
		blank_symbol(f, elf_ndxscn(section), "linux_banner", &bytes);
		blank_symbol(f, elf_ndxscn(section), "init_uts_ns", &bytes);
	}
	blank_all(&bytes, mask->release, strlen(mask->release), 0);
	blank_all(&bytes, build_id_note, sizeof(build_id_note), 20);
	if (mask->bug_lines && streq(name, "__bug_table"))
		blank_bug_lines(&bytes);
	hash_adds(h, name);
	hash_number(h, header->sh_addr);
	hash_number(h, header->sh_flags);
	hash_number(h, bytes.len);
	hash_add(h, bytes.data, bytes.len);
	return 0;
}

/* A symbol by what it stands for, since its number shifts with debug information. */
static void hash_symbol(const struct elf_file *f, Elf_Data *symbols, size_t strings, size_t number,
			struct hash *h)
{
	GElf_Shdr header;
	GElf_Sym sym;

	if (!gelf_getsym(symbols, (int)number, &sym))
		return;
	hash_adds(h, elf_strptr(f->elf, strings, sym.st_name));
	hash_number(h, sym.st_value);
	if (sym.st_shndx && sym.st_shndx < SHN_LORESERVE &&
	    gelf_getshdr(elf_getscn(f->elf, sym.st_shndx), &header))
		hash_adds(h, elf_section_name(f, &header));
}

/* The relocations of a section; in an unlinked module the bytes alone do not say what is called. */
static int hash_relocations(const struct elf_file *f, Elf_Scn *section, const GElf_Shdr *header,
			    struct hash *h, struct err *err)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *table = elf_getscn(f->elf, header->sh_link);
	GElf_Shdr table_header;
	Elf_Data *symbols;
	GElf_Rela r;

	if (!data || !table || !gelf_getshdr(table, &table_header) ||
	    !(symbols = elf_getdata(table, NULL)))
		return elf_fail(f, elf_section_name(f, header), err);
	hash_adds(h, elf_section_name(f, header));
	for (int i = 0; gelf_getrela(data, i, &r); i++) {
		hash_number(h, r.r_offset);
		hash_number(h, GELF_R_TYPE(r.r_info));
		hash_number(h, (uint64_t)r.r_addend);
		hash_symbol(f, symbols, table_header.sh_link, GELF_R_SYM(r.r_info), h);
	}
	return 0;
}

/* Whether a section holds relocations of a module that apply to a section that counts. */
static bool relocates(const struct elf_file *f, const GElf_Shdr *header)
{
	GElf_Shdr target;

	return f->header.e_type == ET_REL && header->sh_type == SHT_RELA &&
	       gelf_getshdr(elf_getscn(f->elf, header->sh_info), &target) && counts(f, &target);
}

static int hash_file_code(const struct elf_file *f, const struct mask *mask, struct hash *h,
			  struct err *err)
{
	Elf_Scn *section = NULL;
	int rc = 0;

	while (!rc && (section = elf_nextscn(f->elf, section))) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			return elf_fail(f, "bad section", err);
		if (counts(f, &header))
			rc = hash_section(f, section, &header, mask, h, err);
		else if (relocates(f, &header))
			rc = hash_relocations(f, section, &header, h, err);
	}
	return rc;
}

/* The name a module has below /sys/module: no directory, no suffix, dashes as underscores. */
static char *module_name(const char *path)
{
	char *name = xstrdup(path_base(path));

	name[strcspn(name, ".")] = '\0';
	for (char *p = name; (p = strchr(p, '-'));)
		*p = '_';
	return name;
}

struct module {
	char *name;
	const char *path;
};

static int by_module_name(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

static int add_file(const char *name, const char *path, struct mask *mask, struct buf *notes,
		    struct hash *h, struct err *err)
{
	autoelf f = ELF_FILE_INIT;
	autofree char *id = NULL;
	int rc = elf_build_id(path, &id, err);

	if (!rc)
		rc = elf_file_open(path, &f, err);
	if (rc)
		return rc;
	if (f.header.e_type != ET_REL)
		read_release(&f, mask);
	buf_printf(notes, "%s %s\n", name, id);
	hash_adds(h, name);
	return hash_file_code(&f, mask, h, err);
}

int identity_read(const char *vmlinux, char *const *modules, bool bug_lines, struct identity *ret,
		  struct err *err)
{
	struct mask mask = {.bug_lines = bug_lines};
	VEC(struct module) list = {};
	char code_hash[HASH_HEX];
	struct hash *h = hash_new();
	autobuf notes = {};
	int rc;

	for (size_t i = 0; modules && modules[i]; i++)
		VEC_PUSH(&list, (struct module){module_name(modules[i]), modules[i]});
	if (list.n)
		qsort(list.at, list.n, sizeof(*list.at), by_module_name);
	rc = add_file("vmlinux", vmlinux, &mask, &notes, h, err);
	for (size_t i = 0; i < list.n; i++) {
		if (!rc)
			rc = add_file(list.at[i].name, list.at[i].path, &mask, &notes, h, err);
		free(list.at[i].name);
	}
	VEC_FREE(&list);
	hash_end(h, code_hash);
	if (rc)
		return rc;
	ret->notes = buf_take(&notes);
	memcpy(ret->code_hash, code_hash, sizeof(code_hash));
	return 0;
}

void identity_release(struct identity *id)
{
	free(id->notes);
	*id = (struct identity){};
}
