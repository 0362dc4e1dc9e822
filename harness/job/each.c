// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics with `each:` written out, in the tree, before anything else reads it.
#include "harness/job/each.h"

#include "harness/job/schema.h"

enum { METRICS_MAX = 1000 };

static const char mark[] = "{each}";

static char *filled_in(const char *text, const char *value)
{
	autobuf out = {};

	for (const char *at; (at = strstr(text, mark)); text = at + strlen(mark)) {
		buf_add(&out, text, at - text);
		buf_adds(&out, value);
	}
	buf_adds(&out, text);
	return buf_take(&out);
}

/* Every key of the metric but `each`, which is the value. */
static struct yaml_node *metric_for(const struct yaml_node *metric, const char *value)
{
	struct yaml_node *copy = node_copy(metric);

	free(copy->key);
	copy->key = xasprintf("%s.%s", metric->key, value);
	for (size_t i = 0; i < copy->n; i++) {
		struct yaml_node *item = copy->items[i];

		if (streq(item->key, "each")) {
			node_set_text(item, value);
		} else if (item->kind == NODE_SCALAR && item->text) {
			char *text = filled_in(item->text, value);

			free(item->text);
			item->text = text;
		}
	}
	return copy;
}

static void expand(struct yaml_node *metrics, const struct yaml_node *metric, struct diag *d)
{
	const struct yaml_node *each = node_get(metric, "each");
	autostrv char **values = schema_texts(each, "a list of texts", d);

	if (values && metrics->n + strv_len(values) > METRICS_MAX) {
		node_fault(each, d, "more than %d metrics", METRICS_MAX);
		return;
	}
	for (size_t i = 0; values && values[i]; i++) {
		autofree char *name = xasprintf("%s.%s", metric->key, values[i]);

		if (node_get(metrics, name))
			node_fault(each, d, "'%s' is there already", name);
		else
			node_push(metrics, metric_for(metric, values[i]));
	}
}

void each_expand(struct yaml_node *job, struct diag *d)
{
	struct yaml_node *metrics = node_get(job, "metrics");
	size_t n = metrics && metrics->kind == NODE_MAP ? metrics->n : 0;
	struct yaml_node **items = metrics ? metrics->items : NULL;
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any = any || node_get(items[i], "each");
	if (!any)
		return;
	metrics->items = NULL;
	metrics->n = metrics->cap_ = 0;
	for (size_t i = 0; i < n; i++) {
		if (node_get(items[i], "each")) {
			expand(metrics, items[i], d);
			node_free(items[i]);
		} else {
			node_push(metrics, items[i]);
		}
	}
	free(items);
}
