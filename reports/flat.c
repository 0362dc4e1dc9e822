// SPDX-License-Identifier: GPL-2.0-or-later
// Boot values and samples, a row each, as CSV or JSON lines.
#include "reports/flat.h"

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/stats/centre.h"

struct flat {
	struct store *store;
	enum flat_what what;
	bool csv, header;
	flat_line_fn *line;
	void *arg;
	const struct session_row *session;
	struct metric_row *metrics;
	size_t n_metrics;
};

/* The values of one cell and metric in one boot. */
struct group {
	const char *cell, *metric;
	VEC(double) values;
};

/* --- how a row is written --- */

/* Spreadsheets read what begins like this as a formula. */
static void add_csv_text(struct buf *out, const char *text)
{
	buf_addch(out, '"');
	if (*text && strchr("=+-@\t\r", *text))
		buf_addch(out, '\'');
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			buf_addch(out, '"');
		buf_addch(out, *c);
	}
	buf_addch(out, '"');
}

static void add_csv_row(struct buf *out, const struct json *row, bool names)
{
	for (size_t i = 0; json_key(row, i); i++) {
		const struct json *value = json_get(row, json_key(row, i));

		if (i)
			buf_addch(out, ',');
		if (names)
			buf_adds(out, json_key(row, i));
		else if (json_str(value))
			add_csv_text(out, json_str(value));
		else if (!json_absent(value))
			json_print(value, false, out);
	}
	buf_adds(out, "\r\n");
}

static int write_row(struct flat *f, struct json *row)
{
	autojson struct json *owned = row;
	autobuf out = {};

	if (!f->csv) {
		json_print(owned, false, &out);
		buf_addch(&out, '\n');
	} else {
		if (!f->header)
			add_csv_row(&out, owned, true);
		add_csv_row(&out, owned, false);
	}
	f->header = true;
	return f->line(buf_str(&out), out.len, f->arg);
}

/* --- rows --- */

static const struct metric_row *metric_of(const struct flat *f, const char *name)
{
	for (size_t i = 0; i < f->n_metrics; i++)
		if (streq(f->metrics[i].name, name))
			return &f->metrics[i];
	return NULL;
}

static struct json *row_head(const struct flat *f, const struct boot_row *boot, const char *variant,
			     const char *cell, const char *metric)
{
	const struct metric_row *m = metric_of(f, metric);
	struct json *o = json_object_new();
	char when[32];

	json_set_int(o, "session", f->session->id);
	json_set_str(o, "kind", f->session->kind);
	json_set_str(o, "job", f->session->job_name);
	json_set_str(o, "machine", f->session->machine);
	json_set_int(o, "boot", boot->id);
	json_set_str(o, "started", clock_format_wall(boot->started_s, when));
	json_set_str(o, "side", boot->side);
	json_set_str(o, "purpose", boot->purpose);
	json_set_str(o, "commit", boot->commit_sha);
	json_set_str(o, "variant", variant);
	json_set_str(o, "cell", cell);
	json_set_str(o, "metric", metric);
	json_set_str(o, "unit", m ? m->unit : NULL);
	json_set_str(o, "better", !m ? NULL : m->higher_is_better ? "higher" : "lower");
	json_set(o, "kpi", m ? json_integer_new(m->kpi) : json_null_new());
	return o;
}

static int write_sample(struct flat *f, const struct boot_row *boot, const char *variant,
			const struct sample *sample)
{
	struct json *row = row_head(f, boot, variant, sample->cell, sample->metric);

	json_set_int(row, "run", sample->run);
	json_set_num(row, "value", sample->value);
	return write_row(f, row);
}

static int write_result(struct flat *f, const struct boot_row *boot, const char *variant,
			const struct group *g)
{
	const struct metric_row *m = metric_of(f, g->metric);
	struct json *row = row_head(f, boot, variant, g->cell, g->metric);
	enum centre_kind centre = CENTRE_MEDIAN;
	double quantile = 0;

	if (m)
		centre_parse(m->centre, &centre, &quantile);
	json_set_int(row, "runs", (int64_t)g->values.n);
	json_set_str(row, "centre", m ? m->centre : "median");
	json_set_num(row, "value", centre_value(centre, quantile, g->values.at, g->values.n));
	return write_row(f, row);
}

static int write_results(struct flat *f, const struct boot_row *boot, const char *variant,
			 const struct sample *samples, size_t n)
{
	VEC(struct group) groups = {};
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		size_t g = 0;

		while (g < groups.n && (groups.at[g].cell != samples[i].cell ||
					groups.at[g].metric != samples[i].metric))
			g++;
		if (g == groups.n)
			VEC_PUSH(&groups, (struct group){.cell = samples[i].cell,
							 .metric = samples[i].metric});
		VEC_PUSH(&groups.at[g].values, samples[i].value);
	}
	for (size_t g = 0; g < groups.n; g++) {
		if (rc == 0)
			rc = write_result(f, boot, variant, &groups.at[g]);
		VEC_FREE(&groups.at[g].values);
	}
	VEC_FREE(&groups);
	return rc;
}

static int write_boot(struct flat *f, const struct boot_row *boot, const struct sample *samples,
		      size_t n, struct err *err)
{
	struct kernel_row kernel = {};
	int rc = boot->kernel ? store_kernel_get(f->store, boot->kernel, &kernel, err) : 0;

	if (rc >= 0 && f->what == FLAT_RESULTS)
		rc = write_results(f, boot, kernel.variant, samples, n);
	for (size_t i = 0; rc >= 0 && f->what == FLAT_SAMPLES && i < n; i++)
		rc = write_sample(f, boot, kernel.variant, &samples[i]);
	kernel_row_release(&kernel);
	return MIN(rc, 0);
}

/* Samples come in the order of boots, and only of those that count. */
static int write_session(struct flat *f, struct err *err)
{
	struct sample_list samples = {};
	struct boot_row *boots = NULL;
	size_t n = 0, at = 0;
	int rc = store_metrics_get(f->store, f->session->id, &f->metrics, &f->n_metrics, err);

	if (rc >= 0)
		rc = store_samples(f->store, f->session->id, NULL, NULL, &samples, err);
	if (rc >= 0)
		rc = store_boot_list(f->store, f->session->id, &boots, &n, err);
	for (size_t i = 0; i < n; i++) {
		size_t end = at;

		while (end < samples.n && samples.at[end].boot == boots[i].id)
			end++;
		if (rc >= 0 && end > at)
			rc = write_boot(f, &boots[i], samples.at + at, end - at, err);
		at = end;
		boot_row_release(&boots[i]);
	}
	free(boots);
	sample_list_release(&samples);
	metric_rows_free(f->metrics, f->n_metrics);
	f->metrics = NULL;
	f->n_metrics = 0;
	return MIN(rc, 0);
}

int flat_print(struct store *s, int64_t session, enum flat_what what, bool csv, flat_line_fn *line,
	       void *arg, struct err *err)
{
	struct flat f = {.store = s, .what = what, .csv = csv, .line = line, .arg = arg};
	struct session_row *sessions = NULL;
	size_t n = 0;
	int rc = store_session_list(s, &sessions, &n, err);

	for (size_t i = n; i-- > 0;) { /* the oldest first */
		f.session = &sessions[i];
		if (rc >= 0 && (!session || sessions[i].id == session))
			rc = write_session(&f, err);
		session_row_release(&sessions[i]);
	}
	free(sessions);
	return MIN(rc, 0);
}
