// SPDX-License-Identifier: GPL-2.0-or-later
// Reading an export: every line a row, numbers and references changed to those of this database.
#include "db/import.h"

#include "db/internal.h"

#define LINE_MAX_BYTES (64u << 20)
#define STATE_SHOWN    8 /* of a database's name, behind that of a machine */

/* Rows that are numbered anew. */
enum numbered {
	SESSIONS,
	KERNELS,
	MACHINES,
	FINGERPRINTS,
	BOOTS,
	RUNS,
	METRICS,
	NUMBERED,
	NOTHING = NUMBERED,
};

struct reference {
	const char *column;
	enum numbered to;
};

/*
 * The tables of an export. A row whose first reference leads to one that was left out is left out.
 * find: the row with the same natural key, which then stands for it; there may be none.
 */
static const struct imported {
	const char *name;
	enum numbered number; /* its column is "id"; NOTHING: no other row refers to it by number */
	bool has_id;	      /* an id that is only its own: dropped */
	bool keep_old;	      /* a row with the same key stays as it is */
	struct reference refs[4];
	const char *find, *key[2];
} tables[] = {
	{.name = "sessions", .number = SESSIONS},
	{.name = "commits", .number = NOTHING, .has_id = true, .keep_old = true},
	{.name = "session_metrics", .number = NOTHING, .refs = {{"session", SESSIONS}}},
	{.name = "sides", .number = NOTHING, .refs = {{"session", SESSIONS}}},
	{.name = "bisections", .number = NOTHING, .refs = {{"session", SESSIONS}}},
	{.name = "configs", .number = NOTHING, .keep_old = true},
	{.name = "kernels",
	 .number = KERNELS,
	 .find = "SELECT id FROM kernels WHERE key = ?1",
	 .key = {"key"}},
	{.name = "machines",
	 .number = MACHINES,
	 .find = "SELECT id FROM machines WHERE name = ?1",
	 .key = {"name"}},
	{.name = "fingerprints",
	 .number = FINGERPRINTS,
	 .find = "SELECT id FROM fingerprints WHERE environment = ?1",
	 .key = {"environment"}},
	{.name = "boots",
	 .number = BOOTS,
	 .refs = {{"session", SESSIONS},
		  {"kernel", KERNELS},
		  {"machine", MACHINES},
		  {"fingerprint", FINGERPRINTS}}},
	{.name = "runs", .number = RUNS, .refs = {{"boot", BOOTS}}},
	{.name = "outputs", .number = NOTHING, .refs = {{"run", RUNS}}},
	{.name = "metrics",
	 .number = METRICS,
	 .find = "SELECT id FROM metrics WHERE name = ?1 AND unit = ?2",
	 .key = {"name", "unit"}},
	{.name = "samples", .number = NOTHING, .refs = {{"run", RUNS}, {"metric", METRICS}}},
	{.name = "steps",
	 .number = NOTHING,
	 .has_id = true,
	 .refs = {{"session", SESSIONS}, {"boot", BOOTS}}},
	{.name = "skips", .number = NOTHING, .refs = {{"session", SESSIONS}}},
	{.name = "mails",
	 .number = NOTHING,
	 .has_id = true,
	 .keep_old = true,
	 .refs = {{"session", SESSIONS}}},
};

/* Numbers there and here, in the order of there; here 0: left out. */
struct pair {
	int64_t there, here;
};

struct origin {
	int64_t session, number;
	char *state;
};

struct import {
	struct store *store;
	bool same_machines;
	char *own, *other; /* names of this database and of that one */
	VEC(struct pair) map[NUMBERED];
	VEC(struct origin) origins;
	struct {
		char **names; /* as the database has them */
		char *insert;
	} columns[ARRAY_SIZE(tables)];
	struct import_result result;
};

static void import_release(struct import *im)
{
	for (size_t i = 0; i < NUMBERED; i++)
		VEC_FREE(&im->map[i]);
	for (size_t i = 0; i < im->origins.n; i++)
		free(im->origins.at[i].state);
	VEC_FREE(&im->origins);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		strv_free(im->columns[i].names);
		free(im->columns[i].insert);
	}
	free(im->own);
	free(im->other);
}

/* --- numbers --- */

static const struct pair *find_pair(const struct import *im, enum numbered what, int64_t there)
{
	size_t low = 0, high = im->map[what].n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (im->map[what].at[mid].there < there)
			low = mid + 1;
		else
			high = mid;
	}
	return low < im->map[what].n && im->map[what].at[low].there == there
		       ? &im->map[what].at[low]
		       : NULL;
}

/* Numbers of a table rise: that finds them again, and none stands twice. */
static int check_order(const struct import *im, const struct imported *t, int64_t there,
		       struct err *err)
{
	size_t n = im->map[t->number].n;

	if (there <= 0 || (n && im->map[t->number].at[n - 1].there >= there))
		return err_set(err, ERR_USAGE, "row %lld of '%s' stands out of order",
			       (long long)there, t->name);
	return 0;
}

static void add_pair(struct import *im, enum numbered what, int64_t there, int64_t here)
{
	VEC_PUSH(&im->map[what], (struct pair){there, here});
}

/* --- columns --- */

/* The table's columns, and the statement that adds a row; its own id is left to the database. */
static int read_columns(struct import *im, size_t at, struct err *err)
{
	const struct imported *t = &tables[at];
	autobuf names = {}, marks = {};
	autostmt *st = NULL;
	int rc = sql_query(im->store->db, &st, err,
			   "SELECT name FROM pragma_table_info(?1) WHERE NOT (?2 AND name = 'id')",
			   "si", t->name, (int64_t)(t->has_id || t->number != NOTHING));
	int place = 0;

	while (rc >= 0 && (rc = sql_next(st, err)) > 0) {
		strv_push(&im->columns[at].names, sql_text(st, 0));
		buf_printf(&names, "%s%s", place ? ", " : "", sql_text(st, 0));
		buf_printf(&marks, "%s?%d", place ? ", " : "", place + 1);
		place++;
	}
	im->columns[at].insert =
		xasprintf("INSERT INTO %s (%s) VALUES (%s)%s", t->name, buf_str(&names),
			  buf_str(&marks), t->keep_old ? " ON CONFLICT DO NOTHING" : "");
	return rc;
}

static bool has_column(const struct import *im, size_t at, const char *name)
{
	for (char **c = im->columns[at].names; c && *c; c++)
		if (streq(*c, name))
			return true;
	return streq(name, "table") ||
	       (streq(name, "id") && (tables[at].has_id || tables[at].number != NOTHING));
}

/* "ff0041" as bytes; NULL if it is none */
static void *bytes_of(const char *hex, size_t *ret_len)
{
	size_t len = hex ? strlen(hex) / 2 : 0;
	unsigned char *bytes;

	if (!hex || strlen(hex) % 2 || hex[strspn(hex, "0123456789abcdef")])
		return NULL;
	bytes = xmalloc(len + 1);
	for (size_t i = 0; i < len; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	*ret_len = len;
	return bytes;
}

static int bind(struct sql_stmt *st, int place, const char *column, const struct json *value,
		void **ret_bytes, struct err *err)
{
	const char *text = json_str(value);
	int64_t integer;
	double number;
	size_t len;

	if (json_get(value, "hex")) {
		*ret_bytes = bytes_of(json_str(json_get(value, "hex")), &len);
		if (*ret_bytes)
			sql_bind_blob(st, place, *ret_bytes, len);
		else
			err_set(err, ERR_USAGE, "'%s' holds no bytes in hex", column);
	} else if (text && streq(column, "output")) {
		sql_bind_blob(st, place, text, strlen(text));
	} else if (json_absent(value) || text) {
		sql_bind_text(st, place, text);
	} else if (json_int(value, &integer)) {
		sql_bind_int(st, place, integer);
	} else if (json_num(value, &number)) {
		sql_bind_double(st, place, number);
	} else {
		err_set(err, ERR_USAGE, "'%s' is neither a number nor a text", column);
	}
	return -(int)err->code;
}

/* --- rows --- */

/* 1: references are those of here now; 0: it belongs to what was left out. */
static int change_references(const struct import *im, const struct imported *t, struct json *row,
			     struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(t->refs) && t->refs[i].column; i++) {
		const struct json *value = json_get(row, t->refs[i].column);
		const struct pair *pair;
		int64_t there;

		if (i && (json_absent(value)))
			continue;
		if (!json_int(value, &there))
			return err_set(err, ERR_USAGE, "a row of '%s' without '%s'", t->name,
				       t->refs[i].column);
		pair = find_pair(im, t->refs[i].to, there);
		if (!pair)
			return err_set(err, ERR_USAGE,
				       "a row of '%s' whose '%s' %lld was not there before it",
				       t->name, t->refs[i].column, (long long)there);
		if (!pair->here && !i)
			return 0;
		json_set_int(row, t->refs[i].column, pair->here);
	}
	return 1;
}

static int insert(struct import *im, size_t at, const struct json *row, struct err *err)
{
	autofree void *bytes = NULL; /* of `outputs`, the only table that has some */
	autostmt *st = NULL;
	int place = 0;

	if (sql_query(im->store->db, &st, err, im->columns[at].insert, "") < 0)
		return -(int)err->code;
	for (char **c = im->columns[at].names; c && *c; c++)
		if (bind(st, ++place, *c, json_get(row, *c), &bytes, err) < 0)
			return -(int)err->code;
	if (sql_next(st, err) < 0) /* a value that the schema refuses is the file's fault */
		return err->code == ERR_IO ? err_set(err, ERR_USAGE, "the database refuses it: %s",
						     err->message)
					   : -(int)err->code;
	im->result.added += (size_t)sql_changed_rows(im->store->db);
	return 0;
}

/* The id of the row that is the same by its natural key; 0: there is none. */
static int find_same(struct import *im, const struct imported *t, const struct json *row,
		     int64_t *ret, struct err *err)
{
	autostmt *st = NULL;
	int rc;

	*ret = 0;
	if (!t->find)
		return 0;
	if (sql_query(im->store->db, &st, err, t->find, "") < 0)
		return -(int)err->code;
	for (int i = 0; i < (int)ARRAY_SIZE(t->key) && t->key[i]; i++)
		sql_bind_text(st, i + 1, json_str(json_get(row, t->key[i])));
	rc = sql_next(st, err);
	if (rc > 0)
		*ret = sql_int(st, 0);
	return MIN(rc, 0);
}

static int find_or_insert(struct import *im, size_t at, const struct json *row, int64_t *ret,
			  struct err *err)
{
	int rc = find_same(im, &tables[at], row, ret, err);

	if (rc < 0 || *ret)
		return rc;
	rc = insert(im, at, row, err);
	*ret = sql_last_id(im->store->db);
	return rc;
}

static void rename_machine(const struct import *im, struct json *row, const char *column)
{
	const char *name = json_str(json_get(row, column));
	autofree char *other = NULL;

	if (im->same_machines || !name || strchr(name, '@') || streq(im->own, im->other))
		return;
	other = xasprintf("%s@%.*s", name, STATE_SHOWN, im->other);
	json_set_str(row, column, other);
}

static const struct origin *origin_of(const struct import *im, int64_t session)
{
	for (size_t i = 0; i < im->origins.n; i++)
		if (im->origins.at[i].session == session)
			return &im->origins.at[i];
	return NULL;
}

/* Is this session to be taken? Its origin is noted with its new number. */
static int take_session(struct import *im, struct json *row, int64_t there, bool *ret_take,
			struct origin *ret_origin, struct err *err)
{
	const char *state = json_str(json_get(row, "state"));
	const char *key = json_str(json_get(row, "key"));
	const struct origin *known = origin_of(im, there);
	autofree char *other_key = NULL;
	autostmt *st = NULL;
	int rc;

	*ret_origin = known ? *known : (struct origin){there, there, im->other};
	*ret_take = false;
	if (!streq(state, "done") && !streq(state, "failed")) {
		im->result.unfinished++;
		return 0;
	}
	rc = sql_query(im->store->db, &st, err,
		       "SELECT 1 FROM origins WHERE state = ?1 AND number = ?2 UNION ALL "
		       "SELECT 1 FROM state WHERE name = ?1",
		       "si", ret_origin->state, ret_origin->number);
	if (rc >= 0)
		rc = sql_next(st, err);
	if (rc < 0)
		return rc;
	im->result.known += rc > 0;
	*ret_take = rc == 0;
	rename_machine(im, row, "machine");
	if (!im->same_machines) { /* what is measured here is not done because it was there */
		other_key = xasprintf("%.*s:%s", STATE_SHOWN, im->other, key ? key : "");
		json_set_str(row, "key", other_key);
	}
	return 0;
}

static int import_session(struct import *im, size_t at, struct json *row, int64_t there,
			  int64_t *ret_here, struct err *err)
{
	struct origin origin;
	bool take;
	int rc = take_session(im, row, there, &take, &origin, err);

	*ret_here = 0;
	if (rc < 0 || !take)
		return rc;
	rc = insert(im, at, row, err);
	if (rc < 0)
		return rc;
	*ret_here = sql_last_id(im->store->db);
	im->result.sessions++;
	return sql_run(im->store->db, err,
		       "INSERT INTO origins (session, state, number) VALUES (?1, ?2, ?3)", "isi",
		       *ret_here, origin.state, origin.number);
}

static int import_numbered(struct import *im, size_t at, struct json *row, struct err *err)
{
	const struct imported *t = &tables[at];
	int64_t there, here = 0;
	int rc;

	if (!json_int(json_get(row, "id"), &there))
		return err_set(err, ERR_USAGE, "a row of '%s' without 'id'", t->name);
	rc = check_order(im, t, there, err);
	if (rc == 0 && t->number == SESSIONS) {
		rc = import_session(im, at, row, there, &here, err);
	} else if (rc == 0) {
		if (t->number == MACHINES)
			rename_machine(im, row, "name");
		if (t->number == BOOTS)
			json_set_str(row, "log_path", "");
		rc = change_references(im, t, row, err);
		if (rc > 0)
			rc = find_or_insert(im, at, row, &here, err);
	}
	if (rc >= 0)
		add_pair(im, t->number, there, here);
	return rc;
}

static int take_origin(struct import *im, const struct json *row, struct err *err)
{
	struct origin o = {.state = (char *)json_str(json_get(row, "state"))};

	if (!o.state || !json_int(json_get(row, "session"), &o.session) ||
	    !json_int(json_get(row, "number"), &o.number))
		return err_set(err, ERR_USAGE, "an origin without session, state and number");
	o.state = xstrdup(o.state);
	VEC_PUSH(&im->origins, o);
	return 0;
}

static int take_state(struct import *im, const struct json *row, struct err *err)
{
	const char *name = json_str(json_get(row, "name"));

	if (im->other || !name || strlen(name) < STATE_SHOWN)
		return err_set(err, ERR_USAGE,
			       im->other ? "a second export begins here"
					 : "a state without a name");
	im->other = xstrdup(name);
	return 0;
}

static int import_row(struct import *im, struct json *row, struct err *err)
{
	const char *name = json_str(json_get(row, "table"));
	size_t at = 0;
	int rc;

	if (!name)
		return err_set(err, ERR_USAGE, "no row of an export: it has no 'table'");
	if (streq(name, "state"))
		return take_state(im, row, err);
	if (!im->other)
		return err_set(err, ERR_USAGE, "an export begins with its 'state'");
	if (streq(name, "origins"))
		return take_origin(im, row, err);
	while (at < ARRAY_SIZE(tables) && !streq(tables[at].name, name))
		at++;
	if (at == ARRAY_SIZE(tables))
		return err_set(err, ERR_USAGE, "no table '%s' is known here", name);
	if (!im->columns[at].insert && read_columns(im, at, err) < 0)
		return -(int)err->code;
	for (size_t i = 0; json_key(row, i); i++)
		if (!has_column(im, at, json_key(row, i)))
			return err_set(err, ERR_USAGE, "table '%s' has no column '%s' here", name,
				       json_key(row, i));
	if (tables[at].number != NOTHING)
		return import_numbered(im, at, row, err);
	rc = change_references(im, &tables[at], row, err);
	return rc > 0 ? insert(im, at, row, err) : rc;
}

static int import_lines(struct import *im, FILE *in, const char *name, struct err *err)
{
	autofree char *line = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&line, &room, in)) >= 0) {
		autojson struct json *row = NULL;
		int rc;

		im->result.lines++;
		if (len > (ssize_t)LINE_MAX_BYTES)
			rc = err_set(err, ERR_USAGE, "a line of %zd bytes", len);
		else
			rc = json_parse(line, (size_t)len, &row, err);
		if (rc < 0 && err->code != ERR_USAGE)
			rc = err_set(err, ERR_USAGE, "%s", err->message);
		if (rc >= 0)
			rc = import_row(im, row, err);
		if (rc < 0)
			return err_wrap(err, "'%s' line %zu", name, im->result.lines);
	}
	if (ferror(in))
		return err_errno(err, "cannot read '%s'", name);
	if (!im->other)
		return err_set(err, ERR_USAGE, "'%s' is empty, and no export", name);
	return 0;
}

int store_import(struct store *s, FILE *in, const char *name, bool same_machines,
		 struct import_result *ret, struct err *err)
{
	__attribute__((cleanup(import_release))) struct import im = {
		.store = s, .same_machines = same_machines};
	int rc = store_state_name(s, &im.own, err);

	if (rc == 0)
		rc = store_begin(s, err);
	if (rc < 0)
		return rc;
	rc = import_lines(&im, in, name, err);
	if (rc < 0) {
		store_rollback(s);
		return rc;
	}
	*ret = im.result;
	return store_commit(s, err);
}

int store_state_name(struct store *s, char **ret, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT name FROM state", "");

	if (rc >= 0)
		rc = sql_next(st, err);
	if (rc == 0)
		return err_set(err, ERR_IO, "the database has lost its name");
	if (rc > 0)
		*ret = xstrdup(sql_text(st, 0));
	return MIN(rc, 0);
}

int store_session_is_imported(struct store *s, int64_t session, struct err *err)
{
	autostmt *st = NULL;
	int rc = sql_query(s->db, &st, err, "SELECT 1 FROM origins WHERE session = ?1", "i",
			   session);

	return rc < 0 ? rc : sql_next(st, err);
}
