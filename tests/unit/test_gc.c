// SPDX-License-Identifier: GPL-2.0-or-later
// Shrinking the cache: oldest first, what is held stays, leftovers of a crash go.
#include "harness/kernel/artefact.h"
#include "tests/unit/kernel_fixture.h"

#include <sys/file.h>

static char *cache;

static void fill(void)
{
	sh_do("rm -rf cache; mkdir -p cache/kernels cache/worktrees cache/builds cache/initramfs "
	      "cache/configs\n"
	      "big() { mkdir -p $1; head -c 1048576 /dev/zero > $1/data; }\n"
	      "for k in old middle new; do big cache/kernels/$k; done\n"
	      "touch -d '3 days ago' cache/kernels/old; touch -d '2 days ago' "
	      "cache/kernels/middle\n"
	      "big cache/worktrees/kernel-a; big cache/builds/kernel-a/obj; touch "
	      "cache/worktrees/kernel-a.lock\n"
	      "touch -d '5 days ago' cache/worktrees/kernel-a.lock\n");
}

static char *left(void)
{
	return sh("mkdir -p cache; cd cache; ls -Ad kernels/* worktrees/* builds/* initramfs/* "
		  "configs/* */.[a-z]* 2>/dev/null"
		  " | tr '\\n' ' '");
}

static void collect(uint64_t max_bytes, bool dry_run, const char *want, size_t want_n,
		    const char *name)
{
	ERR_CLEANUP struct err err = {};
	uint64_t freed = 0;
	size_t n = 0;
	autofree char *got = NULL;

	if (cache_gc(cache, max_bytes, dry_run, &freed, &n, &err))
		diag("%s", err.message);
	got = left();
	is_str(got, want, "%s", name);
	is_int(n, want_n, "%zu removed", want_n);
	ok((n > 0) == (freed > 0), "and their bytes counted");
}

#define MIB (1u << 20)
#define ALL                                                                                        \
	"builds/kernel-a kernels/middle kernels/new kernels/old worktrees/kernel-a "               \
	"worktrees/kernel-a.lock "

static void test_order(void)
{
	fill();
	collect(100 * MIB, false, ALL, 0, "nothing goes while there is room");
	collect(MIB / 2, true, ALL, 4, "a dry run removes nothing");
	collect(7 * MIB / 2, false,
		"kernels/middle kernels/new kernels/old worktrees/kernel-a.lock ", 1,
		"what was used longest ago goes first, a worktree with its objects");
	collect(5 * MIB / 2, false, "kernels/middle kernels/new worktrees/kernel-a.lock ", 1,
		"then the next");
	collect(0, false, "worktrees/kernel-a.lock ", 2, "and everything where nothing may stay");
}

static void test_held(void)
{
	autofree char *old = in_top("cache/kernels/old"),
		      *lock = in_top("cache/worktrees/kernel-a.lock");
	ERR_CLEANUP struct err err = {};
	int kernel, tree = -1;

	fill();
	kernel = store_lock(old, LOCK_SH);
	ok(kernel >= 0 && fs_lock(lock, "a test", 0, &tree, &err) == 0,
	   "a kernel and a worktree in use");
	collect(0, false, "builds/kernel-a kernels/old worktrees/kernel-a worktrees/kernel-a.lock ",
		2, "stay, whatever is asked");
	close(kernel);
	close(tree);
	collect(0, false, "worktrees/kernel-a.lock ", 2, "until they are let go");
}

static void test_unlocked(void)
{
	fill();
	sh_do("cd cache; rm -r kernels/* worktrees/* builds/*; echo x > initramfs/a.cpio; echo x > "
	      "initramfs/b.cpio\n"
	      "touch -d '3 days ago' initramfs/b.cpio; mkdir worktrees/project-1 "
	      "worktrees/project-2\n"
	      "echo 1 > worktrees/project-1.built; echo 1 > worktrees/project-2.built\n"
	      "touch -d '3 days ago' worktrees/project-2.built; echo x > configs/c");
	collect(0, false, "initramfs/a.cpio worktrees/project-1 worktrees/project-1.built ", 3,
		"what is used without a lock stays for a day");
}

static void test_leftovers(void)
{
	autofree char *live = in_top("cache/kernels/.new-live");
	int fd;

	fill();
	sh_do("cd cache/kernels; rm -r old middle new; mkdir .new-dead .new-live .trash-1; echo x "
	      "> .new-dead/bzImage;"
	      "rm -r ../worktrees/* ../builds/kernel-a; mkdir ../builds/.trash-2 "
	      "../builds/kernel-orphan");
	fd = store_lock(live, LOCK_EX);
	collect(100 * MIB, true,
		"builds/.trash-2 builds/kernel-orphan kernels/.new-dead kernels/.new-live "
		"kernels/.trash-1 ",
		0, "a dry run sees leftovers");
	collect(100 * MIB, false, "builds/kernel-orphan kernels/.new-live ", 0,
		"what a crash left goes, what is being made stays");
	collect(0, false, "kernels/.new-live ", 1, "objects without a worktree go as any entry");
	close(fd);
}

static void test_empty(void)
{
	sh_do("rm -rf cache");
	collect(0, false, "", 0, "no cache is an empty one");
}

int main(void)
{
	fixture_begin();
	cache = in_top("cache");
	test_order();
	test_held();
	test_unlocked();
	test_leftovers();
	test_empty();
	free(cache);
	return fixture_end();
}
