// SPDX-License-Identifier: GPL-2.0-or-later
// `culprit report N`: what a session found, also while it is still at work.
#include "harness/base/log.h"
#include "harness/verbs/aa.h"
#include "reports/report.h"

/* the numbers are those of its end: a person's word since then is said beside them */
static int warn_of_voided(struct store *store, const struct session_row *session, struct err *err)
{
	struct boot_row *boots = NULL;
	size_t n = 0, late = 0;

	if (store_boot_list(store, session->id, &boots, &n, err) < 0)
		return -err->code;
	for (size_t i = 0; i < n; i++) {
		late += boots[i].void_why != NULL;
		boot_row_release(&boots[i]);
	}
	free(boots);
	if (late)
		log_warn("%zu boot%s of session %lld %s taken out by hand, maybe after its end; "
			 "new sessions do not learn from %s",
			 late, late == 1 ? "" : "s", (long long)session->id,
			 late == 1 ? "was" : "were", late == 1 ? "it" : "them");
	return 0;
}

/* what an `aa` session keeps is its report; formats are those of the others */
static int print_aa(struct store *store, const struct session_row *session, const char *format,
		    struct buf *out, struct err *err)
{
	autojson struct json *document = NULL;
	bool text = streq(format, "text");

	if (!text && !streq(format, "json"))
		return err_set(err, ERR_USAGE, "noise is reported as text or json, not '%s'",
			       format);
	if (!session->result)
		return err_set(err, ERR_NOT_FOUND, "session %lld has no result yet (it is %s)",
			       (long long)session->id, session->state);
	if (warn_of_voided(store, session, err) < 0)
		return -err->code;
	if (json_parse(session->result, strlen(session->result), &document, err) < 0)
		return err_wrap(err, "result of session %lld", (long long)session->id);
	if (text)
		aa_text(document, out);
	else
		json_print(document, true, out);
	if (!text)
		buf_addch(out, '\n');
	return 0;
}

int verb_report(struct ctx *ctx, int argc, char **argv)
{
	const char *format = NULL;
	const struct opt options[] = {
		{ "format", 0, OPT_STRING, &format, "FORMAT", "text (default), json, lkp or mmtests" },
		{},
	};
	ERR_CLEANUP struct err err = {};
	autostore struct store *store = NULL;
	struct session_row session = {};
	autobuf out = {};
	int status = 0;

	if (verb_options(ctx, options, argc, argv, 1, 1, &status) < 0)
		return status;
	if (!format)
		format = ctx->json ? "json" : "text";
	if (ctx_store(ctx, false, &store, &err) == 0 &&
	    verb_session(store, argv[1], &session, &err) == 0) {
		if (streq(session.kind, "aa"))
			print_aa(store, &session, format, &out, &err);
		else
			report_print(store, session.id, format, &out, &err);
	}
	session_row_release(&session);
	if (err.code)
		return verb_fail(ctx, &err);
	fputs(buf_str(&out), stdout);
	return 0;
}
