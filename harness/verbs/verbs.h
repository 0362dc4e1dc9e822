// SPDX-License-Identifier: GPL-2.0-or-later
// What every verb gets: the global options, and the few steps all of them begin and end with.
#pragma once

#include "db/store.h"
#include "harness/base/err.h"
#include "harness/base/json.h"
#include "harness/base/opt.h"

/* The program's surroundings, made by main once. Strings are owned here. */
struct ctx {
	char *state_dir, *cache_dir; /* absolute; not created before somebody writes */
	const char *repo;	     /* --repo, or NULL */
	bool json, no_progress, quiet, verbose, help, version;
	const char *state_opt, *cache_opt; /* as given */
	char **argv;			   /* the whole command, for the journal and `continue` */
	const struct verb *verb;	   /* the one that runs */
};

struct verb {
	const char *name;
	int (*run)(struct ctx *ctx, int argc,
		   char **argv); /* argv[0] is the verb; returns the exit status */
	const char *operands;
	const char *summary;
};
#define VERB_AS(name, typed, operands, summary)                                                    \
	int verb_##name(struct ctx *ctx, int argc, char **argv);
#define VERB(name, operands, summary) VERB_AS(name, #name, operands, summary)
#include "harness/verbs/verbs.def"
#undef VERB
#undef VERB_AS
extern const struct verb verbs[]; /* from verbs.def; ends with a NULL name */
const struct verb *verb_find(const char *name);

/* Global options before the verb are read and *argc, *argv moved to the verb. `--version` and a
 * bare `culprit` leave verb NULL after printing. Negative: err. */
int ctx_start(struct ctx *ctx, int *argc, char ***argv, struct err *err);
void ctx_end(struct ctx *ctx);

/*
 * Reads a verb's options (table may be NULL) together with the global ones and moves operands to
 * argv[1..n]. Returns n (min..max), or -1 with *ret_exit set: --help was asked for
 * and printed (0), or the command line is wrong and said so (129).
 */
int verb_options(struct ctx *ctx, const struct opt *table, int argc, char **argv, int min, int max,
		 int *ret_exit);
/* Prints the error once (stderr, and as a JSON document on stdout with --json), frees it and
 * returns the exit status that goes with it. */
int verb_fail(struct ctx *ctx, struct err *err);
/* Opens the state's database; writing creates and migrates it, reading never waits for a writer. */
int ctx_store(struct ctx *ctx, bool write, struct store **ret, struct err *err);
char *ctx_config_path(const struct ctx *ctx); /* the user's settings; owned */
/* A session number from a word; ERR_USAGE if it is none, ERR_NOT_FOUND if there is no such session.
 */
int verb_session(struct store *store, const char *word, struct session_row *ret, struct err *err);
void verb_print_json(struct json *document); /* to stdout, with a newline; takes it */
struct json *verb_document(void);	     /* {"schema_version":1} */
