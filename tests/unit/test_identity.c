// SPDX-License-Identifier: GPL-2.0-or-later
// Identity and code hash, on small ELF files made by the compiler: what changes them and what does
// not.
#include "harness/kernel/identity.h"
#include "harness/kernel/sources.h"
#include "tests/unit/kernel_fixture.h"

#define CC "gcc -O2 -g -ffreestanding -fno-pic -fno-pie -fcf-protection=none -I. -c "

/* Builds vmlinux out of one source text and a module out of another, as name.elf and name.ko. */
static void build(const char *name, const char *kernel, const char *module, const char *link_flags)
{
	sh_do("mkdir -p %s && cd %s\n"
	      "cat > k.c <<'X'\n%s\nX\n"
	      "cat > m.c <<'X'\n%s\nX\n" CC "k.c && " CC "m.c\n"
	      "ld -e start %s -Ttext=0x100000 --build-id=sha1 -o vmlinux k.o\n"
	      "ld -r --build-id=sha1 -o my-mod.ko m.o\n",
	      name, name, kernel, module, link_flags);
}

static struct identity identify(const char *name, bool bug_lines)
{
	autofree char *vmlinux = xasprintf("%s/%s/vmlinux", top, name);
	autofree char *module = xasprintf("%s/%s/my-mod.ko", top, name);
	char *modules[] = {module, NULL};
	ERR_CLEANUP struct err err = {};
	struct identity id = {};

	if (!ok(identity_read(vmlinux, modules, bug_lines, &id, &err) == 0, "%s is read", name))
		diag("%s", err.message);
	return id;
}

#define BANNER(release, compiler)                                                                  \
	"const char linux_banner[] = \"Linux version " release " (a@b) (" compiler ") #1\\n\";\n"  \
	"const char version[] __attribute__((used)) = \"driver of " release "\";\n"
#define BUG_TABLE                                                                                  \
	"#define BUG() asm volatile(\"1: ud2; .pushsection __bug_table,\\\"aw\\\";\""              \
	"\"2: .long 1b - .; .long 0; .word %c0, 7; .popsection\" : : \"i\"(__LINE__))\n"
#define KERNEL(body) BANNER("6.1.0", "gcc 12") BUG_TABLE "int x;\nvoid start(void)\n{\n" body "}\n"
#define MODULE(body)                                                                               \
	"extern int one(void), two(void);\n"                                                       \
	"static const char info[] __attribute__((used, section(\".modinfo\"))) = "                 \
	"\"vermagic=6.1.0\";\n"                                                                    \
	"int init_module(void)\n{\n" body "}\n"

/* Builds the variant and says whether its code hash equals that of "base". */
static bool same_code(const char *name, const char *kernel, const char *module,
		      const char *link_flags, bool *ret_same_notes)
{
	struct identity a = identify("base", true), b;
	bool same;

	build(name, kernel, module, link_flags);
	b = identify(name, true);
	same = streq(a.code_hash, b.code_hash);
	*ret_same_notes = streq(a.notes, b.notes);
	identity_release(&a);
	identity_release(&b);
	return same;
}

static void test_notes(void)
{
	struct identity id = identify("base", true);
	autofree char *expected =
		sh("for f in vmlinux my-mod.ko; do readelf -n base/$f | sed -n 's/.*Build ID: "
		   "//p'; done"
		   " | { read a; read b; echo \"vmlinux $a\"; echo \"my_mod $b\"; echo .; }");

	expected[strlen(expected) - 1] = '\0';
	is_str(id.notes, expected,
	       "build-ids as readelf shows them, the module by its name in /sys/module");
	is_int(strlen(id.code_hash), 64, "a code hash");
	identity_release(&id);
}

static void test_equal_code(void)
{
	bool notes;

	ok(same_code("comment", "/* one\n more */\n" KERNEL("BUG(); x = 1;"),
		     "// line\n" MODULE("return one();"), "", &notes),
	   "comments that shift lines: equal code, with debug information and a bug table");
	ok(!notes, "although the build-ids differ, through the debug information");
	ok(same_code("release",
		     BANNER("6.1.1", "gcc 12") BUG_TABLE
		     "int x;\nvoid start(void)\n{\nBUG(); x = 1;}\n",
		     MODULE("return one();"), "", &notes),
	   "another release of equal length: equal code");
	ok(same_code("stripped", KERNEL("BUG(); x = 1;"), MODULE("return one();"), "-S", &notes),
	   "without debug information: equal code");
}

static void test_different_code(void)
{
	bool notes;

	ok(!same_code("constant", KERNEL("BUG(); x = 2;"), MODULE("return one();"), "", &notes),
	   "another constant in the kernel: other code");
	ok(!same_code("data", KERNEL("static int d = 5; BUG(); x = *(volatile int *)&d;"),
		      MODULE("return one();"), "", &notes),
	   "more data: other code");
	ok(!same_code("call", KERNEL("BUG(); x = 1;"), MODULE("return two();"), "", &notes),
	   "a module that calls another function, with the same bytes: other code");
	ok(!notes, "and another build-id");
	ok(!same_code("moved", KERNEL("BUG(); x = 1;"), MODULE("return one();"), "-Tdata=0x300000",
		      &notes),
	   "sections at other addresses: other code");
}

static void test_bug_lines_kept(void)
{
	struct identity a = identify("base", false), b = identify("comment", false);

	ok(!streq(a.code_hash, b.code_hash), "without knowledge of the bug table its lines count");
	identity_release(&a);
	identity_release(&b);
}

static void test_errors(void)
{
	autofree char *plain = in_top("plain"), *none = in_top("none"),
		      *missing = in_top("missing");
	struct identity id = {};
	ERR_CLEANUP struct err err = {};
	char *hex = NULL;

	sh_do("echo text > plain; ld -e start --build-id=none -o none base/k.o; head -c 4000 "
	      "base/vmlinux > cut");
	is_int(elf_build_id(plain, &hex, &err), -ERR_USAGE, "a text is no ELF file");
	is_int(elf_build_id(none, &hex, &err), -ERR_NOT_FOUND, "a file without a build-id says so");
	is_int(elf_build_id(missing, &hex, &err), -ERR_NOT_FOUND, "a missing file too");
	is_int(identity_read(none, NULL, true, &id, &err), -ERR_NOT_FOUND, "and gives no identity");
	free(plain);
	plain = in_top("cut");
	ok(identity_read(plain, NULL, true, &id, &err) < 0, "a file that is cut off is an error");
}

static void test_interpreter(void)
{
	autofree char *dynamic = in_top("dynamic"), *fixed = in_top("static"), *interpreter = NULL,
		      *none = NULL;
	ERR_CLEANUP struct err err = {};

	sh_do("echo 'int main(void) { return 0; }' > p.c; gcc -o dynamic p.c; gcc -static -o "
	      "static p.c");
	ok(elf_interpreter(dynamic, &interpreter, &err) == 0, "a dynamic program is read");
	like(interpreter, "/ld-", "its interpreter is the loader");
	ok(elf_interpreter(fixed, &none, &err) == 0 && !none, "a static one has none");
}

static void test_sources(void)
{
	autofree char *src = in_top("src"), *obj = in_top("obj");
	ERR_CLEANUP struct err err = {};
	autobuf list = {};

	sh_do("mkdir -p src obj/kernel/sched obj/include\n"
	      "cat > obj/kernel/.fork.o.cmd <<X\n"
	      "cmd_kernel/fork.o := gcc -I $PWD/src/arch -c $PWD/src/kernel/only-in-command.c\n\n"
	      "source_kernel/fork.o := $PWD/src/kernel/fork.c\n\n"
	      "deps_kernel/fork.o := \\\\\n"
	      "    \\$(wildcard include/config/SMP) \\\\\n"
	      "  $PWD/src/include/linux/mm.h \\\\\n"
	      "  include/generated/bounds.h \\\\\n\n"
	      "kernel/fork.o: \\$(deps_kernel/fork.o)\nX\n"
	      "cat > obj/kernel/sched/.core.o.cmd <<X\n"
	      "cmd\nsource_x := $PWD/src/kernel/sched/core.c\n\n"
	      "deps := \\\\\n  $PWD/src/kernel/sched/../workqueue.h \\\\\n  "
	      "$PWD/src/./include/linux/mm.h \\\\\n"
	      "  $PWD/src/../outside.h \\\\\n  /usr/include/stdio.h \\\\\nX\n"
	      "echo \"x $PWD/src/no.c\" > obj/kernel/fork.o.d");
	ok(sources_read(obj, src, &list, &err) == 0, "dependency files are read");
	is_str(buf_str(&list),
	       "include/linux/mm.h\nkernel/fork.c\nkernel/sched/core.c\nkernel/workqueue.h\n",
	       "sources, sorted, each once, without generated and foreign ones");
}

int main(void)
{
	fixture_begin();
	build("base", KERNEL("BUG(); x = 1;"), MODULE("return one();"), "");
	test_notes();
	test_equal_code();
	test_different_code();
	test_bug_lines_kept();
	test_errors();
	test_interpreter();
	test_sources();
	return fixture_end();
}
