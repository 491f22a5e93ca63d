// SPDX-License-Identifier: Apache-2.0
#include "boot/grub_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

// GRUB sets these itself; scripts of grub-mkconfig use ids of entries only if the first one is set.
static const char *expand(const char *at, const struct variables *variables, struct text *text) {
	static const char option[] = "menuentry_id_option";
	const char *name = at + 1 + (at[1] == '{');

	if (!strncmp(name, option, strlen(option))) {
		text_adds(text, "--id");
		return name + strlen(option) + (at[1] == '{' && name[strlen(option)] == '}');
	}
	return variables_expand(variables, at, text);
}

static const char *read_quoted(const char *at, const struct variables *variables, struct text *text) {
	char quote = *at++;

	while (*at && *at != quote) {
		if (quote == '"' && *at == '$') {
			at = expand(at, variables, text);
			continue;
		}
		if (quote == '"' && *at == '\\' && at[1])
			at++;
		text_add(text, at++, 1);
	}
	return *at ? at + 1 : at;
}

// Parses one word, from its first byte; it may be empty after expansion.
static const char *read_word(const char *at, const struct variables *variables, struct text *text) {
	while (*at && !strchr(" \t\r\n;", *at)) {
		if (*at == '\'' || *at == '"') {
			at = read_quoted(at, variables, text);
		} else if (*at == '$') {
			at = expand(at, variables, text);
		} else if (*at == '\\' && at[1] == '\n') {
			at += 2;
		} else {
			at += *at == '\\' && at[1];
			text_add(text, at++, 1);
		}
	}
	return at;
}

static bool brace(const char *at) { return (*at == '{' || *at == '}') && (!at[1] || strchr(" \t\r\n;", at[1])); }

static const char *skip_blanks(const char *at) {
	for (;;) {
		if (*at == ' ' || *at == '\t' || *at == '\r')
			at++;
		else if (*at == '\\' && at[1] == '\n')
			at += 2;
		else if (*at == '#')
			at += strcspn(at, "\n");
		else
			return at;
	}
}

static int add_word(struct grub_words *words, const char **at, const struct variables *variables) {
	cleanup_with(text_free) struct text text = {0};

	*at = read_word(*at, variables, &text);
	if (words->count == WORDS_MAX)
		return -E2BIG;
	if (text.failed || !(words->items[words->count] = strdup(text_string(&text))))
		return -ENOMEM;
	words->count++;
	return 0;
}

int grub_words_read(const char **script, const struct variables *variables, struct grub_words *ret,
		    enum grub_end *ret_end) {
	const char *at = *script;
	int r = 0;

	for (*ret_end = GRUB_STATEMENT; r == 0;) {
		at = skip_blanks(at);
		if (!*at) {
			*ret_end = GRUB_EOF;
			break;
		}
		if (*at == '\n' || *at == ';') {
			at++;
			break;
		}
		if (brace(at)) {
			*ret_end = *at++ == '{' ? GRUB_OPEN : GRUB_CLOSE;
			break;
		}
		r = add_word(ret, &at, variables);
	}
	*script = at;
	return r;
}

void grub_words_free(struct grub_words *words) {
	while (words->count)
		free(words->items[--words->count]);
}
