// SPDX-License-Identifier: GPL-2.0-or-later
// The counterpart of store_export: the lines of another database become rows of this one.
#pragma once

#include "db/store.h"

#include <stdio.h>

struct import_result {
	size_t lines, added; /* added: rows that are new here */
	size_t sessions;     /* of these, sessions */
	size_t known;	     /* sessions that were here before */
	size_t unfinished;   /* sessions that are not over yet, left out with all that is theirs */
};

/*
 * In one transaction: all or nothing. Rows get new numbers, and a session that is here already (by
 * the database it comes from and its number there) adds nothing. Unfinished sessions are left out,
 * and console logs are named no more: their files are with the other state. Machines of another
 * database are others, "local@1a2b3c4d", so that nothing is learned from one about the other;
 * same_machines: names mean the same there.
 *
 * ERR_USAGE says which line is none of an export.
 */
int store_import(struct store *s, FILE *in, const char *name, bool same_machines,
		 struct import_result *ret, struct err *err);
/* The name of this database; owned. */
int store_state_name(struct store *s, char **ret, struct err *err);
/* 1 if a session was imported, 0 if it was measured here. */
int store_session_is_imported(struct store *s, int64_t session, struct err *err);
