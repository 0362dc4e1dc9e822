// SPDX-License-Identifier: GPL-2.0-or-later
// The few words every file uses: allocation that cannot fail, cleanup attributes, small strings.
#pragma once

#include "harness/base/banned.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Each argument is evaluated once, so that it may be a call; the numbers keep nested ones apart. */
#define PASTE_(a, b)	a##b
#define PASTE(a, b)	PASTE_(a, b)
#define PICK_(a, op, b, id)                                          \
	({                                                           \
		__typeof__(a) PASTE(one_, id) = (a);                 \
		__typeof__(b) PASTE(two_, id) = (b);                 \
		PASTE(one_, id) op PASTE(two_, id) ? PASTE(one_, id) \
						   : PASTE(two_, id); \
	})
#define MIN(a, b) PICK_(a, <, b, __COUNTER__)
#define MAX(a, b) PICK_(a, >, b, __COUNTER__)
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Out of memory ends the process in one place (alloc_failed), so these never return NULL. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size); /* n * size, overflow checked */
char *xstrdup(const char *s);			/* NULL stays NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Owned locals: `autofree char *s = ...`, handed over with take_ptr(&s) / take_fd(&fd). */
static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}
#define autofree __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))
#define autofclose __attribute__((cleanup(cleanup_fclose)))
#define take_ptr(p)                     \
	({                              \
		__typeof__(*(p)) t_ = *(p); \
		*(p) = NULL;            \
		t_;                     \
	})
static inline int take_fd(int *fd)
{
	int t = *fd;

	*fd = -1;
	return t;
}

/* A growing array of anything: `VEC(struct run) runs = {}; VEC_PUSH(&runs, run);` */
#define VEC(type)            \
	struct {             \
		type *at;    \
		size_t n;    \
		size_t cap_; \
	}
#define VEC_PUSH(v, ...)                                                                \
	do {                                                                            \
		if ((v)->n == (v)->cap_) {                                              \
			(v)->cap_ = (v)->cap_ ? 2 * (v)->cap_ : 8;                      \
			(v)->at = xrealloc((v)->at, (v)->cap_, sizeof(*(v)->at));       \
		}                                                                       \
		(v)->at[(v)->n++] = (__VA_ARGS__);                                      \
	} while (0)
#define VEC_FREE(v)                     \
	do {                            \
		free((v)->at);          \
		(v)->at = NULL;         \
		(v)->n = (v)->cap_ = 0; \
	} while (0)

bool streq(const char *a, const char *b); /* NULL equals NULL only */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* The part of a path behind its last slash; borrowed. */
const char *path_base(const char *path);
/* NULL-terminated string arrays (argv, environments); each string and the array are owned. */
char **strv_dup(const char *const *v);
void strv_push(char ***v, const char *s);
void strv_pushf(char ***v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t strv_len(char *const *v);
void strv_free(char **v);
static inline void cleanup_strv(char ***v)
{
	strv_free(*v);
}
#define autostrv __attribute__((cleanup(cleanup_strv)))
/* The nearest of n names by edit distance, or NULL where none is near enough to be meant. */
const char *str_nearest(const char *word, const char *const *names, size_t n);
/* Whole-string numbers in the C locale; false on rubbish, overflow or a trailing character. */
bool str_to_double(const char *s, double *ret);
bool str_to_u64(const char *s, uint64_t *ret);
/* "90s" "10m" "4h" "1.5d" "200ms" to ns; "512M" "2G" "64K" (powers of 1024) to bytes. */
bool str_to_duration_ns(const char *s, int64_t *ret_ns);
bool str_to_bytes(const char *s, uint64_t *ret_bytes);
