// SPDX-License-Identifier: GPL-2.0-or-later
// What is measured: a commit with what is on top of it, or an image; built and ready to boot.
#pragma once

#include "harness/kernel/build.h"
#include "harness/kernel/project.h"
#include "harness/measure/lab.h"

/* What is wanted. Borrowed strings. Either sha, or image, or neither (local runner: this very
 * tree). */
struct subject_spec {
	const char *name;	     /* column or node, for people: "v6.1", "good", "bad-revert" */
	const char *sha;	     /* 40 hex */
	const char *const *patches;  /* NULL-terminated, or NULL */
	const char *const *reverts;  /* 40 hex, NULL-terminated, or NULL */
	bool aligned;		     /* rebuilt with 64-byte function alignment */
	const char *image, *modules; /* a kernel that was not built here */
};

struct subject {
	char *name, *sha, *variant; /* variant: "+a.diff-518cd623" or "" */
	int64_t kernel;		    /* its row in the store */
	bool untestable;	    /* cannot be built; `why` says it. Not an error. */
	char *why;
	bool from_cache;
	double build_seconds;
	struct artefact artefact; /* kernel jobs */
	char *image, *initrd;	  /* what the runner starts */
	char *image_hash;	  /* of an image that was not built here: its content */
	char *workdir;		  /* local runner: the built worktree */
	char *identity; /* build-ids that the running kernel must show; NULL until known */
	bool booted;	/* once, in this process */
};

/* what a subject is before it is prepared and after it is released */
#define SUBJECT_NONE                                                                               \
	{                                                                                          \
		.artefact = {.lock_fd_ = -1 }                                                      \
	}

/* Subject, author and date of a commit, for reports. */
int subject_record_commit(struct lab *lab, const char *sha, struct err *err);
/* Builds it, or finds it built; leaves a kernel row and a journal line. ret->untestable is no
 * error. */
int subject_prepare(struct lab *lab, const struct subject_spec *spec, struct subject *ret,
		    struct err *err);
/* An image's build-ids, which only its first boot tells, into its kernel row. */
int subject_record_identity(struct lab *lab, struct subject *s, const char *identity,
			    struct err *err);
void subject_release(struct subject *s);
static inline void cleanup_subject(struct subject *s)
{
	subject_release(s);
}
#define autosubject __attribute__((cleanup(cleanup_subject))) struct subject
