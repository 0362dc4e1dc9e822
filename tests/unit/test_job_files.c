// SPDX-License-Identifier: GPL-2.0-or-later
// The files of jobs: includes, hashes, search by name.
#include "tests/unit/job_text.h"

static void includes(void)
{
	autofree char *fragment = put("inc/k.config", "CONFIG_B=y\n");
	autojob struct job *job = NULL, *again = NULL;
	autofree char *path = NULL;
	ERR_CLEANUP struct err err = {};

	put_only("inc/base.yaml", "name: base\nkernel: {base: tinyconfig, fragments: [k.config]}\n"
				  "qemu: {cpus: 2, memory: 1G}\nparameters: {a: [1, 2]}\n");
	put_only("more.yaml", "include: inc/base.yaml\nqemu: {cpus: 4}\nparameters: {a: 3}\n");
	job = load_good(MINIMAL "include: [inc/base.yaml, more.yaml]\nqemu: {memory: 2G}\n",
			"includes");
	if (!job)
		return;
	is_str(job->name, "job", "a name is not inherited");
	ok(job->qemu.cpus == 4 && job->qemu.memory_bytes == 2UL << 30,
	   "own keys win, later includes win");
	is_str(job->cells[0].name, "a=3", "lists are replaced");
	is_str(job->kernel.fragments[0], fragment, "paths are beside the included file");
	ok(!strstr(job->source, "include") && strstr(job->source, "tinyconfig"),
	   "the source is the merged text");
	path = put("inc/again.yaml", job->source);
	is_int(job_load(path, &again, &err), 0, "which is a job");
	is_str(again ? again->text_hash : NULL, job->text_hash, "and the same one");
}

static void bad_includes(void)
{
	autobuf many = {};

	put_only("a.yaml", "include: b.yaml\n");
	put_only("b.yaml", "include: a.yaml\n");
	put_only("bad.yaml", "qemu: {cpus: 0}\nqemo: 1\n");
	put_only("syntax.yaml", "a: [\n");
	put_only("list.yaml", "- a\n");
	refused_more("include: no.yaml", "job.yaml:4:10: key 'include': no file 'no.yaml' beside "
					 "this one nor in the job directories");
	refused_more("include: a.yaml",
		     "b.yaml:1:10: key 'include': 'a.yaml' includes itself, by way of 2 files");
	refused_more("include: job.yaml",
		     "job.yaml:4:10: key 'include': 'job.yaml' includes itself, by way of 1 files");
	refused_more("include: bad.yaml",
		     "bad.yaml:1:14: key 'cpus': '0' must be from 1 to 256\n"
		     "bad.yaml:2:1: key 'qemo': unknown key, did you mean 'qemu'?");
	refused_more("include: syntax.yaml",
		     "syntax.yaml:2:1: key 'a': not YAML: did not find expected node content while "
		     "parsing a flow node from line 2 on");
	refused_more("include: list.yaml",
		     "job.yaml:4:10: key 'include': 'list.yaml' holds no mapping of keys");
	refused_more(
		"include: {a: b}",
		"job.yaml:4:10: key 'include': must be a file or a list of files, not a mapping");
	for (int i = 0; i < 9; i++) {
		autofree char *name = xasprintf("chain%d.yaml", i),
			      *text = xasprintf("include: chain%d.yaml\n", i + 1);

		put_only(name, text);
	}
	refused_more("include: chain0.yaml",
		     "chain6.yaml:1:10: key 'include': files include each other more than 8 deep");
	buf_adds(&many, "include: [");
	for (int i = 0; i < 70; i++)
		buf_printf(&many, "%sinc/base.yaml", i ? ", " : "");
	buf_adds(&many, "]");
	refused_more(buf_str(&many),
		     "job.yaml:4:86: key 'include': more than 64 files are included");
}

static char *hash_of(const char *text)
{
	autojob struct job *job = load_good(text, "a job to hash");

	return job ? xstrdup(job->text_hash) : NULL;
}

static void hashes(void)
{
	autofree char *plain = hash_of(MINIMAL "boots: {min: 3, max: 9}\n");
	autofree char *formatted = hash_of(
		"# a comment\nculprit: 1\nname: other\ndescription: words\nboots:\n  max: '9'\n"
		"  min: 3\nmetrics: {m: {key: time, better: lower}}\nrun:\n  command: "
		"\"./bench\"\n");
	autofree char *changed = hash_of(MINIMAL "boots: {min: 3, max: 8}\n");
	autofree char *kernel = NULL, *edited = NULL;
	autofree char *half =
		hash_of(MINIMAL "runner: qemu\nqemu: {cpus: 4}\nparameters: {n: 50%}\n");
	autofree char *text =
		hash_of(MINIMAL "runner: qemu\nqemu: {cpus: 4}\nparameters: {n: '50%'}\n");

	is_str(plain, formatted, "formatting, name and description do not count");
	ok(!streq(plain, changed), "values do");
	put_only("h.config", "CONFIG_A=y\n");
	kernel = hash_of(MINIMAL "kernel: {fragments: h.config}\n");
	put_only("h.config", "CONFIG_A=n\n");
	edited = hash_of(MINIMAL "kernel: {fragments: h.config}\n");
	ok(!streq(kernel, edited), "the content of fragments does");
	ok(!streq(half, text), "so do quotes that change a value");
}

static void search(void)
{
	autofree char *user = xasprintf("%s/config", dir),
		      *near = put("config/culprit/jobs/near.yaml", MINIMAL);
	autofree char *far = put("far/near.yaml", MINIMAL),
		      *other = put("far2/other.yaml", MINIMAL "description: o\n");
	autofree char *broken = put("far2/broken.yaml", "culprit: 1\nrnu: x\n");
	autofree char *frag = put("far2/sub/x.config", "\n"),
		      *lists = xasprintf("/nonexistent:%s/far::%s/far2", dir, dir);
	ERR_CLEANUP struct err err = {};
	autojob struct job *job = NULL;
	struct job_entry *entries = NULL;
	size_t n = 0, seen = 0;

	setenv("XDG_CONFIG_HOME", user, 1);
	setenv("CULPRIT_JOBS", lists, 1);
	ok(job_load("near", &job, &err) == 0 && streq(job->path, near),
	   "the user's directory is nearest");
	job_free(take_ptr(&job));
	ok(job_load("other", &job, &err) == 0 && streq(job->path, other), "CULPRIT_JOBS is a list");
	is_int(job_load("othr", &(struct job *){NULL}, &err), -ERR_NOT_FOUND, "no such job");
	ok(err.hint && strstr(err.hint, "'other'"), "the nearest is named");
	is_int(job_load("./other", &(struct job *){NULL}, &err), -ERR_NOT_FOUND,
	       "a path is only a path");
	is_int(job_list(&entries, &n, &err), 0, "list");
	for (size_t i = 0; i < n; i++) {
		seen += streq(entries[i].path, near) && !entries[i].problem;
		seen += streq(entries[i].path, other) && streq(entries[i].description, "o");
		seen += streq(entries[i].path, broken) &&
			strstr(entries[i].problem, "1:1: key 'run'") != NULL;
		ok(!streq(entries[i].path, far), "%s is not hidden by a nearer one",
		   entries[i].name);
	}
	is_int(seen, 3, "jobs, their descriptions and problems");
	job_list_free(entries, n);
	job_free(take_ptr(&job));
	job = load_good(MINIMAL "kernel: {fragments: sub/x.config}\n",
			"a fragment of a job directory");
	is_str(job ? job->kernel.fragments[0] : NULL, frag, "is found there");
}

static void docs(void)
{
	autobuf out = {};

	job_print_docs(&out);
	ok(strstr(buf_str(&out), "metrics.NAME.better: higher, lower, required\n"),
	   "every key is documented");
	ok(strstr(buf_str(&out),
		  "qemu.memory: a size like 64K or 512M, from 32M to 16T, default 512M\n"),
	   "with limits");
}

int main(void)
{
	if (!start())
		return 1;
	includes();
	bad_includes();
	hashes();
	search();
	docs();
	return finish();
}
