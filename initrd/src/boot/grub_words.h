// SPDX-License-Identifier: Apache-2.0
// Splits GRUB's script into statements of words; resolves quotes, backslashes, comments and variables. Pure.
#pragma once

#include "boot/variables.h"

#define WORDS_MAX 128u // of one statement

struct grub_words {
	size_t count;
	char *items[WORDS_MAX];
};

enum grub_end { GRUB_STATEMENT, GRUB_OPEN, GRUB_CLOSE, GRUB_EOF };

// Parses one statement and moves *script to its end. Returns -E2BIG if it has too many words.
int grub_words_read(const char **script, const struct variables *variables, struct grub_words *ret,
		    enum grub_end *ret_end);

// Skips blanks, comments and ends of statements.
const char *grub_words_skip(const char *at);
void grub_words_free(struct grub_words *words);
