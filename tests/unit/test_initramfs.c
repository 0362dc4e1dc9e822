// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's root file system, listed and unpacked by cpio itself.
#include "harness/kernel/initramfs.h"
#include "harness/kernel/cpio.h"
#include "tests/unit/kernel_fixture.h"

#include <sys/stat.h>

static char *cache, *agent;

static char *make(char *const *programs, const char *modules)
{
	ERR_CLEANUP struct err err = {};
	char *path = NULL;

	if (initramfs_make(cache, agent, programs, modules, &path, &err))
		diag("%s", err.message);
	return path;
}

static void test_listing(void)
{
	char *programs[] = {TEXT("dynprog"), NULL};
	autofree char *path = make(programs, NULL);
	autofree char *list = NULL, *sorted = NULL;

	if (!ok(path != NULL, "an initramfs with a program is made"))
		return;
	list = sh("cpio -tv --numeric-uid-gid < %s 2>/dev/null", path);
	like(list, "-rwxr-xr-x   1 0        0", "owners are 0");
	like(list, "Jan  1  1970 init\n", "the agent is /init, at time 0");
	like(list, " usr/bin/dynprog\n",
	     "the program is along the guest's PATH, wherever the host has it");
	like(list, " bin/busybox\n", "busybox is there");
	like(list, " bin/sh -> /bin/busybox", "and its applets");
	like(list, "ld-linux-x86-64.so.2\n", "the program's loader");
	like(list, "libc.so.6\n", "and its library");
	like(list, " dev/console\n", "a console for the kernel to open");
	like(list, "crw-------   1 0        0          5,   1", "of the right number");
	like(list, "drwxrwxrwt   2 0        0", "a tmp for everyone");
	sorted = sh("cpio -t < %s 2>/dev/null > names; LC_ALL=C sort -u names | cmp - names && "
		    "echo sorted",
		    path);
	is_str(sorted, "sorted",
	       "names are sorted and unique, so directories come before what is in them");
}

/* The archive as root would unpack it, run in place. */
static void test_contents(void)
{
	char *programs[] = {TEXT("dynprog"), NULL};
	autofree char *path = make(programs, NULL), *text = NULL, *same = NULL;

	sh_do("rm -rf out && mkdir out && cd out && cpio -id --no-preserve-owner < %s 2>/dev/null "
	      "|| true",
	      path);
	text = sh("cat out/etc/hosts out/etc/passwd");
	like(text, "127.0.0.1 localhost\n", "localhost resolves");
	like(text, "root:x:0:0", "root exists");
	same = sh("cmp out/init agent && cmp out/usr/bin/dynprog bin/dynprog && echo same");
	is_str(same, "same", "files have the bytes of the host's");
}

static void test_equal_content(void)
{
	char *programs[] = {TEXT("dynprog"), NULL};
	autofree char *a = make(programs, NULL), *b = NULL, *c = NULL, *d = make(NULL, NULL),
		      *count = NULL;

	sh_do("touch -d @5 bin/dynprog; cp bin/dynprog x; mv x bin/dynprog");
	b = make(programs, NULL);
	is_str(a, b, "equal content, one file");
	ok(!streq(a, d), "with another list of programs another");
	sh_do("echo more >> bin/dynprog");
	c = make(programs, NULL);
	ok(!streq(a, c), "with another program of that name another");
	count = sh("ls cache/initramfs | wc -l");
	is_str(count, "3", "and nothing else is left in the cache");
}

static void test_scripts(void)
{
	char *programs[] = {TEXT("script"), TEXT("shscript"), NULL};
	autofree char *path = NULL, *list = NULL;

	sh_do("printf '#! /usr/bin/env dynprog\\n' > bin/script; printf '#!/bin/sh\\n' > "
	      "bin/shscript;"
	      "chmod 755 bin/script bin/shscript");
	path = make(programs, NULL);
	list = path ? sh("cpio -tv < %s 2>/dev/null", path) : NULL;
	like(list, "usr/bin/script\n", "a script is taken along");
	like(list, "usr/bin/dynprog\n", "with its interpreter, also by way of env");
	like(list, "bin/sh -> /bin/busybox", "a shell script is served by busybox");
}

static void test_applet_hidden(void)
{
	char *programs[] = {TEXT("tar"), NULL};
	autofree char *path = NULL, *list = NULL;

	sh_do("cp bin/dynprog bin/tar");
	path = make(programs, NULL);
	list = path ? sh("cpio -t < %s 2>/dev/null | grep '/tar$'", path) : NULL;
	is_str(list, "usr/bin/tar",
	       "a program that was asked for has no applet of its name before it");
}

static void test_modules(void)
{
	autofree char *tree = in_top("modules"), *one = in_top("modules/6.1.0");
	autofree char *a = NULL, *b = NULL, *c = NULL, *list = NULL, *plain = make(NULL, NULL);

	sh_do("mkdir -p modules/6.1.0/kernel/net; echo ko > modules/6.1.0/kernel/net/a.ko;"
	      "ln -s /usr/src modules/6.1.0/build; touch modules/6.1.0/modules.order");
	a = make(NULL, tree);
	b = make(NULL, one);
	list = a ? sh("cpio -t < %s 2>/dev/null | grep modules", a) : NULL;
	is_str(list,
	       "lib/modules\nlib/modules/6.1.0\nlib/modules/6.1.0/kernel\nlib/modules/6.1.0/kernel/"
	       "net\n"
	       "lib/modules/6.1.0/kernel/net/a.ko\nlib/modules/6.1.0/modules.order",
	       "modules are below /lib/modules, without links to sources");
	is_str(b, a, "a directory of one release gives the same");
	sh_do("echo other > modules/6.1.0/kernel/net/a.ko");
	c = make(NULL, tree);
	ok(!streq(a, c) && !streq(a, plain), "other modules, another initramfs");
}

static void test_missing(void)
{
	char *hackbench[] = {TEXT("hackbench"), NULL}, *unknown[] = {TEXT("nosuchprogram"), NULL};
	char *broken[] = {TEXT("broken"), NULL};
	ERR_CLEANUP struct err err = {};
	autofree char *path = NULL, *old = xstrdup(getenv("PATH"));

	is_int(initramfs_make(cache, agent, unknown, NULL, &path, &err), -ERR_NOT_FOUND,
	       "an unknown program");
	like(err.message, "'nosuchprogram'", "is named");
	setenv("PATH", top, 1);
	is_int(initramfs_make(cache, agent, hackbench, NULL, &path, &err), -ERR_NOT_FOUND,
	       "a known one that is absent");
	setenv("PATH", old, 1);
	like(err.hint, "install it", "comes with what to do");
	sh_do("echo 'int f(void) { return 1; }' > f.c; echo 'int f(void); int main(void) { return "
	      "f(); }' > m.c;"
	      "gcc -shared -fPIC -o libgone.so f.c; gcc -o bin/broken m.c -L. -lgone; rm "
	      "libgone.so");
	is_int(initramfs_make(cache, agent, broken, NULL, &path, &err), -ERR_NOT_FOUND,
	       "a program without its library");
	like(err.message, "libgone.so", "names the library");
}

/* Padding, long names and empty files at every length modulo four. */
static void test_format(void)
{
	autofree char *path = in_top("format.cpio"), *got = NULL;
	ERR_CLEANUP struct err err = {};
	autocpio c = {};

	cpio_add_text(&c, "/d/abc", 0644, "");
	cpio_add_text(&c, "d/abcd", 0600, "1");
	cpio_add_text(&c, "d/abcde", 0644, "12");
	cpio_add_text(&c, "d/abcdef", 0644, "123");
	cpio_add_text(&c, "d/abcdefg", 0644, "1234");
	cpio_add_text(&c, "d/abc", 0644, "a second one");
	cpio_add_dir(&c, "d", 0700);
	cpio_finish(&c);
	ok(cpio_write(&c, path, &err) == 0, "an archive is written");
	got = sh("rm -rf f; mkdir f; cd f; cpio -idm < ../format.cpio 2>/dev/null;"
		 "stat -c %%a d; find d -type f -printf '%%p %%m %%s\\n' | sort; cat d/*");
	is_str(got,
	       "700\nd/abc 644 0\nd/abcd 600 1\nd/abcde 644 2\nd/abcdef 644 3\n"
	       "d/abcdefg 644 4\n1121231234",
	       "and unpacks to what was put in, the first of two with one name");
}

int main(void)
{
	autofree char *busybox = NULL, *path = NULL;

	fixture_begin();
	busybox = fs_find_program("busybox");
	if (!busybox) {
		printf("1..0 # SKIP no busybox\n");
		return 0;
	}
	cache = in_top("cache");
	agent = in_top("agent");
	sh_do("mkdir bin; echo 'int main(void) { return 0; }' > p.c; gcc -o bin/dynprog p.c; gcc "
	      "-static -o agent p.c");
	path = xasprintf("%s/bin:%s", top, getenv("PATH"));
	setenv("PATH", path, 1);
	test_listing();
	test_contents();
	test_equal_content();
	test_scripts();
	test_applet_hidden();
	test_modules();
	test_missing();
	test_format();
	free(cache);
	free(agent);
	return fixture_end();
}
