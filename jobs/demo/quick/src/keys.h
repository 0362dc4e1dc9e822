#ifndef KEYS_H
#define KEYS_H

#include <stddef.h>
#include <stdint.h>

void keys_fill(uint32_t *keys, size_t n, uint32_t seed);

#endif
