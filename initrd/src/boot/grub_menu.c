// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "boot/grub_run.h"

int run_add_entry(struct run *run, const struct grub_words *words, const char *body, size_t size, enum mode mode) {
	struct entry *entry = entries_add(run->entries);

	if (!entry)
		return run_refuse(run, "it has more than %u entries", ENTRIES_MAX);
	entry->parent = run->menu;
	entry->submenu = !strcmp(words->items[0], "submenu");
	entry->unsure = mode == MODE_UNSURE;
	entry->title = strdup(words->count > 1 ? words->items[1] : "");
	for (size_t i = 2; i + 1 < words->count && !entry->id; i++)
		if (!strcmp(words->items[i], "--id"))
			entry->id = strdup(words->items[i + 1]);
	if (!entry->id)
		entry->id = strdup(entry->title ? entry->title : "");
	entry->body = strndup(body, size);
	return entry->title && entry->id && entry->body ? 0 : -ENOMEM;
}

// Where the first part of "menu>submenu>entry" ends: at a ">" that is not doubled.
static size_t part_size(const char *wanted) {
	size_t i = 0;

	while (wanted[i] && (wanted[i] != '>' || wanted[i + 1] == '>'))
		i += wanted[i] == '>' ? 2 : 1;
	return i;
}

// GRUB's rule: a number, else a title or an id, in which ">" is doubled.
static bool matches(const char *name, const char *part, size_t size) {
	size_t at = 0;

	for (size_t i = 0; i < size; i++) {
		i += part[i] == '>';
		if (name[at++] != part[i])
			return false;
	}
	return !name[at];
}

// The entry of a menu that GRUB starts: the first one where nothing matches. Returns its index, or -1: the menu is
// empty. `ret_unsure`: it may be another one.
static int find(const struct run *run, int menu, const char *part, size_t size, bool *ret_unsure) {
	cleanup_free char *text = strndup(part, size);
	uint64_t number = UINT64_MAX, at = 0;
	bool unsure = false;
	int first = -1;

	*ret_unsure = false;
	if (text)
		(void)number_parse(text, ENTRIES_MAX, &number);
	for (size_t i = 0; i < run->entries->count; i++) {
		const struct entry *entry = &run->entries->items[i];
		if (entry->parent != menu)
			continue;
		unsure |= entry->unsure;
		if (first < 0) {
			first = (int)i;
			*ret_unsure = unsure;
		}
		if (number == UINT64_MAX ? matches(entry->title, part, size) || matches(entry->id, part, size)
					 : number == at) {
			*ret_unsure = number == UINT64_MAX ? entry->unsure : unsure;
			return (int)i;
		}
		at++;
	}
	*ret_unsure |= unsure && number != UINT64_MAX; // fewer entries: it counts as the first
	return first;
}

static int start(struct run *run, int at, const char *rest) {
	cleanup_free char *body = strdup(run->entries->items[at].body);
	const struct entry *entry;
	int r;

	if (!body)
		return -ENOMEM;
	if (run->entries->items[at].submenu) {
		variables_keep_exported(run->variables);
		run->menu = at;
		r = run_script(run, body, MODE_RUN);
		return r == 0 ? run_menu(run, at, rest) : r;
	}
	run->entry = at;
	r = run_script(run, body, MODE_RUN);
	entry = &run->entries->items[at];
	if (r == 0 && run->hands_over)
		return run_refuse(run, "the default entry \"%s\" starts another menu", entry->title);
	return r == 0 && !entry->kernel
		       ? run_refuse(run, "the default entry \"%s\" starts no Linux kernel", entry->title)
		       : r;
}

// "6.1" or "08": GRUB reads the number at its start; the one with entries of the Boot Loader Specification does not.
static bool is_cut_number(const char *part, size_t size) {
	size_t digits = strspn(part, "0123456789");
	return digits > 0 && (digits < size || (*part == '0' && size > 1));
}

int run_menu(struct run *run, int menu, const char *wanted) {
	size_t size = part_size(wanted);
	bool unsure;
	int at, r;

	if (is_unknown(wanted))
		return run_refuse(run, "the default entry depends on \"%s\"", run->doubt);
	if (++run->depth > DEPTH_MAX)
		return run_refuse(run, "it is nested too deeply");
	at = find(run, menu, wanted, size, &unsure);
	if (at < 0)
		return run_refuse(run, "its menu has no entry");
	if (!run->has_bls && is_cut_number(wanted, size))
		return run_refuse(run, "\"%s\" starts with a digit: versions of GRUB differ in what it means", wanted);
	if (unsure)
		return run_refuse(run, "which entry is \"%s\" depends on \"%s\"", wanted, run->doubt);
	r = start(run, at, wanted[size] ? wanted + size + 1 : "");
	run->depth--;
	return r;
}
