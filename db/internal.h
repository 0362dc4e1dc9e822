// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of the store share.
#pragma once

#include "db/sql.h"
#include "db/store.h"
#include "db/table.h"
#include "harness/base/clock.h"
#include "harness/base/util.h"

/* A metric's row, remembered: a run asks for the same ones in the same order as the run before. */
struct known_metric {
	char *name, *unit;
	int64_t id;
};

struct store {
	struct sql *db;
	VEC(struct known_metric) metrics;
	size_t next_metric; /* the one that comes next if the order is kept */
};

/* After a rollback their rows may be gone. */
void metrics_forget(struct store *s);

/* A row for this hash, so that others may refer to it; NULL is fine. */
int commit_known(struct store *s, const char *sha, struct err *err);

/* A line of the journal; boot 0 for none. */
int journal_line(struct store *s, int64_t session, int64_t boot, const char *what, const char *sha,
		 const char *detail, struct err *err);

static inline int64_t time_or_now(int64_t when_s)
{
	return when_s ? when_s : clock_wall_s();
}
