// SPDX-License-Identifier: Apache-2.0
// GRUB's script cut into statements of words: quotes, backslashes, comments and variables are gone. Pure.
#pragma once

#include "boot/variables.h"

#define WORDS_MAX 128u // of one statement

struct grub_words {
	size_t count;
	char *items[WORDS_MAX];
};

enum grub_end { GRUB_STATEMENT, GRUB_OPEN, GRUB_CLOSE, GRUB_EOF };

// Reads up to the end of a statement and moves *script there. -E2BIG: too many words.
int grub_words_read(const char **script, const struct variables *variables, struct grub_words *ret,
		    enum grub_end *ret_end);
void grub_words_free(struct grub_words *words);
