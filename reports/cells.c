// SPDX-License-Identifier: GPL-2.0-or-later
// Parameters and their values out of a cell's name.
#include "reports/cells.h"

#include "harness/base/util.h"

static const char *end_of_value(const char *value)
{
	const char *comma = value;

	while ((comma = strchr(comma, ','))) {
		size_t word = strcspn(comma + 1, ",=");

		if (word && comma[1 + word] == '=')
			return comma;
		comma++;
	}
	return value + strlen(value);
}

struct cell_words cell_words(const char *name)
{
	struct cell_words w = {};

	while (*name) {
		size_t key_len = strcspn(name, "=");
		const char *value = name + key_len + (name[key_len] == '=');
		const char *end = end_of_value(value);

		w.keys = xrealloc(w.keys, w.n + 1, sizeof(*w.keys));
		w.values = xrealloc(w.values, w.n + 1, sizeof(*w.values));
		w.keys[w.n] = xstrndup(name, key_len);
		w.values[w.n++] = xstrndup(value, end - value);
		name = *end ? end + 1 : end;
	}
	return w;
}

void cell_words_release(struct cell_words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->keys[i]);
		free(w->values[i]);
	}
	free(w->keys);
	free(w->values);
	*w = (struct cell_words){};
}
