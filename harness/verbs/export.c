// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit export`: what was measured, for other programs: the database as JSON lines, results and
// samples as CSV or JSON lines, KCIDB.
#include "harness/base/log.h"
#include "harness/verbs/verbs.h"
#include "reports/flat.h"

struct export_options {
	const char *csv, *lines, *origin;
	bool kcidb;
	int64_t session; /* 0: all */
};

static int write_line(const char *line, size_t len, void *arg)
{
	struct err *err = arg;

	return fwrite(line, 1, len, stdout) == len ? 0 : err_errno(err, "cannot write the export");
}

static int export_flat(struct store *store, const struct export_options *o, struct err *err)
{
	const char *what = o->csv ? o->csv : o->lines;

	if (!streq(what, "results") && !streq(what, "samples"))
		return err_set(err, ERR_USAGE, "'%s' is neither results nor samples", what);
	return flat_print(store, o->session, streq(what, "results") ? FLAT_RESULTS : FLAT_SAMPLES,
			  o->csv != NULL, write_line, err, err);
}

static int export_kcidb(struct store *store, const struct export_options *o, struct err *err)
{
	const char *origin = o->origin ? o->origin : "culprit";
	size_t left_out = 0;
	autobuf out = {};

	if (!kcidb_origin_is_valid(origin))
		return err_set(err, ERR_USAGE,
			       "an origin is made of a-z, 0-9 and _, which '%s' is not", origin);
	if (kcidb_print(store, o->session, origin, &out, &left_out, err) < 0)
		return -(int)err->code;
	if (left_out)
		log_warn("%zu kernel%s left out: KCIDB wants the commit, which is not known of an "
			 "image that was not built here",
			 left_out, left_out == 1 ? " is" : "s are");
	buf_addch(&out, '\n');
	return write_line(out.data, out.len, err);
}

static int export(struct store *store, const struct export_options *o, struct err *err)
{
	if (!!o->csv + !!o->lines + o->kcidb > 1)
		return err_set(
			err, ERR_USAGE,
			"choose one of --csv, --lines and --kcidb; they are three documents");
	if (o->kcidb)
		return export_kcidb(store, o, err);
	if (o->csv || o->lines)
		return export_flat(store, o, err);
	if (o->session)
		return err_set(err, ERR_USAGE,
			       "the database is exported as a whole; one session goes with --csv, "
			       "--lines or --kcidb");
	return store_export(store, write_line, err, err);
}

int verb_export(struct ctx *ctx, int argc, char **argv)
{
	struct export_options o = {};
	const struct opt options[] = {
		{"csv", 0, OPT_STRING, &o.csv, "WHAT",
		 "results (a row a boot, cell and metric) or samples (a row a run)"},
		{"lines", 0, OPT_STRING, &o.lines, "WHAT", "the same as JSON lines"},
		{"kcidb", 0, OPT_FLAG, &o.kcidb, NULL, "one KCIDB document, schema version 5"},
		{"origin", 0, OPT_STRING, &o.origin, "NAME",
		 "who submits it, as agreed with KCIDB (culprit)"},
		{},
	};
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	int status = 0;
	int n = verb_options(ctx, options, argc, argv, 0, 1, &status);

	if (n < 0)
		return status;
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    (n == 0 || verb_session(store, argv[1], &session, &err) == 0)) {
		o.session = session.id;
		if (export(store, &o, &err) == 0 && fflush(stdout))
			err_errno(&err, "cannot write the export");
	}
	session_row_release(&session);
	return err.code ? verb_fail(ctx, &err) : 0;
}
