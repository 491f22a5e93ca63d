// SPDX-License-Identifier: Apache-2.0
#include "boot/bls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/version.h"

#ifdef __aarch64__
#define OWN_ARCHITECTURE "aa64"
#else
#define OWN_ARCHITECTURE "x64"
#endif

static int set(char **field, const char *value) {
	free(*field);
	return (*field = strdup(value)) ? 0 : -ENOMEM;
}

static int add_initrd(struct entry *entry, const char *value) {
	if (entry->initrd_count == INITRDS_MAX)
		return -E2BIG;
	entry->initrds[entry->initrd_count] = strdup(value);
	return entry->initrds[entry->initrd_count++] ? 0 : -ENOMEM;
}

static int take_line(struct entry *entry, const char *key, const char *value) {
	const struct {
		const char *key;
		char **field;
	} fields[] = {
		{"title", &entry->title},	    {"version", &entry->version}, {"sort-key", &entry->sort_key},
		{"machine-id", &entry->machine_id}, {"linux", &entry->kernel},
	};
	static const char *const others[] = {"efi", "uki", "uki-url", "devicetree", "devicetree-overlay"};

	for (size_t i = 0; i < ELEMENTS(fields); i++)
		if (!strcmp(key, fields[i].key))
			return set(fields[i].field, value);
	for (size_t i = 0; i < ELEMENTS(others); i++)
		if (!strcmp(key, others[i]))
			return set(&entry->other, others[i]);
	if (!strcmp(key, "architecture") && strcasecmp(value, OWN_ARCHITECTURE))
		return set(&entry->other, key);
	if (!strcmp(key, "initrd"))
		return add_initrd(entry, value);
	if (!strcmp(key, "options"))
		text_addf(&entry->arguments, "%s%s", entry->arguments.size ? " " : "", value);
	return entry->arguments.failed ? -ENOMEM : 0;
}

int bls_parse(const char *file, const char *name, struct entries *entries) {
	cleanup_free char *copy = strdup(file);
	struct entry *entry = entries_add(entries);
	char *rest = copy, *line;
	int r = !entry ? -E2BIG : copy ? set(&entry->id, name) : -ENOMEM;

	while (r == 0 && (line = strsep(&rest, "\n"))) {
		char *end = line + strlen(line), *value;
		while (end > line && strchr(" \t\r", end[-1]))
			*--end = 0;
		line += strspn(line, " \t");
		value = line + strcspn(line, " \t");
		if (*line == '#' || !*value)
			continue;
		*value++ = 0;
		r = take_line(entry, line, value + strspn(value, " \t"));
	}
	return r;
}

static int make_body(struct entry *entry) {
	cleanup_with(text_free) struct text body = {0};

	text_addf(&body, "linux %s %s\n", entry->kernel,
		  entry->arguments.size ? text_string(&entry->arguments) : "$default_kernelopts");
	if (entry->initrd_count)
		text_adds(&body, "initrd");
	for (size_t i = 0; i < entry->initrd_count; i++)
		text_addf(&body, " %s", entry->initrds[i]);
	if (entry->other)
		text_addf(&body, "\n%s\n", entry->other);
	entry_clear(entry);
	return body.failed ? -ENOMEM : set(&entry->body, text_string(&body));
}

static int newest_first(const void *a, const void *b) {
	return version_compare_packages(((const struct entry *)b)->id, ((const struct entry *)a)->id);
}

int bls_for_grub(struct entries *entries) {
	int r = 0;

	for (size_t i = entries->count; i-- > 0;)
		if (!entries->items[i].kernel)
			entries_remove(entries, i);
	for (size_t i = 0; i < entries->count && r == 0; i++) {
		r = make_body(&entries->items[i]);
		if (r == 0 && !entries->items[i].title)
			r = set(&entries->items[i].title, entries->items[i].id);
	}
	if (r == 0 && entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), newest_first);
	return r;
}
