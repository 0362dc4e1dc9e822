// SPDX-License-Identifier: GPL-2.0-or-later
// The error object: set where something fails, wrapped on the way up, printed once by main.
#include "harness/base/err.h"

#include "harness/base/util.h"

#include <errno.h>

static const struct {
	const char *name;
	int exit_code;
} codes[] = {
	[ERR_NONE] = {"none", 0},
	[ERR_USAGE] = {"usage", 129},
	[ERR_NOT_FOUND] = {"not-found", 128},
	[ERR_IO] = {"io", 128},
	[ERR_DISK_FULL] = {"disk-full", 128},
	[ERR_BUSY] = {"busy", 128},
	[ERR_UNTESTABLE] = {"untestable", 125},
	[ERR_INFRA] = {"infra", 128},
	[ERR_FAILED] = {"failed", 125},
	[ERR_INTERRUPTED] = {"interrupted", 130},
	[ERR_TOO_NEW] = {"too-new", 128},
};

static int set_message(struct err *err, enum err_code code, char *message)
{
	free(err->message);
	err->code = code;
	err->message = message;
	return -(int)code;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list ap;
	char *message;

	/* The old message may be one of the arguments, so it goes last. */
	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	free(err->hint);
	err->hint = NULL;
	err->phase[0] = '\0';
	return set_message(err, code, message);
}

int err_errno(struct err *err, const char *fmt, ...)
{
	int saved = errno;
	autofree char *what = NULL;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	what = xvasprintf(fmt, ap);
	va_end(ap);
	if (saved == ENOSPC || saved == EDQUOT) {
		rc = err_set(err, ERR_DISK_FULL, "%s: %s", what, strerror(saved));
		err_hint(err, "free some space ('culprit gc' removes old artefacts) and run the "
			      "same again");
		return rc;
	}
	return err_set(err, saved == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", what,
		       strerror(saved));
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	autofree char *context = NULL;
	va_list ap;

	va_start(ap, fmt);
	context = xvasprintf(fmt, ap);
	va_end(ap);
	return set_message(err, err->code,
			   xasprintf("%s: %s", context, err->message ? err->message : "failed"));
}

void err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;
	char *hint;

	va_start(ap, fmt);
	hint = xvasprintf(fmt, ap);
	va_end(ap);
	free(err->hint);
	err->hint = hint;
}

void err_phase(struct err *err, const char *phase)
{
	snprintf(err->phase, sizeof(err->phase), "%s", phase);
}

void err_move(struct err *to, struct err *from)
{
	if (to == from)
		return;
	err_release(to);
	*to = *from;
	*from = (struct err){};
}

void err_release(struct err *err)
{
	free(err->message);
	free(err->hint);
	*err = (struct err){};
}

const char *err_code_name(enum err_code code)
{
	return codes[code].name;
}

int err_exit_code(enum err_code code)
{
	return codes[code].exit_code;
}
