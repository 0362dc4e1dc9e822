// SPDX-License-Identifier: GPL-2.0-or-later
// Errors as values: a code, the phase it happened in, one message and a hint on what to do.
#pragma once

#include <stdbool.h>

/*
 * A function that can fail returns 0 or -code and fills its last argument. The message is wrapped
 * with context on the way up and printed once, by main. The codes are few: each stands for a
 * different reaction of the caller, the message says the rest.
 */
enum err_code {
	ERR_NONE,
	ERR_USAGE,	 /* the command line or a file the user wrote is wrong */
	ERR_NOT_FOUND,	 /* revision, job, number, program that does not exist */
	ERR_IO,		 /* the system refused: open, write, spawn, database */
	ERR_DISK_FULL,	 /* no space; its own code since it pauses instead of failing */
	ERR_BUSY,	 /* somebody else holds the lock; the message says who */
	ERR_UNTESTABLE,	 /* this commit cannot be tested */
	ERR_INFRA,	 /* the lab failed, which says nothing of the commit */
	ERR_FAILED,	 /* the test itself failed */
	ERR_INTERRUPTED, /* a signal asked us to stop; state is saved */
	ERR_TOO_NEW,	 /* a database written by a newer version */
};

/* `struct err err = {};` is a fresh one; err_release frees the texts. */
struct err {
	enum err_code code;
	char phase[16]; /* checkout, config, build, deploy, boot, ... or empty */
	char *message;	/* owned; no full stop, cause first, 'quoted' subject */
	char *hint;	/* owned; what to do, or NULL */
};

#define ERR_CLEANUP __attribute__((cleanup(err_release)))

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4))); /* replaces what was there, returns -code */
int err_errno(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* appends strerror; ENOSPC is DISK_FULL, ENOENT NOT_FOUND */
int err_wrap(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* "fmt: old message", returns -code */
void err_hint(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void err_phase(struct err *err, const char *phase);
void err_move(struct err *to, struct err *from);
void err_release(struct err *err);
const char *err_code_name(enum err_code code); /* "usage", "not-found", ... as in JSON */
int err_exit_code(enum err_code code);	       /* that a command ends with: 125, 128, 129 ... */
