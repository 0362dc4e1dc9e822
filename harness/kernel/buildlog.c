// SPDX-License-Identifier: GPL-2.0-or-later
// Reading build logs. What is in them may come from the commit, so it is shown, never trusted.
#include "harness/kernel/buildlog.h"

#include "harness/base/buf.h"
#include "harness/base/util.h"
#include "harness/kernel/toolchain.h"

#include <fcntl.h>
#include <sys/stat.h>

#define TAIL_BYTES	 (256 << 10)
#define LINES_SHOWN	 3
#define LINE_SHOWN_BYTES 300

/* The end of the log, at most TAIL_BYTES of it and nothing before `from`. */
static void read_tail(const char *path, int64_t from, struct buf *ret)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st))
		return;
	from = MAX(from, (int64_t)st.st_size - TAIL_BYTES);
	n = pread(fd, buf_reserve(ret, TAIL_BYTES), TAIL_BYTES, from);
	buf_truncate(ret, n > 0 ? (size_t)n : 0);
	/* A NUL would hide what is behind it. */
	for (size_t i = 0; i < ret->len; i++)
		if (!ret->data[i])
			ret->data[i] = '?';
}

static bool has(const char *line, const char *text)
{
	return strstr(line, text) != NULL;
}

/* What compilers, assemblers, linkers and modpost write when the sources are wrong. */
static bool is_diagnosis(const char *line)
{
	return has(line, ": error: ") || has(line, ": fatal error: ") || has(line, ": Error: ") ||
	       has(line, "undefined reference to") || has(line, "multiple definition of") ||
	       has(line, "ERROR: modpost: ");
}

static bool is_kill(const char *line)
{
	return has(line, "Killed signal terminated program") ||
	       has(line, "out of memory allocating") || has(line, "virtual memory exhausted") ||
	       str_ends(line, "] Killed") || str_ends(line, "] Error 137");
}

/* "sh: 1: bc: not found", "make[2]: flex: No such file or directory",
 * "x.c:5:10: fatal error: gelf.h: No such file or directory": the word before the complaint. */
static char *missing_word(const char *line)
{
	const char *end = strstr(line, ": not found");
	const char *start;

	if (!end)
		end = strstr(line, ": command not found");
	if (!end)
		end = strstr(line, ": No such file or directory");
	if (!end)
		return NULL;
	for (start = end; start > line && start[-1] != ' '; start--)
		;
	return xstrndup(start, end - start);
}

/* The lines of a log by what they tell. */
struct findings {
	const char *last; /* the last line that is not make's own */
	const char *star; /* the last "***" of make's */
	const char *diagnoses[LINES_SHOWN];
	size_t n_diagnoses; /* of all; the last ones are kept */
	const char *kill, *full, *ccache;
	char *missing; /* owned */
};

static void look_at(struct findings *f, const char *line)
{
	autofree char *word = missing_word(line);

	if (!str_starts(line, "make"))
		f->last = line;
	else if (has(line, "***"))
		f->star = line;
	if (has(line, "No space left on device") || has(line, "Disk quota exceeded"))
		f->full = line;
	if (is_kill(line))
		f->kill = line;
	if (str_starts(line, "ccache: error:"))
		f->ccache = line;
	if (word && toolchain_package(word) && !f->missing)
		f->missing = take_ptr(&word);
	if (is_diagnosis(line))
		f->diagnoses[f->n_diagnoses++ % LINES_SHOWN] = line;
}

static void add_line(struct buf *out, const char *line, const char *src_dir)
{
	autofree char *prefix = xasprintf("%s/", src_dir);
	autobuf plain = {};
	const char *hit;

	while ((hit = strstr(line, prefix))) {
		buf_add(&plain, line, hit - line);
		line = hit + strlen(prefix);
	}
	buf_adds(&plain, line);
	if (out->len)
		buf_adds(out, "; ");
	buf_add_safe(out, plain.data, plain.len, LINE_SHOWN_BYTES, false);
}

static int explain(const struct findings *f, const char *src_dir, struct err *err)
{
	size_t first = f->n_diagnoses > LINES_SHOWN ? f->n_diagnoses - LINES_SHOWN : 0;
	autobuf lines = {};

	if (f->missing) {
		err_set(err, ERR_INFRA, "the build needs '%s', which is not on this machine",
			f->missing);
		err_hint(err, "install Debian's package %s", toolchain_package(f->missing));
		return -ERR_INFRA;
	}
	for (size_t i = first; i < f->n_diagnoses; i++)
		add_line(&lines, f->diagnoses[i % LINES_SHOWN], src_dir);
	if (!lines.len && f->last)
		add_line(&lines, f->last, src_dir);
	if (!f->n_diagnoses && f->star)
		add_line(&lines, f->star, src_dir);
	return err_set(err, ERR_UNTESTABLE, "does not build: %s",
		       lines.len ? buf_str(&lines) : "it failed without a word");
}

static int explain_machine(const char *what, const char *line, enum err_code code, const char *hint,
			   struct err *err)
{
	autobuf safe = {};

	buf_add_safe(&safe, line, strlen(line), LINE_SHOWN_BYTES, false);
	err_set(err, code, "%s: %s", what, buf_str(&safe));
	err_hint(err, "%s", hint);
	return -(int)code;
}

int buildlog_explain(const char *log_path, int64_t from, const char *src_dir, bool *ret_diagnosed,
		     struct err *err)
{
	struct findings f = {};
	autobuf tail = {};
	char *line, *at;
	int rc;

	read_tail(log_path, from, &tail);
	at = tail.data;
	while (at && (line = strsep(&at, "\n")))
		if (*line)
			look_at(&f, line);
	*ret_diagnosed = f.n_diagnoses > 0;
	if (f.full)
		rc = explain_machine("the disk is full", f.full, ERR_DISK_FULL,
				     "free some space ('culprit gc' removes old artefacts) and run "
				     "the same again",
				     err);
	else if (f.kill)
		rc = explain_machine("the build ran out of memory", f.kill, ERR_INFRA,
				     "free some memory, or give the machine more", err);
	else if (f.ccache)
		rc = explain_machine("ccache failed", f.ccache, ERR_INFRA,
				     "repair or remove ccache, or set CCACHE_DISABLE=1", err);
	else
		rc = explain(&f, src_dir, err);
	free(f.missing);
	err_phase(err, "build");
	return rc;
}

char *buildlog_last_line(const char *log_path, int64_t from)
{
	autobuf tail = {}, safe = {};
	char *line, *at, *last = NULL;

	read_tail(log_path, from, &tail);
	at = tail.data;
	while (at && (line = strsep(&at, "\n")))
		if (*line && !str_starts(line, "make"))
			last = line;
	if (last)
		buf_add_safe(&safe, last, strlen(last), LINE_SHOWN_BYTES, false);
	return buf_take(&safe);
}
