// SPDX-License-Identifier: GPL-2.0-or-later
// What one session measures with: job, repository, runner, machine, store; and its row in the
// store.
#pragma once

#include "db/store.h"
#include "harness/job/job.h"
#include "harness/kernel/repo.h"
#include "runners/runner.h"

/*
 * A session is one `run`, `aa`, `compare`, `bisect` or `test`. It is known by a key: work with the
 * same key that was not finished is taken up again where it stopped. lab_open holds a lock on the
 * key and, where boots disturb each other, one on the machine, as long as the lab is open.
 */
struct lab_spec {
	const char *kind;      /* "run", "aa", "compare", "bisect", "test" */
	const struct job *job; /* borrowed */
	struct repo *repo;     /* borrowed; NULL where no commit is involved */
	struct store *store;   /* borrowed */
	const char *state_dir, *cache_dir;
	const char *const *key; /* NULL-terminated: what makes it the same work, beside job, repo
				   and machine */
	char *const *argv;	/* the command, kept for `culprit continue` */
	bool fresh;	/* a finished session with this key is not found, a new one begins */
	bool unlearned; /* a new one does not use what `aa` sessions learned */
};

struct lab {
	const struct job *job;
	struct repo *repo;
	struct store *store;
	const struct runner_ops *runner;
	const char *state_dir, *cache_dir;
	int64_t session, machine;
	char *machine_name;
	struct json *options;	 /* as the session began: learned.h reads them */
	bool resumed;		 /* boots of an earlier process may be there */
	bool finished;		 /* the session found is done: only read it */
	char *first_fingerprint; /* host part of the session's first boot; later ones must equal it
				  */
	struct subject *reference; /* a kernel that booted in this session, or NULL; borrowed */
	int key_lock, machine_lock;
};

int lab_open(struct lab *lab, const struct lab_spec *spec, struct err *err);
/*
 * Ends the session as the way it went says: `why` NULL is done; what was asked wrongly, a
 * commit that cannot be tested and a test that fails are failures; anything else (an interrupt, a
 * broken lab, a full disk, a machine that refuses) pauses it, so that `culprit continue` goes on.
 * Frees the lab.
 */
void lab_close(struct lab *lab, const struct err *why);

/* A line of the session's journal; data is JSON or NULL. */
int lab_note(struct lab *lab, const char *what, const char *sha, int64_t boot, const char *data,
	     struct err *err, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* A number that the session decided once and noted (`what`, data the number): 1 found, 0 not yet.
 * So a resumed session goes on with the decisions of the first. */
int lab_decided(struct lab *lab, const char *what, uint32_t *ret, struct err *err);
int lab_decide(struct lab *lab, const char *what, uint32_t number, struct err *err);
/* Directory of a boot's console log and sockets, created: STATE/boots/N. Owned. */
char *lab_boot_dir(const struct lab *lab, int64_t boot);
