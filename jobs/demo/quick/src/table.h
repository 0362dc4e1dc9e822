#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

/* The number of distinct keys; 0 if there was no memory. */
size_t table_distinct(const uint32_t *keys, size_t n);

#endif
