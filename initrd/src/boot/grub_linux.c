// SPDX-License-Identifier: Apache-2.0
// The commands of GRUB that load Linux: they make the answer.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/grub_run.h"

// One word of the kernel's arguments, as GRUB writes it.
static void add_argument(struct text *text, const char *word) {
	bool quote = strchr(word, ' ') != NULL;

	if (text->size)
		text_adds(text, " ");
	if (quote)
		text_adds(text, "\"");
	for (; *word; word++) {
		if (strchr("\\'\"", *word))
			text_adds(text, "\\");
		text_add(text, word, 1);
	}
	if (quote)
		text_adds(text, "\"");
}

// The entry that runs; NULL, with the reason: it cannot be known that the command runs, or with which words.
static struct entry *running(struct run *run, const struct grub_words *words, enum mode mode, int *ret) {
	*ret = 0;
	if (run->entry < 0)
		*ret = run_refuse(run, "\"%s\" outside of an entry", words->items[0]);
	else if (mode != MODE_RUN)
		*ret = run_refuse(run, "the %s of the default entry depends on \"%s\"", words->items[0], run->doubt);
	for (size_t i = 1; i < words->count && *ret == 0; i++) {
		const char *close = words->items[i][0] == '(' ? strchr(words->items[i], ')') : NULL;
		if (is_unknown(close ? close : words->items[i]))
			*ret = run_refuse(run, "\"%s\" of the default entry depends on \"%s\"", words->items[0],
					  run->doubt);
	}
	return *ret == 0 ? &run->entries->items[run->entry] : NULL;
}

static int set_device(struct run *run, struct entry *entry, const char *path) {
	const char *root = variables_get(run->variables, "root", 4);

	free(entry->device);
	entry->device = *path == '(' ? strndup(path + 1, strcspn(path + 1, ")")) : strdup(root);
	return entry->device ? 0 : -ENOMEM;
}

int run_linux(struct run *run, const struct grub_words *words, enum mode mode) {
	int r;
	struct entry *entry = running(run, words, mode, &r);

	if (!entry)
		return r;
	if (words->count < 2)
		return run_refuse(run, "\"%s\" without a kernel", words->items[0]);
	free(entry->kernel);
	entry->kernel = strdup(entry_strip_device(words->items[1]));
	text_free(&entry->arguments);
	for (size_t i = 2; i < words->count; i++)
		if (words->items[i][0])
			add_argument(&entry->arguments, words->items[i]);
	r = set_device(run, entry, words->items[1]);
	return r == 0 && entry->kernel && !entry->arguments.failed ? 0 : -ENOMEM;
}

int run_initrd(struct run *run, const struct grub_words *words, enum mode mode) {
	int r;
	struct entry *entry = running(run, words, mode, &r);

	for (size_t i = 1; entry && i < words->count; i++) {
		if (!strncmp(words->items[i], "--", 2) || !strncmp(words->items[i], "newc:", 5))
			return run_refuse(run, "the initrd \"%s\" is not known here", words->items[i]);
		if (!entry_add_initrd(entry, words->items[i]))
			return run_refuse(run, "the default entry has more than %u initrds", INITRDS_MAX);
	}
	return r;
}
