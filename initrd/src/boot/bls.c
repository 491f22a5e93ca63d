// SPDX-License-Identifier: Apache-2.0
#include "boot/bls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static int add_arguments(struct entry *entry, const char *value, const struct variables *variables) {
	if (entry->arguments.size)
		text_adds(&entry->arguments, " ");
	while (*value) {
		if (*value == '$')
			value = variables_expand(variables, value, &entry->arguments);
		else
			text_add(&entry->arguments, value++, 1);
	}
	return entry->arguments.failed ? -ENOMEM : 0;
}

static int add_initrds(struct entry *entry, const char *value, const struct variables *variables) {
	cleanup_with(text_free) struct text text = {0};
	char *rest, *one;

	while (*value) {
		if (*value == '$')
			value = variables_expand(variables, value, &text);
		else
			text_add(&text, value++, 1);
	}
	rest = text.data;
	while (rest && (one = strsep(&rest, " \t")))
		if (!entry_add_initrd(entry, one))
			return -ENOMEM;
	return text.failed ? -ENOMEM : 0;
}

static int set(char **field, const char *value) {
	free(*field);
	return (*field = strdup(value)) ? 0 : -ENOMEM;
}

static int take_line(struct entry *entry, const char *key, const char *value, const struct variables *variables) {
	if (!strcmp(key, "title"))
		return set(&entry->title, value);
	if (!strcmp(key, "version"))
		return set(&entry->version, value);
	if (!strcmp(key, "linux"))
		return set(&entry->kernel, entry_strip_device(value));
	if (!strcmp(key, "initrd"))
		return add_initrds(entry, value, variables);
	if (!strcmp(key, "options"))
		return add_arguments(entry, value, variables);
	return 0;
}

int bls_parse(const char *file, const char *name, const struct variables *variables, struct entries *entries) {
	cleanup_free char *copy = strdup(file);
	struct entry *entry = entries_add(entries);
	char *rest = copy, *line;
	int r = copy && entry ? set(&entry->id, name) : -ENOMEM;

	while (r == 0 && (line = strsep(&rest, "\n"))) {
		char *end = line + strlen(line), *value;
		while (end > line && strchr(" \t\r", end[-1]))
			*--end = 0;
		line += strspn(line, " \t");
		value = line + strcspn(line, " \t");
		if (*line == '#' || !*value)
			continue;
		*value++ = 0;
		r = take_line(entry, line, value + strspn(value, " \t"), variables);
	}
	return r == 0 && !entry->kernel ? -EINVAL : r;
}

static bool is_rescue(const struct entry *entry) {
	return (entry->id && strstr(entry->id, "rescue")) || (entry->title && strstr(entry->title, "rescue"));
}

static int newest_first(const void *a, const void *b) {
	const struct entry *x = a, *y = b;

	if (is_rescue(x) != is_rescue(y))
		return is_rescue(x) ? 1 : -1;
	if (x->version && y->version && strcmp(x->version, y->version))
		return strverscmp(y->version, x->version);
	return strverscmp(y->id ? y->id : "", x->id ? x->id : "");
}

void bls_sort(struct entries *entries) {
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), newest_first);
}
