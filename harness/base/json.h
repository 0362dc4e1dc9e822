// SPDX-License-Identifier: GPL-2.0-or-later
// JSON (jansson): building documents to print, and reading what programs print.
#pragma once

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <stdint.h>

/* A value. Adding it to a parent hands it over. NULL pointers and numbers not finite become null. */
struct json;

struct json *json_object_new(void);
struct json *json_array_new(void);
struct json *json_string_new(const char *s); /* invalid UTF-8 is replaced, NULL is null */
struct json *json_number_new(double v);
struct json *json_integer_new(int64_t v);
struct json *json_bool_new(bool v);
struct json *json_null_new(void);
/* Both return the value, borrowed. */
struct json *json_set(struct json *object, const char *key, struct json *value);
struct json *json_push(struct json *array, struct json *value);
void json_set_str(struct json *o, const char *key, const char *s);
void json_set_num(struct json *o, const char *key, double v);
void json_set_int(struct json *o, const char *key, int64_t v);
void json_set_bool(struct json *o, const char *key, bool v);
void json_free(struct json *j);
static inline void cleanup_json(struct json **j)
{
	json_free(*j);
}
#define autojson __attribute__((cleanup(cleanup_json)))

/* Keys keep their order of insertion; numbers print with up to 15 significant digits. Pretty is for a
 * terminal or a mail: pure ASCII, whatever the strings hold. */
void json_print(const struct json *j, bool pretty, struct buf *out);

int json_parse(const char *text, size_t len, struct json **ret, struct err *err);
/* Dotted path: "jobs.0.read.iops", "end.sum_received.bits_per_second"; keys may hold points themselves.
 * NULL if absent; borrowed. */
struct json *json_at(const struct json *j, const char *path);
struct json *json_get(const struct json *object, const char *key);
/* Items of an array, keys of an object; 0 for anything else and NULL. */
size_t json_len(const struct json *j);
const char *json_key(const struct json *object, size_t i); /* in order of insertion; NULL beyond the last */
struct json *json_item(const struct json *array, size_t i);
const char *json_str(const struct json *j);	/* NULL unless a string */
bool json_int(const struct json *j, int64_t *ret); /* a whole number, exact */
bool json_absent(const struct json *j); /* null, or not there */
bool json_num(const struct json *j, double *ret); /* a number, or a string that is one whole number */
