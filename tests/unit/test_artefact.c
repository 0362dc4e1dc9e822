// SPDX-License-Identifier: GPL-2.0-or-later
// The store of built kernels: complete or absent, failures too, locks, damage.
#include "harness/kernel/artefact.h"
#include "tests/unit/kernel_fixture.h"

#include <sys/file.h>

static char *cache;

static void put(const struct stage *s, const char *name, const char *text)
{
	autofree char *path = xasprintf("%s/%s", s->dir, name);
	ERR_CLEANUP struct err err = {};

	if (fs_write(path, text, strlen(text), &err))
		diag("%s", err.message);
}

static void store(const char *key, const char *image)
{
	struct artefact about = {
		.code_hash = TEXT("c0de"),
		.config_hash = TEXT("c0f"),
		.toolchain = TEXT("gcc\nld"),
		.release = TEXT("6.1.0"),
		.notes = TEXT("CONFIG_X does not exist\n"),
		.seconds = 12.5,
	};
	ERR_CLEANUP struct err err = {};
	autostage stage = {.fd = -1};

	ok(stage_open(cache, key, &stage, &err) == 0, "%s is staged", key);
	put(&stage, "bzImage", image);
	put(&stage, "config", "CONFIG_A=y\n");
	put(&stage, "identity", "vmlinux aa\n");
	put(&stage, "sources", "a.c\n");
	ok(stage_describe(&stage, &about, &err) == 0 && stage_commit(&stage, cache, key, &err) == 0,
	   "%s is stored", key);
}

static int open_it(const char *key, struct artefact *a, struct err *err)
{
	return artefact_open(cache, key, 60 * NS_PER_S, a, err);
}

static void test_round_trip(void)
{
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autofree char *left = NULL;

	is_int(open_it("k1", &a, &err), 0, "nothing there yet");
	store("k1", "image");
	is_int(open_it("k1", &a, &err), 1, "what was stored is found");
	is_str(a.identity, "vmlinux aa\n", "identity");
	is_str(a.code_hash, "c0de", "code hash");
	is_str(a.release, "6.1.0", "release");
	is_str(a.toolchain, "gcc\nld", "toolchain");
	is_str(a.notes, "CONFIG_X does not exist\n", "notes");
	is_double(a.seconds, 12.5, 0, "seconds of the build");
	ok(fs_exists(a.image) && fs_exists(a.config) && fs_exists(a.sources),
	   "its files are there");
	ok(a.modules_dir == NULL, "no modules where there are none");
	artefact_release(&a);
	ok(a.key == NULL && a.lock_fd_ == -1, "and is released");
	left = sh("ls -A cache/kernels");
	is_str(left, "k1", "the stage is gone");
}

static void test_locks(void)
{
	autofree char *dir = in_top("cache/kernels/k1");
	struct artefact a = {.lock_fd_ = -1}, b = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	int fd;

	is_int(open_it("k1", &a, &err), 1, "held once");
	is_int(open_it("k1", &b, &err), 1, "and twice");
	is_int(store_lock(dir, LOCK_EX), -1, "so nobody may remove it");
	artefact_release(&a);
	is_int(store_lock(dir, LOCK_EX), -1, "while one still holds it");
	artefact_release(&b);
	fd = store_lock(dir, LOCK_EX);
	ok(fd >= 0, "then somebody may");
	is_int(open_it("k1", &a, &err), 0, "and it counts as gone meanwhile");
	close(fd);
}

static void test_damage(void)
{
	autofree char *dir = in_top("cache/kernels/cut");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	store("cut", "image");
	sh_do("printf im > cache/kernels/cut/bzImage");
	is_int(open_it("cut", &a, &err), 0, "an image that was cut short is no artefact");
	ok(!fs_exists(dir), "and is removed");
	store("cut", "image");
	is_int(open_it("cut", &a, &err), 1, "and can be stored again");
	artefact_release(&a);
	sh_do("rm cache/kernels/cut/sources");
	is_int(open_it("cut", &a, &err), 0, "a missing file is noticed");
	store("cut", "image");
	sh_do("echo '{' > cache/kernels/cut/meta");
	is_int(open_it("cut", &a, &err), 0, "a description that is no JSON too");
}

static void store_failure(const char *key, int64_t timeout_ns)
{
	ERR_CLEANUP struct err failure = {}, err = {};
	autostage stage = {.fd = -1};

	err_set(&failure, ERR_UNTESTABLE, "does not build: x.c:1: error: \"no\"");
	err_phase(&failure, "build");
	ok(stage_open(cache, key, &stage, &err) == 0 &&
		   stage_describe_failure(&stage, &failure, timeout_ns, &err) == 0 &&
		   stage_commit(&stage, cache, key, &err) == 0,
	   "a failure is stored as %s", key);
}

static void test_failures(void)
{
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	store_failure("f1", 0);
	is_int(open_it("f1", &a, &err), -ERR_UNTESTABLE, "a stored failure is one");
	is_str(err.message, "does not build: x.c:1: error: \"no\"", "with its words");
	is_str(err.phase, "build", "and phase");
	like(err.hint, "kernels/f1", "and how to try again");
	store_failure("f2", 60 * NS_PER_S);
	is_int(artefact_open(cache, "f2", 60 * NS_PER_S, &a, &err), -ERR_UNTESTABLE,
	       "a deadline that was not met is not met again");
	is_int(artefact_open(cache, "f2", 61 * NS_PER_S, &a, &err), 0, "but a longer one may be");
	is_int(artefact_open(cache, "f2", 60 * NS_PER_S, &a, &err), 0,
	       "and then the old failure is gone");
}

static void test_two_writers(void)
{
	struct artefact about = {.code_hash = TEXT("other")}, a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autostage stage = {.fd = -1};

	ok(stage_open(cache, "k1", &stage, &err) == 0, "a second build of a stored kernel");
	put(&stage, "identity", "vmlinux bb\n");
	ok(stage_describe(&stage, &about, &err) == 0 &&
		   stage_commit(&stage, cache, "k1", &err) == 0,
	   "ends well");
	stage_release(&stage);
	is_int(open_it("k1", &a, &err), 1, "what is there");
	is_str(a.identity, "vmlinux aa\n", "is the first one's");
	artefact_release(&a);
}

static void test_abandoned(void)
{
	ERR_CLEANUP struct err err = {};
	struct stage stage = {.fd = -1};
	autofree char *before = sh("ls -A cache/kernels"), *after = NULL;

	ok(stage_open(cache, "gone", &stage, &err) == 0, "a stage that is given up");
	put(&stage, "bzImage", "half");
	stage_release(&stage);
	after = sh("ls -A cache/kernels");
	is_str(after, before, "leaves nothing");
}

int main(void)
{
	fixture_begin();
	cache = in_top("cache");
	test_round_trip();
	test_locks();
	test_damage();
	test_failures();
	test_two_writers();
	test_abandoned();
	free(cache);
	return fixture_end();
}
