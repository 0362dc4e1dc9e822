// SPDX-License-Identifier: GPL-2.0-or-later
// Compilers and tools of kernel builds.
#include "harness/kernel/toolchain.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/proc.h"
#include "harness/base/util.h"

#define VERSION_MAX_BYTES 4096

static const struct {
	const char *program, *package;
	bool always; /* no kernel builds without it */
} tools[] = {
	{"make", "make", true},
	{"ld", "binutils", true},
	{"flex", "flex", true},
	{"bison", "bison", true},
	{"bc", "bc", true},
	{"gcc", "gcc", false},
	{"clang", "clang", false},
	{"perl", "perl", false},
	{"python3", "python3", false},
	{"cpio", "cpio", false},
	{"xz", "xz-utils", false},
	{"lz4", "lz4", false},
	{"lzop", "lzop", false},
	{"zstd", "zstd", false},
	{"bzip2", "bzip2", false},
	{"gzip", "gzip", false},
	{"rsync", "rsync", false},
	{"openssl", "openssl", false},
	{"pahole", "dwarves", false},
	{"m4", "m4", false},
	{"depmod", "kmod", false},
	{"gelf.h", "libelf-dev", false},
	{"libelf.h", "libelf-dev", false},
	{"openssl/bio.h", "libssl-dev", false},
	{"openssl/evp.h", "libssl-dev", false},
	{"openssl/opensslv.h", "libssl-dev", false},
};

const char *toolchain_package(const char *program)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (streq(tools[i].program, program))
			return tools[i].package;
	return NULL;
}

static int need(const char *program, const char *package, struct err *err)
{
	autofree char *path = fs_find_program(program);
	int rc;

	if (path)
		return 0;
	rc = err_set(err, ERR_INFRA, "'%s', which kernel builds need, is not on this machine",
		     program);
	err_hint(err, "install Debian's package %s ('culprit doctor' lists everything)", package);
	err_phase(err, "build");
	return rc;
}

/* The first line of what `program --version` prints. */
static int add_version(const char *program, struct buf *out, struct err *err)
{
	const char *const argv[] = {program, "--version", NULL};
	const char *const env[] = {"LC_ALL=C", NULL};
	const struct proc_spec spec = {
		.argv = argv,
		.env = env,
		.deadline_ns = clock_deadline_ns(30 * NS_PER_S),
		.what = program,
	};
	autobuf text = {};
	int rc = proc_run_ok(&spec, &text, VERSION_MAX_BYTES, ERR_INFRA, err);

	if (rc)
		return rc;
	buf_printf(out, "%s%.*s", out->len ? "\n" : "", (int)strcspn(buf_str(&text), "\n"),
		   buf_str(&text));
	return 0;
}

int toolchain_probe(const char *compiler, struct toolchain *ret, struct err *err)
{
	autofree char *ccache = fs_find_program("ccache");
	autofree char *pahole = fs_find_program("pahole");
	autobuf text = {}, probed = {};
	int rc = need(compiler, compiler, err);

	for (size_t i = 0; i < ARRAY_SIZE(tools) && !rc; i++)
		rc = tools[i].always ? need(tools[i].program, tools[i].package, err) : 0;
	if (!rc)
		rc = add_version(compiler, &text, err);
	if (!rc)
		rc = add_version("ld", &text, err);
	buf_adds(&probed, buf_str(&text));
	if (!rc && pahole)
		rc = add_version(pahole, &probed, err);
	if (rc)
		return rc;
	*ret = (struct toolchain){
		.cc = xstrdup(compiler),
		.text = buf_take(&text),
		.probed = buf_take(&probed),
		.ccache = ccache != NULL,
	};
	return 0;
}

void toolchain_release(struct toolchain *t)
{
	free(t->cc);
	free(t->text);
	free(t->probed);
	*t = (struct toolchain){};
}

static bool is_kept(const char *variable)
{
	static const char *const names[] = {
		"PATH=",    "HOME=",	       "TMPDIR=",	   "USER=",
		"LOGNAME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "LD_LIBRARY_PATH=",
		"CPATH=",   "C_INCLUDE_PATH=", "LIBRARY_PATH=",	   "PKG_CONFIG_PATH="};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_starts(variable, names[i]))
			return true;
	return str_starts(variable, "CCACHE_");
}

char **toolchain_environment(void)
{
	static const char *const fixed[] = {
		"LC_ALL=C",
		"TZ=UTC",
		"LOCALVERSION=", /* set and empty: no '+' for a tree that is no release */
		"KBUILD_BUILD_TIMESTAMP=Wed Jan  1 00:00:00 UTC 2020",
		"KBUILD_BUILD_USER=culprit",
		"KBUILD_BUILD_HOST=culprit",
		"KBUILD_BUILD_VERSION=1",
		"SOURCE_DATE_EPOCH=1577836800",
		/* Relative paths would get past the prefix maps into the image, and out of the .cmd
		   files. */
		"CCACHE_BASEDIR=",
	};
	char **env = NULL;

	for (size_t i = 0; environ[i]; i++)
		if (!is_kept(environ[i]))
			strv_pushf(&env, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		strv_push(&env, fixed[i]);
	return env;
}
