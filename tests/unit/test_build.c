// SPDX-License-Identifier: GPL-2.0-or-later
// The way from a commit to a stored kernel, on a kernel tree in miniature with a history of
// accidents.
#include "harness/kernel/build.h"
#include "tests/unit/kernel_fixture.h"

static struct repo *repo;
static char *cache, *fragment;
static char *fragments[] = {NULL, NULL};
static struct kernel_options options;
static int build_count;
static char tinyconfig[] = "tinyconfig", rubbish[] = "tiny; rm -rf";

/* Commits whatever a script does to the tree on top of a commit (NULL: of main); its 40 hex. */
static char *commit(const char *on, const char *script)
{
	return sh("cd tree && git checkout -q --detach %s && { %s\n} && git add -A && git commit "
		  "-qm '.' &&"
		  " git rev-parse HEAD",
		  on ? on : "main", script);
}

static struct build_spec spec_of(const char *sha)
{
	static char log[512];

	snprintf(log, sizeof(log), "%s/log-%d", top, ++build_count);
	return (struct build_spec){
		.repo = repo,
		.cache_dir = cache,
		.sha = sha,
		.options = &options,
		.log_path = log,
	};
}

static int build(const char *sha, struct artefact *ret, struct err *err)
{
	struct build_spec spec = spec_of(sha);
	int rc;

	err_release(err);
	rc = kernel_build(&spec, ret, err);
	if (rc)
		diag("%.12s: %s: %s", sha, err->phase, err->message);
	return rc;
}

static char *text_of(const char *path)
{
	return sh("cat %s", path);
}

static void test_artefact(const char *base)
{
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autofree char *config = NULL, *sources = NULL, *modules = NULL, *log = NULL;

	if (is_int(build(base, &a, &err), 0, "a commit builds")) {
		config = text_of(a.config);
		sources = text_of(a.sources);
		log = xasprintf("%s/build.log", a.dir);
		modules = sh("cd %s && find . | sort | tr '\\n' ' '", a.modules_dir);
		ok(fs_exists(a.image), "its image is stored");
		like(config, "CONFIG_INET=y\n", "fragments are in the effective config");
		like(config, "# CONFIG_LOCALVERSION_AUTO is not set",
		     "the version says nothing of the commit");
		is_str(a.notes, "CONFIG_NEW_THING does not exist at this commit\n",
		       "an unknown option is a note");
		is_str(sources,
		       "drivers/fast.c\ninclude/bug.h\ninclude/sum.h\ninit/main.c\nlib/sum.c",
		       "the sources that were read");
		like(a.identity, "\nfast_path ", "the module's build-id is part of the identity");
		is_str(modules,
		       ". ./1.2.3 ./1.2.3/kernel ./1.2.3/kernel/drivers "
		       "./1.2.3/kernel/drivers/fast-path.ko "
		       "./1.2.3/modules.order ",
		       "modules are installed, without links");
		is_str(a.release, "1.2.3", "release");
		like(a.toolchain, "gcc", "toolchain");
		ok(fs_exists(log) && !a.from_cache && a.seconds > 0, "built, with log and time");
	}
	artefact_release(&a);
}

static void test_store(const char *base)
{
	struct build_spec spec = spec_of(base);
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	is_int(kernel_is_built(&spec, &err), 1, "it is known to be built");
	is_int(build(base, &a, &err), 0, "a second time");
	ok(a.from_cache, "it comes from the store");
	ok(!fs_exists(spec.log_path), "without a build");
	artefact_release(&a);
	sh_do("for i in cache/kernels/*/bzImage; do printf x > $i; done");
	is_int(kernel_is_built(&spec, &err), 0, "a damaged one is not in the store");
	is_int(build(base, &a, &err), 0, "and is built again");
	ok(!a.from_cache, "for real");
	artefact_release(&a);
}

/* Builds both and compares; the flags say what is equal. */
static void compare(const char *a_sha, const char *b_sha, bool *ret_code, bool *ret_vmlinux,
		    bool *ret_all)
{
	struct artefact a = {.lock_fd_ = -1}, b = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	*ret_code = *ret_vmlinux = *ret_all = false;
	if (build(a_sha, &a, &err) == 0 && build(b_sha, &b, &err) == 0) {
		*ret_code = streq(a.code_hash, b.code_hash);
		*ret_vmlinux = strncmp(a.identity, b.identity, strcspn(a.identity, "\n")) == 0;
		*ret_all = streq(a.identity, b.identity);
	}
	artefact_release(&a);
	artefact_release(&b);
}

static void test_same_code(const char *base)
{
	autofree char *comment =
		commit(base, "sed -i '1i // a line' init/main.c include/sum.h drivers/fast.c");
	autofree char *module =
		commit(base, "sed -i 's/return printk/return puts/' drivers/fast.c");
	autofree char *docs = commit(base, "echo text > README");
	bool code, vmlinux, all;

	compare(base, comment, &code, &vmlinux, &all);
	ok(code, "a comment gives the same code, with debug information and line numbers in the "
		 "bug table");
	ok(!vmlinux, "although the build-id is another");
	compare(base, module, &code, &vmlinux, &all);
	ok(!code && vmlinux && !all, "a change in a module is other code with the same vmlinux");
	compare(base, docs, &code, &vmlinux, &all);
	ok(code && all, "a text file gives the same kernel to the bit");
}

static void test_elsewhere(const char *base)
{
	autofree char *elsewhere = in_top("some/other-place");
	char *home = cache;
	struct artefact a = {.lock_fd_ = -1}, b = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	is_int(build(base, &a, &err), 0, "here");
	cache = elsewhere;
	is_int(build(base, &b, &err), 0, "and in another cache");
	ok(!b.from_cache, "which is another build");
	is_str(b.identity, a.identity, "build-ids are the same, with debug information");
	is_str(b.key, a.key, "under the same key");
	artefact_release(&a);
	artefact_release(&b);
	cache = home;
}

static void build_aligned(const char *sha, const char *what, const char *option)
{
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autofree char *config = NULL, *odd = NULL;

	sh_do("rm -rf aligned/builds");
	if (is_int(build(sha, &a, &err), 0, "aligned, %s", what)) {
		config = sh("grep -e EXPERT -e ALIGN %s", a.config);
		is_str(config, option, "%s: the option is on where the tree has it", what);
		odd = sh("nm aligned/builds/*/obj/vmlinux | awk '$2 == \"T\" && $1 !~ /[048c]0$/'");
		is_str(odd, "", "%s: all functions are aligned", what);
	}
	artefact_release(&a);
}

static void test_aligned(const char *base)
{
	static const char on[] = "CONFIG_EXPERT=y\nCONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y";
	autofree char *file = in_top("base.config");
	autofree char *older = commit(base, "sed -i '/_ALIGN_64B/,/^$/d' Kconfig");
	autofree char *lost = commit(base, "sed -i 's/on EXPERT/on MISSING/' Kconfig");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	char *usual = options.base, *home = cache;
	autofree char *aligned = in_top("aligned");
	struct build_spec spec = spec_of(base);

	is_int(kernel_is_built(&spec, &err), 1, "a kernel that is built");
	options.aligned = true;
	is_int(kernel_is_built(&spec, &err), 0, "is not so aligned");
	cache = aligned;
	build_aligned(base, "tinyconfig", on);
	build_aligned(older, "an older tree", "# CONFIG_EXPERT is not set");
	sh_do("printf 'CONFIG_TINY=y\\n# CONFIG_EXPERT is not set\\n' > base.config");
	options.base = file;
	build_aligned(base, "a file", on);
	options.base = usual;
	is_int(build(lost, &a, &err), -ERR_UNTESTABLE, "where it does not survive");
	like(err.message,
	     "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B=y became n (it depends on MISSING)",
	     "that is said, with why");
	options.aligned = false;
	cache = home;
}

static void test_does_not_build(const char *base)
{
	autofree char *broken =
		commit(base, "echo 'int f(void) { return nonsense; }' >> lib/sum.c");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	struct build_spec spec;

	is_int(build(broken, &a, &err), -ERR_UNTESTABLE,
	       "a commit that does not compile is untestable");
	is_str(err.phase, "build", "in its build");
	like(err.message, "lib/sum.c:13:22: error: ", "with the error's line");
	like(err.message, "nonsense", "and its words");
	ok(!contains(err.message, top), "without our paths");
	spec = spec_of(broken);
	is_int(kernel_is_built(&spec, &err), -ERR_UNTESTABLE, "which is remembered");
	is_int(kernel_build(&spec, &a, &err), -ERR_UNTESTABLE, "and told again");
	ok(!fs_exists(spec.log_path), "without another try");
	is_int(build(base, &a, &err), 0, "the commit before it still builds");
	artefact_release(&a);
}

static void test_config_lost(const char *base)
{
	autofree char *lost = commit(
		base,
		"sed -i 's/depends on TINY/depends on TINY\\n\\tdepends on MISSING/' Kconfig");
	autofree char *bad = commit(base, "echo 'exit 3' > scripts/olddefconfig.sh");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	is_int(build(lost, &a, &err), -ERR_UNTESTABLE,
	       "a commit at which an option does not survive is untestable");
	is_str(err.phase, "config", "by its config");
	like(err.message, "CONFIG_INET=y became n (it depends on NET && TINY && MISSING)",
	     "with the option and why");
	is_int(build(bad, &a, &err), -ERR_UNTESTABLE, "so is one that cannot be configured");
	is_str(err.phase, "config", "also by its config");
}

static void test_deadline(const char *base)
{
	autofree char *hangs = commit(
		base, "sed -i 's|^bzImage: .*|bzImage:; @echo waiting; sleep 600|' Makefile");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	struct build_spec spec;
	int64_t usual = options.timeout_ns;

	options.timeout_ns = 8 * NS_PER_S;
	is_int(build(hangs, &a, &err), -ERR_UNTESTABLE,
	       "a build that never ends meets its deadline");
	like(err.message, "did not end within 8", "which is what is said");
	like(err.message, "waiting", "with the last line it wrote");
	spec = spec_of(hangs);
	is_int(kernel_is_built(&spec, &err), -ERR_UNTESTABLE, "it counts for that deadline");
	options.timeout_ns = usual;
	is_int(kernel_is_built(&spec, &err), 0, "not for a longer one");
	is_int(build(base, &a, &err), 0, "after it others build");
	artefact_release(&a);
}

static void test_on_top(const char *base)
{
	autofree char *child = commit(base, "sed -i 's/total = 0/total = 5/' lib/sum.c");
	autofree char *good = in_top("good.diff"), *bad = in_top("bad.diff");
	const char *patches[] = {good, NULL}, *broken[] = {bad, NULL}, *reverts[] = {child, NULL};
	struct artefact plain = {.lock_fd_ = -1}, patched = {.lock_fd_ = -1},
			reverted = {.lock_fd_ = -1};
	struct build_spec spec = spec_of(base);
	ERR_CLEANUP struct err err = {};

	sh_do("cd tree && git diff %s %s > ../good.diff; sed 's/int total/long total/' "
	      "../good.diff > ../bad.diff",
	      base, child);
	is_int(build(child, &plain, &err), 0, "a commit");
	spec.patches = patches;
	is_int(kernel_build(&spec, &patched, &err), 0, "its parent with its patch on top");
	is_str(patched.identity, plain.identity, "is the same kernel");
	ok(!streq(patched.key, plain.key), "under a key of its own");
	artefact_release(&plain);
	spec = spec_of(child);
	spec.reverts = reverts;
	is_int(build(base, &plain, &err), 0, "and the parent");
	is_int(kernel_build(&spec, &reverted, &err), 0, "the commit with itself reverted on top");
	is_str(reverted.identity, plain.identity, "is the parent's kernel");
	spec = spec_of(base);
	spec.patches = broken;
	is_int(kernel_build(&spec, &patched, &err), -ERR_UNTESTABLE, "a patch that does not apply");
	is_str(err.phase, "checkout", "is the checkout's fault");
	artefact_release(&plain);
	artefact_release(&patched);
	artefact_release(&reverted);
}

/* What says nothing of the commit is neither called untestable nor kept. */
static void test_machine_faults(const char *base)
{
	static const struct {
		const char *line, *says;
		enum err_code code;
	} faults[] = {
		{"fatal error: can not write x: No space left on device", "disk is full",
		 ERR_DISK_FULL},
		{"sh: 1: bc: not found", "'bc'", ERR_INFRA},
		{"main.c:3:10: fatal error: gelf.h: No such file or directory", "'gelf.h'",
		 ERR_INFRA},
		{"gcc: fatal error: Killed signal terminated program cc1", "out of memory",
		 ERR_INFRA},
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		autofree char *script =
			xasprintf("sed -i 's|^bzImage: .*|bzImage:; @echo \"%s\"; false|' Makefile",
				  faults[i].line);
		autofree char *sha = commit(base, script);
		struct artefact a = {.lock_fd_ = -1};
		struct build_spec spec = spec_of(sha);
		ERR_CLEANUP struct err err = {};

		is_int(build(sha, &a, &err), -(int)faults[i].code, "'%s' is %s", faults[i].line,
		       err_code_name(faults[i].code));
		like(err.message, faults[i].says, "and told as what it is");
		ok(err.hint && *err.hint, "with what to do");
		is_int(kernel_is_built(&spec, &err), 0, "and not kept");
	}
}

/* A stale file that the new tree's make trips over, as an incremental build can leave one. */
static void test_stale_objects(const char *base)
{
	autofree char *leaves = commit(
		base,
		"sed -i 's|^modules: \\(.*\\)|modules: \\1\\n\\ttouch $(obj)/stale|' Makefile");
	autofree char *trips = commit(
		base,
		"sed -i 's|^bzImage: \\(.*\\)|bzImage: \\1\\n\\ttest ! -e $(obj)/stale|' Makefile");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autofree char *log = NULL;

	is_int(build(leaves, &a, &err), 0, "a build that leaves something behind");
	artefact_release(&a);
	is_int(build(trips, &a, &err), 0,
	       "does not make the next one untestable: it is built from nothing");
	log = sh("cat log-%d", build_count);
	like(log, "Error 1", "after a first try that failed");
	artefact_release(&a);
}

/* A make that was killed in the middle of writing an object. */
static void test_killed_before(const char *base)
{
	autofree char *next = commit(base, "echo '#define UNUSED 1' >> lib/sum.c");
	struct artefact a = {.lock_fd_ = -1}, b = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	is_int(build(base, &a, &err), 0, "a kernel");
	sh_do("cd cache/builds/*; touch obj.building; : > obj/init/main.o; touch -d '1 hour' "
	      "obj/init/main.o");
	is_int(build(next, &b, &err), 0, "after a kill the next one builds");
	ok(streq(a.code_hash, b.code_hash), "and is whole");
	artefact_release(&a);
	artefact_release(&b);
}

static void test_environment(const char *base)
{
	autofree char *next = commit(base, "sed -i 's/n; i++/n; ++i/' lib/sum.c");
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};

	setenv("MAKEFLAGS", "n -- O=/nowhere", 1);
	setenv("KCFLAGS", "-DBROKEN=", 1);
	setenv("ARCH", "arm", 1);
	setenv("KBUILD_BUILD_HOST", "secret", 1);
	is_int(build(next, &a, &err), 0, "variables of a make around us do not reach the kernel's");
	artefact_release(&a);
	unsetenv("MAKEFLAGS");
	unsetenv("KCFLAGS");
	unsetenv("ARCH");
	unsetenv("KBUILD_BUILD_HOST");
}

/* A cache on a file system of 64 MB, where the machine lets us mount one. */
static void test_small_disk(const char *base)
{
	autofree char *small = in_top("small"), *left = NULL, *mounted = NULL;
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	char *usual = cache;

	mounted = sh("mkdir small && mount -t tmpfs -o size=64m none small 2>/dev/null && echo yes "
		     "|| true");
	if (!streq(mounted, "yes")) {
		skip("may not mount a small file system");
		return;
	}
	cache = small;
	is_int(build(base, &a, &err), -ERR_DISK_FULL,
	       "too little room is seen before anything starts");
	like(err.hint, "culprit gc", "with what makes room");
	left = sh("ls -A small; umount small");
	is_str(left, "builds", "and nothing was written");
	cache = usual;
}

/* A second repository that has no commit in common, with the same recipe. */
static void test_other_repository(const char *base)
{
	autofree char *sha =
		sh("cp -r tree tree2 && cd tree2 && rm -rf .git && git init -q . &&"
		   " echo 'int other;' >> lib/sum.c && git add -A &&"
		   " git -c user.name=T -c user.email=t@example.invalid commit -qm other &&"
		   " git rev-parse HEAD");
	autofree char *path = in_top("tree2"), *count = NULL, *log = NULL;
	struct artefact a = {.lock_fd_ = -1};
	struct repo *first = repo;
	ERR_CLEANUP struct err err = {};

	is_int(build(base, &a, &err), 0, "a commit of one repository");
	artefact_release(&a);
	if (is_int(repo_open(path, &repo, &err), 0, "another repository"))
		is_int(build(sha, &a, &err), 0, "and its commit builds");
	artefact_release(&a);
	count = sh("ls -d cache/worktrees/kernel-*/ | wc -l");
	is_str(count, "1", "in the same worktree");
	log = sh("cat log-%d", build_count);
	ok(contains(log, "lib/sum.o") && !contains(log, "drivers/fast.o"), "incrementally");
	repo_close(repo);
	repo = first;
	is_int(build(base, &a, &err), 0, "and back");
	artefact_release(&a);
}

static void test_usage(const char *base)
{
	autofree char *blank = in_top("with blank"), *path = in_top("path"),
		      *old = xstrdup(getenv("PATH"));
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	char *home = cache;

	cache = blank;
	is_int(build(base, &a, &err), -ERR_USAGE,
	       "a cache path that the kernel's make cannot take");
	cache = home;
	options.base = rubbish;
	is_int(build(base, &a, &err), -ERR_USAGE, "a base that is no config target");
	options.base = tinyconfig;
	sh_do("mkdir path; for p in git make gcc ld flex bison sh; do ln -s $(command -v $p) "
	      "path/$p; done");
	setenv("PATH", path, 1);
	is_int(build(base, &a, &err), -ERR_INFRA, "a missing tool");
	setenv("PATH", old, 1);
	like(err.message, "'bc'", "is named");
	like(err.hint, "bc", "with its package");
}

static void test_diff(const char *base)
{
	autofree char *diff = NULL, *first = NULL;
	struct artefact a = {.lock_fd_ = -1};
	struct build_spec spec = spec_of(base);
	ERR_CLEANUP struct err err = {};

	is_int(build(base, &a, &err), 0, "a config: %s", err.message ? err.message : "");
	first = xstrdup(a.config);
	artefact_release(&a);
	spec.extra_config = "# CONFIG_DEBUG_INFO is not set\n";
	is_int(kernel_build(&spec, &a, &err), 0, "and one with a fragment more");
	ok(kernel_config_diff(first, a.config, &diff, &err) == 0, "are compared");
	is_str(diff, "-CONFIG_DEBUG_INFO=y\n", "by what differs");
	artefact_release(&a);
}

int main(void)
{
	autofree char *tree = NULL, *base = NULL;
	ERR_CLEANUP struct err err = {};
	uint64_t room = 0;

	fixture_begin();
	if (fs_free_bytes(top, &room, &err) || room < (4ULL << 30)) {
		printf("1..0 # SKIP not 4 GiB free in '%s'\n", top);
		return 0;
	}
	cache = in_top("cache");
	fragment = in_top("fragment");
	tree = in_top("tree");
	sh_do("printf "
	      "'CONFIG_NET=y\\nCONFIG_INET=y\\nCONFIG_MODULES=y\\nCONFIG_DEBUG_INFO=y\\nCONFIG_NEW_"
	      "THING=y\\n' > fragment");
	base = sh("cp -r %s/tests/fakes/kernel-tree tree && cd tree && git init -q -b main . &&"
		  " git config user.name T && git config user.email t@example.invalid && git add "
		  "-A &&"
		  " git commit -qm base && git rev-parse HEAD",
		  getenv("PWD"));
	fragments[0] = fragment;
	options = (struct kernel_options){
		.base = tinyconfig,
		.fragments = fragments,
		.compiler = TEXT("gcc"),
		.arch = TEXT("x86_64"),
		.timeout_ns = 120 * NS_PER_S,
	};
	if (repo_open(tree, &repo, &err)) {
		printf("Bail out! %s\n", err.message);
		return 1;
	}
	test_artefact(base);
	test_store(base);
	test_same_code(base);
	test_elsewhere(base);
	test_aligned(base);
	test_does_not_build(base);
	test_config_lost(base);
	test_deadline(base);
	test_on_top(base);
	test_machine_faults(base);
	test_stale_objects(base);
	test_killed_before(base);
	test_environment(base);
	test_small_disk(base);
	test_other_repository(base);
	test_usage(base);
	test_diff(base);
	repo_close(repo);
	free(cache);
	return fixture_end();
}
