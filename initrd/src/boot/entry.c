// SPDX-License-Identifier: Apache-2.0
#include "boot/entry.h"

#include <stdlib.h>
#include <string.h>

struct entry *entries_add(struct entries *entries) {
	struct entry *items;

	if (entries->count == ENTRIES_MAX)
		return NULL;
	items = realloc(entries->items, (entries->count + 1) * sizeof(*items));
	if (!items)
		return NULL;
	entries->items = items;
	items[entries->count] = (struct entry){.parent = -1};
	return &items[entries->count++];
}

void entries_free(struct entries *entries) {
	for (size_t i = 0; i < entries->count; i++) {
		struct entry *e = &entries->items[i];
		free(e->title);
		free(e->id);
		free(e->version);
		free(e->kernel);
		for (size_t n = 0; n < e->initrd_count; n++)
			free(e->initrds[n]);
		text_free(&e->arguments);
	}
	free(entries->items);
	*entries = (struct entries){0};
}

const char *entry_strip_device(const char *path) {
	const char *close = *path == '(' ? strchr(path, ')') : NULL;
	return close ? close + 1 : path;
}

bool entry_add_initrd(struct entry *entry, const char *path) {
	if (entry->initrd_count == INITRDS_MAX)
		return false;
	if (!*path) // an unset variable
		return true;
	entry->initrds[entry->initrd_count] = strdup(entry_strip_device(path));
	return entry->initrds[entry->initrd_count++] != NULL;
}
