// SPDX-License-Identifier: Apache-2.0
#include "boot/systemd.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "boot/version.h"

int systemd_read_tries(struct entry *entry) {
	char *plus = strrchr(entry->id, '+');
	size_t left = plus ? strspn(plus + 1, "0123456789") : 0, done;

	if (!left)
		return 0;
	done = plus[1 + left] == '-' ? strspn(plus + left + 2, "0123456789") : 0;
	if (plus[1 + left + (done ? done + 1 : 0)])
		return 0;
	entry->tries = strdup(plus);
	if (!entry->tries)
		return -ENOMEM;
	entry->exhausted = strspn(plus + 1, "0") == left;
	*plus = 0;
	return 0;
}

static const char *or_empty(const char *text) { return text ? text : ""; }

// What the loader calls an entry. Versions differ in whether its tries belong to it, and before 246 its suffix did not.
struct naming {
	bool tries, suffix;
};

static void add_name(const struct entry *entry, const struct naming *naming, struct text *ret) {
	text_addf(ret, "%s%s%s", entry->id, naming->tries ? or_empty(entry->tries) : "", naming->suffix ? ".conf" : "");
}

static int compare_names(const struct entry *x, const struct entry *y, const struct naming *naming) {
	cleanup_with(text_free) struct text one = {0}, two = {0};

	add_name(x, naming, &one);
	add_name(y, naming, &two);
	return version_compare(text_string(&one), text_string(&two));
}

static int in_order(const void *a, const void *b, void *naming) {
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
	return compare_names(y, x, naming);
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

// The first entry with a name that matches. Returns -1 if none has.
static int first_match(const struct entries *entries, const char *pattern, const struct naming *naming) {
	for (size_t i = 0; pattern && i < entries->count; i++) {
		cleanup_with(text_free) struct text name = {0};
		add_name(&entries->items[i], naming, &name);
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

static int differs(const char *pattern, struct text *reason) {
	if (!pattern) {
		text_adds(reason, "versions of systemd-boot differ in the order of entries with a counter of tries");
		return -ENOTSUP;
	}
	return refuse(reason, "versions of systemd-boot differ in what the default ", pattern, " of loader.conf is");
}

static int choose(struct entries *entries, const char *images, const char *pattern, size_t *ret, struct text *reason) {
	const struct naming namings[] = {{.tries = true, .suffix = true}, {.suffix = true}};
	const char *chosen[ELEMENTS(namings)] = {0};
	bool matches = pattern && entries->count;
	int first;

	for (size_t i = 0; i < ELEMENTS(namings) && entries->count; i++) {
		int match;
		qsort_r(entries->items, entries->count, sizeof(*entries->items), in_order, (void *)&namings[i]);
		match = first_match(entries, pattern, &namings[i]);
		matches = matches && match >= 0;
		*ret = match > 0 ? (size_t)match : 0;
		chosen[i] = entries->items[*ret].id;
	}
	first = first_match(entries, pattern, &(struct naming){0});
	if (pattern && !matches && is_automatic(pattern))
		return refuse(reason, "what the default ", pattern, " of loader.conf is, only the loader knows");
	if (pattern && matches_image(images, pattern))
		return refuse(reason, "the default ", pattern,
			      " of loader.conf is a unified kernel image: kexec starts none");
	if (!matches && *images) // they have a place in the order
		return refuse(reason, "there are unified kernel images (", images, "), and no default of loader.conf");
	if (chosen[0] != chosen[1] || (!matches && first > 0))
		return differs(pattern, reason);
	return 0;
}

int systemd_find(struct entries *entries, const char *images, const char *loader_conf, struct entry **ret,
		 struct text *reason) {
	cleanup_free char *pattern = default_of(loader_conf);
	size_t at = 0;
	int r;

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
