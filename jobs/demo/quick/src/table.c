#include <stdlib.h>

#include "table.h"

struct table {
	uint32_t *slots; /* 0 is an empty slot */
	size_t size, used;
};

static uint32_t mix(uint32_t key)
{
	key ^= key >> 16;
	key *= 0x7feb352d;
	key ^= key >> 15;
	return key;
}

/* puts a key into a table that has room; 0 if the key was there */
static int put(struct table *table, uint32_t key)
{
	size_t i = (uint64_t)mix(key) * table->size >> 32;

	while (table->slots[i] && table->slots[i] != key)
		i = i + 1 < table->size ? i + 1 : 0;
	if (table->slots[i])
		return 0;
	table->slots[i] = key;
	table->used++;
	return 1;
}

static size_t next_size(size_t size)
{
	return size ? 2 * size : 1024;
}

/* moves all keys to a larger table */
static int grow(struct table *table)
{
	struct table larger = {.size = next_size(table->size)};

	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < table->size; i++) {
		if (table->slots[i])
			put(&larger, table->slots[i]);
	}
	free(table->slots);
	*table = larger;
	return 0;
}

size_t table_distinct(const uint32_t *keys, size_t n)
{
	struct table table = {0};
	size_t distinct = 0;

	for (size_t i = 0; i < n; i++) {
		if (table.size <= 2 * table.used && grow(&table)) {
			distinct = 0;
			break;
		}
		distinct += put(&table, keys[i]);
	}
	free(table.slots);
	return distinct;
}
