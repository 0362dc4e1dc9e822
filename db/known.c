// SPDX-License-Identifier: GPL-2.0-or-later
// What earlier sessions know: boot values by kernel, for the noise of a machine.
#include "db/internal.h"

#include "harness/stats/centre.h"

static const char known_values[] =
	"SELECT b.kernel, b.id, s.value, c.centre, q.id, b.fingerprint FROM sessions q"
	" JOIN session_metrics c ON c.session = q.id AND c.name = ?4 CROSS JOIN boots b ON "
	"b.session = q.id"
	" CROSS JOIN runs r ON r.boot = b.id CROSS JOIN samples s ON s.run = r.id"
	" WHERE q.job_hash = ?1 AND q.machine = ?2 AND q.id <> ?5 AND b.status = 'ok' AND "
	"b.void_why IS NULL"
	" AND b.kernel IS NOT NULL AND r.cell = ?3 AND s.value IS NOT NULL"
	" AND s.metric IN (SELECT id FROM metrics WHERE name = ?4) ORDER BY b.kernel, b.id";

int store_known(struct store *s, const char *job_hash, const char *machine, const char *cell,
		const char *metric, int64_t except, struct known_list *ret, struct err *err)
{
	autostmt *st = NULL;
	VEC(double) runs = {};
	VEC(struct known_value) found = {};
	struct known_value boot = {};
	enum centre_kind centre = CENTRE_MEDIAN;
	double quantile = 0;
	int rc = sql_query(s->db, &st, err, known_values, "ssssi", job_hash, machine, cell, metric,
			   except);

	while (rc >= 0) {
		rc = sql_next(st, err);
		if (runs.n && (rc <= 0 || sql_int(st, 1) != boot.boot)) {
			boot.value = centre_value(centre, quantile, runs.at, runs.n);
			VEC_PUSH(&found, boot);
			runs.n = 0;
		}
		if (rc <= 0)
			break;
		boot = (struct known_value){ .kernel = sql_int(st, 0),
					     .boot = sql_int(st, 1),
					     .session = sql_int(st, 4),
					     .fingerprint = sql_int(st, 5) };
		centre_parse(sql_text(st, 3), &centre, &quantile);
		VEC_PUSH(&runs, sql_double(st, 2));
	}
	VEC_FREE(&runs);
	*ret = (struct known_list){ found.at, found.n };
	if (rc < 0)
		known_list_release(ret);
	return rc;
}

void known_list_release(struct known_list *l)
{
	free(l->at);
	*l = (struct known_list){};
}

int store_kernel_config_diff(struct store *s, int64_t id, const char *diff, struct err *err)
{
	return sql_run(s->db, err, "UPDATE kernels SET config_diff = ?2 WHERE id = ?1", "is", id,
		       diff);
}

int store_config_put(struct store *s, const char *hash, const char *content, struct err *err)
{
	return sql_run(s->db, err, "INSERT OR IGNORE INTO configs (hash, content) VALUES (?1, ?2)",
		       "ss", hash, content);
}
