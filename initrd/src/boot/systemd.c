// SPDX-License-Identifier: Apache-2.0
#include "boot/systemd.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/version.h"

void systemd_read_tries(struct entry *entry) {
	char *plus = strrchr(entry->id, '+');
	size_t left = plus ? strspn(plus + 1, "0123456789") : 0, done;

	if (!left)
		return;
	done = plus[1 + left] == '-' ? strspn(plus + left + 2, "0123456789") : 0;
	if (plus[1 + left + (done ? done + 1 : 0)])
		return;
	entry->exhausted = strspn(plus + 1, "0") == left;
	*plus = 0;
}

static const char *or_empty(const char *text) { return text ? text : ""; }

static int in_order(const void *a, const void *b) {
	const struct entry *x = a, *y = b;
	int r;

	if (x->exhausted != y->exhausted)
		return x->exhausted ? 1 : -1;
	if (!x->sort_key != !y->sort_key)
		return x->sort_key ? -1 : 1;
	if (x->sort_key) {
		r = strcmp(x->sort_key, y->sort_key);
		if (r == 0)
			r = strcmp(or_empty(x->machine_id), or_empty(y->machine_id));
		if (r == 0)
			r = version_compare(y->version, x->version);
		if (r)
			return r;
	}
	return version_compare(y->id, x->id);
}

// The pattern of the last line "default"; it must be freed.
static char *default_of(const char *loader_conf) {
	cleanup_free char *copy = loader_conf ? strdup(loader_conf) : NULL;
	char *rest = copy, *line, *found = NULL;

	while ((line = strsep(&rest, "\n"))) {
		char *words = line, *key = words + strspn(words, " \t"), *value = key + strcspn(key, " \t\r"), *end;
		if (!*value)
			continue;
		*value++ = 0;
		value += strspn(value, " \t\"");
		end = value + strlen(value);
		while (end > value && strchr(" \t\r\"", end[-1]))
			*--end = 0;
		if (strcmp(key, "default") || !*value)
			continue;
		free(found);
		found = strdup(value);
	}
	return found;
}

// The first entry whose file name matches, with its suffix or without: versions differ in that. Returns -1 if none
// does.
static int first_match(const struct entries *entries, const char *pattern, const char *suffix) {
	for (size_t i = 0; i < entries->count; i++) {
		cleanup_with(text_free) struct text name = {0};
		text_addf(&name, "%s%s", entries->items[i].id, suffix);
		if (fnmatch(pattern, text_string(&name), FNM_CASEFOLD) == 0)
			return (int)i;
	}
	return -1;
}

static bool matches_image(const char *images, const char *pattern) {
	cleanup_free char *copy = strdup(images);
	char *rest = copy, *name;

	while ((name = strsep(&rest, "/")))
		if (*name && fnmatch(pattern, name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

static bool is_automatic(const char *pattern) {
	return strchr(pattern, '@') == pattern || fnmatch(pattern, "auto-windows", FNM_CASEFOLD) == 0 ||
	       fnmatch(pattern, "auto-efi-default", FNM_CASEFOLD) == 0 || !strncasecmp(pattern, "auto-", 5);
}

static int refuse(struct text *reason, const char *before, const char *what, const char *after) {
	text_addf(reason, "%s\"%s\"%s", before, what, after);
	return -ENOTSUP;
}

static int choose(const struct entries *entries, const char *images, const char *pattern, size_t *ret,
		  struct text *reason) {
	int with = -1, without = -1;

	if (pattern) {
		with = first_match(entries, pattern, ".conf");
		without = first_match(entries, pattern, "");
	}
	if (pattern && with < 0 && is_automatic(pattern))
		return refuse(reason, "what the default ", pattern, " of loader.conf is, only the loader knows");
	if (pattern && matches_image(images, pattern))
		return refuse(reason, "the default ", pattern,
			      " of loader.conf is a unified kernel image: kexec starts none");
	*ret = with > 0 ? (size_t)with : 0;
	if (with < 0 && *images) // they have a place in the order
		return refuse(reason, "there are unified kernel images (", images, "), and no default of loader.conf");
	if (with < 0 && without > 0)
		return refuse(reason, "versions of systemd-boot differ in what the default ", pattern,
			      " of loader.conf is: add \".conf\"");
	return 0;
}

int systemd_find(struct entries *entries, const char *images, const char *loader_conf, struct entry **ret,
		 struct text *reason) {
	cleanup_free char *pattern = default_of(loader_conf);
	size_t at;
	int r;

	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), in_order);
	r = choose(entries, images, pattern, &at, reason);
	if (r < 0)
		return r;
	if (entries->count == 0) {
		text_adds(reason, "no entry in loader/entries has a kernel that exists");
		return -ENOTSUP;
	}
	*ret = &entries->items[at];
	if ((*ret)->other)
		return refuse(reason, "the default entry has the key ", (*ret)->other, ", which kexec cannot follow");
	return 0;
}
