// SPDX-License-Identifier: GPL-2.0-or-later
// JSON through jansson: a `struct json *` is a json_t * whose type stays in this file.
#include <jansson.h>

#include "harness/base/json.h"

#include <math.h>

/* jansson's readers take pointers that are not const, though they change nothing. */
static json_t *in(const struct json *j)
{
	return (json_t *)(uintptr_t)j;
}

static struct json *out(json_t *j)
{
	return (struct json *)j;
}

/* jansson gives NULL for no memory alone where the argument is valid, which callers see to. */
static struct json *checked(json_t *j)
{
	if (!j)
		xrealloc(NULL, SIZE_MAX, 2);
	return out(j);
}

struct json *json_object_new(void)
{
	return checked(json_object());
}

struct json *json_array_new(void)
{
	return checked(json_array());
}

struct json *json_string_new(const char *s)
{
	autobuf clean = {};

	if (!s)
		return json_null_new();
	buf_add_utf8(&clean, s, strlen(s));
	return checked(json_string(buf_str(&clean)));
}

struct json *json_number_new(double v)
{
	return isfinite(v) ? checked(json_real(v)) : json_null_new();
}

struct json *json_integer_new(int64_t v)
{
	return checked(json_integer(v));
}

struct json *json_bool_new(bool v)
{
	return checked(json_boolean(v));
}

struct json *json_null_new(void)
{
	return checked(json_null());
}

struct json *json_set(struct json *object, const char *key, struct json *value)
{
	autobuf clean = {};

	value = value ? value : json_null_new();
	buf_add_utf8(&clean, key, strlen(key));
	json_object_set_new(in(object), buf_str(&clean), in(value));
	return value;
}

struct json *json_push(struct json *array, struct json *value)
{
	value = value ? value : json_null_new();
	json_array_append_new(in(array), in(value));
	return value;
}

void json_set_str(struct json *o, const char *key, const char *s)
{
	json_set(o, key, json_string_new(s));
}

void json_set_num(struct json *o, const char *key, double v)
{
	json_set(o, key, json_number_new(v));
}

void json_set_int(struct json *o, const char *key, int64_t v)
{
	json_set(o, key, json_integer_new(v));
}

void json_set_bool(struct json *o, const char *key, bool v)
{
	json_set(o, key, json_bool_new(v));
}

void json_free(struct json *j)
{
	json_decref(in(j));
}

static int add_to_buf(const char *text, size_t len, void *arg)
{
	buf_add(arg, text, len);
	return 0;
}

void json_print(const struct json *j, bool pretty, struct buf *to)
{
	json_dump_callback(in(j), add_to_buf, to,
			   JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) |
				   (pretty ? JSON_INDENT(2) | JSON_ENSURE_ASCII : JSON_COMPACT));
}

int json_parse(const char *text, size_t len, struct json **ret, struct err *err)
{
	autobuf why = {};
	json_error_t e;
	json_t *j = json_loadb(text, len, JSON_DECODE_ANY, &e);

	/* A counter of 2^64 is a number all the same. */
	if (!j && json_error_code(&e) == json_error_numeric_overflow)
		j = json_loadb(text, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &e);
	if (!j) {
		buf_add_safe(&why, e.text, strlen(e.text), 120, false);
		return err_set(err, ERR_FAILED, "not JSON: line %d column %d: %s", e.line, e.column,
			       buf_str(&why));
	}
	*ret = out(j);
	return 0;
}

struct json *json_get(const struct json *object, const char *key)
{
	return out(json_object_get(in(object), key));
}

const char *json_key(const struct json *object, size_t i)
{
	void *at = json_object_iter(in(object));

	while (at && i--)
		at = json_object_iter_next(in(object), at);
	return at ? json_object_iter_key(at) : NULL;
}

size_t json_len(const struct json *j)
{
	return json_is_object(in(j)) ? json_object_size(in(j)) : json_array_size(in(j));
}

struct json *json_item(const struct json *array, size_t i)
{
	return out(json_array_get(in(array), i));
}

/* The member that the path begins with, and how much of the path that is: keys may hold points, too. */
static struct json *json_step(const struct json *j, const char *path, size_t *ret_len)
{
	uint64_t i;

	for (size_t len = strcspn(path, ".");; len += 1 + strcspn(path + len + 1, ".")) {
		autofree char *key = xstrndup(path, len);
		struct json *next = !json_is_array(in(j)) ? json_get(j, key) :
				    str_to_u64(key, &i)	  ? json_item(j, i) :
							    NULL;

		*ret_len = len;
		if (next || !path[len])
			return next;
	}
}

struct json *json_at(const struct json *j, const char *path)
{
	struct json *at = out(in(j));

	while (at) {
		size_t len;

		at = json_step(at, path, &len);
		if (!path[len])
			break;
		path += len + 1;
	}
	return at;
}

const char *json_str(const struct json *j)
{
	return json_string_value(in(j));
}

bool json_int(const struct json *j, int64_t *ret)
{
	if (!json_is_integer(in(j)))
		return false;
	*ret = json_integer_value(in(j));
	return true;
}

bool json_absent(const struct json *j)
{
	return !j || json_is_null(in(j));
}

bool json_num(const struct json *j, double *ret)
{
	if (json_is_number(in(j))) {
		*ret = json_number_value(in(j));
		return true;
	}
	return json_is_string(in(j)) && str_to_double(json_str(j), ret);
}
