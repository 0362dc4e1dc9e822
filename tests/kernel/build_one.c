// SPDX-License-Identifier: GPL-2.0-or-later
// Builds one commit for build.t and prints what it became, one "name=value" a line.
#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/base/signals.h"
#include "harness/base/util.h"
#include "harness/kernel/build.h"

static void print_artefact(const struct artefact *a)
{
	autofree char *identity = xstrdup(a->identity);

	for (char *p = identity; (p = strchr(p, '\n'));)
		*p = ' ';
	printf("identity=%s\ncode_hash=%s\nkey=%s\nrelease=%s\nfrom_cache=%d\nseconds=%.1f\n",
	       identity, a->code_hash, a->key, a->release, a->from_cache, a->seconds);
	printf("dir=%s\nmodules=%s\n", a->dir, a->modules_dir ? a->modules_dir : "");
}

/* build_one REPO CACHE REV FRAGMENT LOG TIMEOUT-SECONDS */
int main(int argc, char **argv)
{
	char base[] = "tinyconfig", compiler[] = "gcc", arch[] = "x86_64";
	struct artefact a = {.lock_fd_ = -1};
	ERR_CLEANUP struct err err = {};
	autofree char *sha = NULL;
	struct repo *repo = NULL;
	int rc;

	if (argc != 7)
		return 129;
	signals_init();
	log_set_level(LOG_WARN);
	char *fragments[] = {argv[4], NULL};
	struct kernel_options options = {.base = base,
					 .fragments = fragments,
					 .compiler = compiler,
					 .arch = arch,
					 .timeout_ns = atoi(argv[6]) * NS_PER_S};
	rc = repo_open(argv[1], &repo, &err);
	if (!rc)
		rc = repo_resolve(repo, argv[3], &sha, &err);
	if (!rc) {
		struct build_spec spec = {.repo = repo,
					  .cache_dir = argv[2],
					  .sha = sha,
					  .options = &options,
					  .log_path = argv[5]};

		rc = kernel_build(&spec, &a, &err);
	}
	if (rc)
		printf("error=%s\nphase=%s\nmessage=%s\n", err_code_name(err.code), err.phase,
		       err.message);
	else
		print_artefact(&a);
	artefact_release(&a);
	repo_close(repo);
	return rc ? err_exit_code(err.code) : 0;
}
