// SPDX-License-Identifier: GPL-2.0-or-later
// Faults with their places, sorted and joined into one error.
#include "harness/job/diag.h"

#include "harness/base/buf.h"

enum { FAULTS_MAX = 100 };

void diag_release(struct diag *d)
{
	for (size_t i = 0; i < d->faults.n; i++)
		free(d->faults.at[i].text);
	for (size_t i = 0; i < d->files.n; i++)
		free(d->files.at[i]);
	VEC_FREE(&d->faults);
	VEC_FREE(&d->files);
}

const char *diag_file(struct diag *d, const char *path)
{
	for (size_t i = 0; i < d->files.n; i++)
		if (streq(d->files.at[i], path))
			return d->files.at[i];
	VEC_PUSH(&d->files, xstrdup(path));
	return d->files.at[d->files.n - 1];
}

void diag_add(struct diag *d, struct place at, const char *key, const char *fmt, ...)
{
	autofree char *what = NULL;
	autobuf text = {};
	va_list ap;

	if (d->faults.n == FAULTS_MAX) {
		d->dropped++;
		return;
	}
	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	if (key) {
		buf_adds(&text, "key '");
		buf_add_safe(&text, key, strlen(key), 60, false);
		buf_adds(&text, "': ");
	}
	buf_add_safe(&text, what, strlen(what), 400, false);
	VEC_PUSH(&d->faults, (struct fault){at, buf_take(&text)});
}

static size_t file_rank(const struct diag *d, const char *file)
{
	size_t i = 0;

	while (i < d->files.n && d->files.at[i] != file)
		i++;
	return i;
}

static int compare_faults(const void *a, const void *b, void *diag)
{
	const struct place *p = &((const struct fault *)a)->at, *q = &((const struct fault *)b)->at;

	if (p->file != q->file)
		return file_rank(diag, p->file) < file_rank(diag, q->file) ? -1 : 1;
	if (p->line != q->line)
		return p->line < q->line ? -1 : 1;
	return p->column < q->column ? -1 : p->column > q->column;
}

int diag_err(struct diag *d, struct err *err)
{
	autobuf text = {};

	if (!d->faults.n)
		return 0;
	buf_printf(&text, "'%s' is wrong:", d->files.at[0]);
	qsort_r(d->faults.at, d->faults.n, sizeof(*d->faults.at), compare_faults, d);
	for (size_t i = 0; i < d->faults.n; i++) {
		const struct fault *f = &d->faults.at[i];

		buf_printf(&text, "\n%s:", f->at.file);
		if (f->at.line)
			buf_printf(&text, "%u:%u:", f->at.line, f->at.column);
		buf_printf(&text, " %s", f->text);
	}
	if (d->dropped)
		buf_printf(&text, "\nand %zu more", d->dropped);
	return err_set(err, ERR_USAGE, "%s", buf_str(&text));
}
