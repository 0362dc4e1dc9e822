// SPDX-License-Identifier: GPL-2.0-or-later
// From a commit to something that can be started: build, initramfs, rows in the store.

#include "harness/measure/subject.h"

#include "harness/base/clock.h"
#include "harness/base/fs.h"
#include "harness/base/hash.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"

/* "+a.diff-518cd6234567": what is on top of the commit, as a column shows it */
static char *variant_name(const struct subject_spec *spec)
{
	autobuf out = {};

	for (const char *const *p = spec->patches; p && *p; p++)
		buf_printf(&out, "+%s", path_base(*p));
	for (const char *const *r = spec->reverts; r && *r; r++)
		buf_printf(&out, "-%.12s", *r);
	if (spec->aligned)
		buf_adds(&out, "+aligned");
	return buf_take(&out);
}

int subject_record_commit(struct lab *lab, const char *sha, struct err *err)
{
	struct repo_commit commit = {};
	int64_t id;
	int r = repo_commit(lab->repo, sha, &commit, err);

	if (r < 0)
		return r;
	struct commit_row row = {
		.sha = (char *)sha,
		.subject = commit.subject,
		.author = commit.author_name,
		.date_s = commit.committer_time,
	};
	r = store_commit_put(lab->store, &row, &id, err);
	repo_commit_release(&commit);
	return r;
}

/* a key for what has no artefact: a project's worktree, an image */
static char *plain_key(const struct subject *s, const struct lab *lab)
{
	char hex[HASH_HEX];
	struct hash *h = hash_new();

	hash_adds(h, s->sha);
	hash_adds(h, s->variant);
	hash_adds(h, s->image_hash);
	hash_adds(h, lab->repo ? repo_path(lab->repo) : "");
	hash_adds(h, s->untestable ? lab->job->text_hash : "");
	for (char *const *a = lab->job->build.argv; a && *a; a++)
		hash_adds(h, *a);
	hash_end(h, hex);
	return xstrdup(hex);
}

static int record_kernel(struct lab *lab, struct subject *s, const char *status, struct err *err)
{
	autofree char *key = s->artefact.key ? xstrdup(s->artefact.key) : plain_key(s, lab);
	struct kernel_row row = {
		.commit_sha = s->sha,
		.variant = s->variant,
		.key = key,
		.identity = (char *)(s->identity ? s->identity : ""),
		.code_hash = (char *)(s->artefact.code_hash ? s->artefact.code_hash : ""),
		.config_hash = (char *)(s->artefact.config_hash ? s->artefact.config_hash : ""),
		.config_diff = (char *)"",
		.toolchain = (char *)(s->artefact.toolchain ? s->artefact.toolchain : ""),
		.status = (char *)status,
		.message = (char *)(s->why ? s->why : ""),
		.build_seconds = s->build_seconds,
	};
	return store_kernel_put(lab->store, &row, &s->kernel, err);
}

int subject_record_identity(struct lab *lab, struct subject *s, const char *identity,
			    struct err *err)
{
	s->identity = xstrdup(identity);
	return s->image_hash ? record_kernel(lab, s, "ok", err) : 0;
}

static char *build_log_path(const struct lab *lab, const struct subject *s)
{
	return xasprintf("%s/logs/build-%lld-%.12s%s.log", lab->state_dir, (long long)lab->session,
			 s->sha ? s->sha : "tree", s->variant);
}

/* the cache may go at any time: the config that was measured stays with the numbers */
static int record_config(struct lab *lab, const struct artefact *a, struct err *err)
{
	autobuf text = {};

	if (fs_read(a->config, (size_t)16 << 20, &text, err) < 0)
		return -err->code;
	return store_config_put(lab->store, a->config_hash, buf_str(&text), err);
}

static int build_kernel(struct lab *lab, const struct subject_spec *spec, struct subject *s,
			struct err *err)
{
	autofree char *agent = NULL;
	autofree char *log = build_log_path(lab, s);
	struct kernel_options options = lab->job->kernel;
	struct build_spec build = {
		.repo = lab->repo,
		.cache_dir = lab->cache_dir,
		.sha = spec->sha,
		.patches = spec->patches,
		.reverts = spec->reverts,
		.options = &options,
		.log_path = log,
	};

	options.aligned = options.aligned || spec->aligned;
	if (kernel_build(&build, &s->artefact, err) < 0 ||
	    record_config(lab, &s->artefact, err) < 0)
		return -err->code;
	s->from_cache = s->artefact.from_cache;
	s->build_seconds = s->artefact.seconds;
	s->image = xstrdup(s->artefact.image);
	s->identity = xstrdup(s->artefact.identity);
	if (agent_path(&agent, err) < 0)
		return -err->code;
	return initramfs_make(lab->cache_dir, agent, lab->job->guest_programs,
			      s->artefact.modules_dir, &s->initrd, err);
}

static int build_project(struct lab *lab, const struct subject_spec *spec, struct subject *s,
			 struct err *err)
{
	autofree char *log = build_log_path(lab, s);
	struct project_spec build = {
		.repo = lab->repo,
		.cache_dir = lab->cache_dir,
		.sha = spec->sha,
		.patches = spec->patches,
		.reverts = spec->reverts,
		.command = lab->job->build.argv,
		.timeout_ns = lab->job->build.timeout_ns,
		.log_path = log,
	};

	return project_build(&build, &s->workdir, &s->build_seconds, &s->from_cache, err);
}

static int use_image(struct lab *lab, const struct subject_spec *spec, struct subject *s,
		     struct err *err)
{
	autofree char *agent = NULL;
	char hex[HASH_HEX];

	if (!fs_exists(spec->image))
		return err_set(err, ERR_NOT_FOUND, "no kernel image '%s'", spec->image);
	if (hash_file(spec->image, hex, err) < 0)
		return -err->code;
	s->image_hash = xstrdup(hex);
	s->image = fs_absolute(spec->image);
	if (agent_path(&agent, err) < 0)
		return -err->code;
	return initramfs_make(lab->cache_dir, agent, lab->job->guest_programs, spec->modules,
			      &s->initrd, err);
}

static int make_ready(struct lab *lab, const struct subject_spec *spec, struct subject *s,
		      struct err *err)
{
	if (spec->image)
		return use_image(lab, spec, s, err);
	if (!spec->sha) { /* the running kernel, measured from here */
		s->workdir = fs_absolute(".");
		return 0;
	}
	if (subject_record_commit(lab, spec->sha, err) < 0)
		return -err->code;
	progress_phase("build %s", s->name);
	return lab->job->is_kernel ? build_kernel(lab, spec, s, err)
				   : build_project(lab, spec, s, err);
}

/* the journal's line, and in its data what reports count */
static int note_build(struct lab *lab, const struct subject *s, struct err *err)
{
	autojson struct json *data = json_object_new();
	autobuf text = {};

	json_set_int(data, "from_cache", s->from_cache);
	json_set_num(data, "seconds", s->from_cache ? 0 : s->build_seconds);
	json_set_str(data, "variant", s->variant);
	json_set_str(data, "why", s->untestable ? s->why : NULL);
	json_print(data, false, &text);
	return lab_note(lab, "build", s->sha, 0, buf_str(&text), err, "%s%s%s", s->name,
			s->untestable	? ": cannot be built: "
			: s->from_cache ? ": already built"
					: ": built",
			s->untestable ? s->why : "");
}

int subject_prepare(struct lab *lab, const struct subject_spec *spec, struct subject *ret,
		    struct err *err)
{
	struct subject s = SUBJECT_NONE;
	autofree char *logs = xasprintf("%s/logs", lab->state_dir);
	int r = fs_mkdirs(logs, err);

	s.name = xstrdup(spec->name);
	s.sha = xstrdup(spec->sha);
	s.variant = variant_name(spec);
	if (r == 0)
		r = make_ready(lab, spec, &s, err);
	if (r == -ERR_UNTESTABLE) {
		s.untestable = true;
		s.why = xasprintf("%s: %s", err->phase, err->message);
		err_release(err);
		r = 0;
	}
	if (r == 0)
		r = record_kernel(lab, &s, s.untestable ? "untestable" : "ok", err);
	if (r == 0 && spec->sha)
		r = note_build(lab, &s, err);
	if (r < 0) {
		err_wrap(err, "%s", s.name);
		subject_release(&s);
		return r;
	}
	*ret = s;
	return 0;
}

void subject_release(struct subject *s)
{
	free(s->name);
	free(s->sha);
	free(s->variant);
	free(s->why);
	free(s->image);
	free(s->image_hash);
	free(s->initrd);
	free(s->workdir);
	free(s->identity);
	artefact_release(&s->artefact);
	*s = (struct subject)SUBJECT_NONE;
}
