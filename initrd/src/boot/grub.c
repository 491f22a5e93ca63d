// SPDX-License-Identifier: Apache-2.0
#include "boot/grub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "boot/grub_words.h"

#define DEPTH_MAX 16u

struct parser {
	struct variables *variables;
	struct entries *entries;
	int open[DEPTH_MAX]; // the entry of each open brace; -1: no entry
	unsigned depth;
};

static int innermost(const struct parser *p) {
	for (unsigned i = p->depth; i > 0; i--)
		if (p->open[i - 1] >= 0)
			return p->open[i - 1];
	return -1;
}

static int begin_entry(struct parser *p, const struct grub_words *words) {
	int parent = innermost(p);
	struct entry *entry = entries_add(p->entries);

	if (!entry)
		return -E2BIG;
	entry->parent = parent;
	entry->submenu = !strcmp(words->items[0], "submenu");
	entry->title = words->count > 1 ? strdup(words->items[1]) : NULL;
	for (size_t i = 2; i + 1 < words->count && !entry->id; i++)
		if (!strcmp(words->items[i], "--id"))
			entry->id = strdup(words->items[i + 1]);
	p->open[p->depth++] = (int)p->entries->count - 1;
	return 0;
}

static int begin(struct parser *p, const struct grub_words *words) {
	if (p->depth == DEPTH_MAX)
		return -E2BIG;
	if (words->count && (!strcmp(words->items[0], "menuentry") || !strcmp(words->items[0], "submenu")))
		return begin_entry(p, words);
	p->open[p->depth++] = -1;
	return 0;
}

static void assign(struct parser *p, const char *word) {
	const char *equals = strchr(word, '=');
	if (equals && equals > word && equals[1])
		variables_set(p->variables, word, (size_t)(equals - word), equals + 1);
}

static int set_kernel(struct entry *entry, const struct grub_words *words) {
	free(entry->kernel);
	entry->kernel = strdup(entry_strip_device(words->items[1]));
	text_free(&entry->arguments);
	for (size_t i = 2; i < words->count; i++) {
		bool quote = strchr(words->items[i], ' ') != NULL;
		if (!words->items[i][0])
			continue;
		text_addf(&entry->arguments, "%s%s%s%s", entry->arguments.size ? " " : "", quote ? "\"" : "",
			  words->items[i], quote ? "\"" : "");
	}
	return entry->kernel && !entry->arguments.failed ? 0 : -ENOMEM;
}

static bool is_command(const char *word, const char *name) {
	size_t n = strlen(name);
	return !strncmp(word, name, n) && (!word[n] || !strcmp(word + n, "efi") || !strcmp(word + n, "16"));
}

static int statement(struct parser *p, const struct grub_words *words) {
	int at = innermost(p);
	const char *command;

	if (words->count == 0)
		return 0;
	command = words->items[0];
	if (!strcmp(command, "set") && words->count > 1)
		assign(p, words->items[1]);
	else if (words->count == 1)
		assign(p, command);
	else if (at >= 0 && is_command(command, "linux"))
		return set_kernel(&p->entries->items[at], words);
	else if (at >= 0 && is_command(command, "initrd"))
		for (size_t i = 1; i < words->count; i++)
			if (!entry_add_initrd(&p->entries->items[at], words->items[i]))
				return -ENOMEM;
	return 0;
}

int grub_parse(const char *script, struct variables *variables, struct entries *ret) {
	cleanup_with(entries_free) struct entries entries = {0};
	struct parser p = {.variables = variables, .entries = &entries};
	enum grub_end end = GRUB_STATEMENT;
	int r = 0;

	while (r == 0 && end != GRUB_EOF) {
		cleanup_with(grub_words_free) struct grub_words words = {0};
		r = grub_words_read(&script, variables, &words, &end);
		if (r == 0)
			r = end == GRUB_OPEN ? begin(&p, &words) : statement(&p, &words);
		if (end == GRUB_CLOSE && p.depth > 0)
			p.depth--;
	}
	if (r < 0)
		return r;
	*ret = entries;
	entries = (struct entries){0};
	return 0;
}

// Whether `part` is the entry's number in its menu, its title or its id.
static bool part_matches(const struct entry *entry, uint64_t number, const char *part) {
	uint64_t n;
	return (number_parse(part, ENTRIES_MAX, &n) == 0 && n == number) ||
	       (entry->title && !strcmp(part, entry->title)) || (entry->id && !strcmp(part, entry->id));
}

static int find_below(const struct entries *entries, int parent, const char *part) {
	uint64_t number = 0;

	for (size_t i = 0; i < entries->count; i++) {
		if (entries->items[i].parent != parent)
			continue;
		if (part_matches(&entries->items[i], number++, part))
			return (int)i;
	}
	return -1;
}

static const struct entry *find_path(const struct entries *entries, const char *requested) {
	cleanup_free char *copy = strdup(requested);
	char *rest = copy, *part;
	int at = -1;

	if (!copy)
		return NULL;
	while ((part = strsep(&rest, ">")))
		if ((at = find_below(entries, at, part)) < 0)
			return NULL;
	return at >= 0 ? &entries->items[at] : NULL;
}

const struct entry *grub_default(const struct entries *entries, const char *requested) {
	const struct entry *found = find_path(entries, requested);

	if (found && found->submenu) { // the default of a submenu is its first entry
		int first = find_below(entries, (int)(found - entries->items), "0");
		found = first >= 0 ? &entries->items[first] : NULL;
	}
	if (found && found->kernel)
		return found;
	for (size_t i = 0; i < entries->count; i++)
		if (entries->items[i].kernel)
			return &entries->items[i];
	return NULL;
}
