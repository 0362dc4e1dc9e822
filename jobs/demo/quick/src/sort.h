#ifndef SORT_H
#define SORT_H

#include <stddef.h>
#include <stdint.h>

void sort_keys(uint32_t *keys, size_t n);

#endif
