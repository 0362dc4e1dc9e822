// SPDX-License-Identifier: GPL-2.0-or-later
// What the measuring verbs open first and close last: job, repository, store, lab.
#pragma once

#include "harness/kernel/repo.h"
#include "harness/measure/rounds.h"
#include "harness/verbs/verbs.h"

struct work {
	struct ctx *ctx;
	struct job *job;
	struct repo *repo; /* NULL where the job needs none */
	struct store *store;
	struct lab lab;
	bool lab_open;
	bool unlearned; /* see lab_spec */
};

/* Job by name or path; the store, for writing. work_close is due also after a failure. */
int work_open(struct work *w, struct ctx *ctx, const char *name, struct err *err);
/* The same with a job that is loaded already; takes it, also when it fails. */
int work_open_job(struct work *w, struct ctx *ctx, struct job *job, struct err *err);
/* The repository: --repo, the job's, or that of the current directory. */
int work_repo(struct work *w, struct err *err);
/* The session: see lab_open. key is NULL-terminated. */
int work_lab(struct work *w, const char *kind, const char *const *key, bool fresh, struct err *err);
/* The open session's sides built, recorded under their names; what cannot be built is a side that
 * is out. */
int work_prepare(struct work *w, struct rounds *rounds, struct err *err);
/* The open session's sides built, recorded as the columns of a comparison, planned, said and
 * measured; what cannot be built or does not apply stays a column that says so. */
int work_compare(struct work *w, struct rounds *rounds, struct err *err);
/* Prints the session's report on stdout, in this format or (NULL) as text, or JSON with --json; the
 * exit status that goes with it. */
int work_report(struct work *w, const char *format, struct err *err);
/* Closes everything; the session ends as err says. */
void work_close(struct work *w, const struct err *err);
/* The metric that decides: the one chosen, or the job's only KPI; ERR_USAGE lists several. */
const struct metric *work_metric(const struct job *job, const char *chosen, struct err *err);
/* The chosen cell, by "k=v,..."; ERR_USAGE says where they are listed. */
const struct cell *work_cell(const struct job *job, const char *chosen, struct err *err);
/* All cells of the job, or the one that was chosen; owned array of borrowed cells. */
const struct cell **work_cells(const struct job *job, const char *chosen, size_t *ret_n,
			       struct err *err);
