// SPDX-License-Identifier: GPL-2.0-or-later
// Whom a mail goes to: the commit's author and signers, and what get_maintainer.pl of the tree
// says.

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/log.h"
#include "harness/base/proc.h"
#include "harness/base/safe.h"
#include "harness/kernel/git.h"
#include "harness/kernel/repo.h"
#include "harness/verbs/mail_facts.h"
#include "harness/verbs/post.h"

#include <pwd.h>

#define MAINTAINERS_MAX (64 * 1024) /* bytes of its answer */

static bool is_there(const struct mail_address *at, size_t n, const char *address)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(at[i].address, address) == 0)
			return true;
	return false;
}

static void add_person(struct gathered *g, bool to, const char *name, const char *address)
{
	struct mail_address a;

	if (!address_is_valid(address) || is_there(g->to.at, g->to.n, address) ||
	    is_there(g->cc.at, g->cc.n, address))
		return;
	a.name = (char *)gathered_keep(g, xstrdup(name));
	a.address = (char *)gathered_keep(g, xstrdup(address));
	if (to)
		VEC_PUSH(&g->to, a);
	else
		VEC_PUSH(&g->cc, a);
}

static void add_text(struct gathered *g, bool to, const char *text)
{
	autofree char *name = NULL, *address = NULL;

	if (address_split(text, &name, &address))
		add_person(g, to, name, address);
}

/* Signed-off-by lines of a commit's message. */
static void add_signers(struct gathered *g, const char *message)
{
	static const char tag[] = "Signed-off-by:";

	for (const char *line = message; *line; line += strcspn(line, "\n")) {
		line += *line == '\n';
		if (strncasecmp(line, tag, strlen(tag)) == 0) {
			const char *who = line + strlen(tag);
			autofree char *text = xstrndup(who, strcspn(who, "\r\n"));

			add_text(g, true, text);
		}
	}
}

/* The commit as a patch, in a file that get_maintainer.pl can read. */
static int write_patch(const struct mail_request *q, struct repo *repo, char **ret, struct err *err)
{
	const char *sha = q->report->bisect.row.culprit;
	autofree char *dir = post_dir(q->ctx);
	autofree char *path = xasprintf("%s/%.12s.patch", dir, sha);
	autobuf patch = {};

	if (fs_mkdirs(dir, err) < 0 ||
	    git_run(repo_path(repo), GIT_ARGS("format-patch", "-1", "--stdout", sha), 0, &patch,
		    ERR_IO, err) < 0 ||
	    fs_write(path, patch.data, patch.len, err) < 0)
		return -(int)err->code;
	*ret = take_ptr(&path);
	return 0;
}

static int ask_script(const struct mail_request *q, struct repo *repo, const char *script,
		      struct buf *ret, struct err *err)
{
	autofree char *patch = NULL;
	const char *argv[] = {script, "--norolestats", "--nogit-fallback", NULL, NULL};
	struct proc_spec spec = {.argv = argv,
				 .cwd = repo_path(repo),
				 .deadline_ns = clock_deadline_ns(120 * NS_PER_S),
				 .what = "get_maintainer.pl"};
	int rc = write_patch(q, repo, &patch, err);

	if (rc < 0)
		return rc;
	argv[3] = patch;
	rc = proc_run_ok(&spec, ret, MAINTAINERS_MAX, ERR_IO, err);
	unlink(patch);
	return rc;
}

static void add_maintainers(const struct mail_request *q, struct repo *repo, struct gathered *g)
{
	autofree char *script = xasprintf("%s/scripts/get_maintainer.pl", repo_path(repo));
	ERR_CLEANUP struct err err = {};
	autobuf answer = {};
	char *line, *rest;

	if (!fs_exists(script))
		return;
	if (ask_script(q, repo, script, &answer, &err) < 0) {
		log_warn("no maintainers: %s", err.message);
		return;
	}
	rest = answer.data;
	while (rest && (line = strsep(&rest, "\n")))
		add_text(g, false, line);
}

static void add_sender(const struct mail_request *q, struct gathered *g)
{
	struct mail_address *from = &g->facts.from;
	autofree char *name = NULL, *address = NULL;
	const struct passwd *user = getpwuid(getuid());
	char host[256] = "localhost";

	if (q->settings->mail.from)
		address_split(q->settings->mail.from, &name, &address);
	gethostname(host, sizeof(host) - 1);
	if (!address)
		address = xasprintf("%s@%s", user ? user->pw_name : "culprit", host);
	if (!address_is_valid(address)) {
		free(address);
		address = xstrdup("culprit@localhost");
	}
	from->address = (char *)gathered_keep(g, take_ptr(&address));
	from->name = (char *)gathered_keep(g, name ? take_ptr(&name) : xstrdup(""));
}

static void add_from_tree(const struct mail_request *q, struct gathered *g)
{
	const char *sha = q->report->bisect.row.culprit;
	const char *where = q->ctx->repo ? q->ctx->repo : q->report->session.repo;
	ERR_CLEANUP struct err err = {};
	struct repo_commit commit = {};
	struct repo *repo = NULL;

	if (repo_open(where, &repo, &err) < 0 || repo_commit(repo, sha, &commit, &err) < 0) {
		log_warn("nobody to write to is known: %s", err.message);
		repo_close(repo);
		return;
	}
	add_person(g, true, commit.author_name, commit.author_email);
	add_signers(g, commit.message);
	add_maintainers(q, repo, g);
	repo_commit_release(&commit);
	repo_close(repo);
}

int gather_people(const struct mail_request *q, struct gathered *g, struct err *err)
{
	add_sender(q, g);
	for (char *const *to = q->to; to && *to; to++) {
		autofree char *name = NULL, *address = NULL;

		if (!address_split(*to, &name, &address))
			return err_set(err, ERR_USAGE, "'%s' is no mail address", *to);
		add_person(g, true, name, address);
	}
	if (!q->to) {
		add_from_tree(q, g);
		for (char **cc = q->settings->mail.cc; cc && *cc; cc++)
			add_text(g, false, *cc);
	}
	g->facts.to = g->to.at;
	g->facts.n_to = g->to.n;
	g->facts.cc = g->cc.at;
	g->facts.n_cc = g->cc.n;
	return 0;
}
