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

void entry_clear(struct entry *entry) {
	free(entry->kernel);
	entry->kernel = NULL;
	while (entry->initrd_count)
		free(entry->initrds[--entry->initrd_count]);
	text_free(&entry->arguments);
}

static void free_entry(struct entry *entry) {
	entry_clear(entry);
	free(entry->title);
	free(entry->id);
	free(entry->version);
	free(entry->sort_key);
	free(entry->machine_id);
	free(entry->other);
	free(entry->body);
	free(entry->device);
	free(entry->tries);
}

void entries_remove(struct entries *entries, size_t at) {
	free_entry(&entries->items[at]);
	entries->count--;
	memmove(&entries->items[at], &entries->items[at + 1], (entries->count - at) * sizeof(*entries->items));
}

void entries_free(struct entries *entries) {
	for (size_t i = 0; i < entries->count; i++)
		free_entry(&entries->items[i]);
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
