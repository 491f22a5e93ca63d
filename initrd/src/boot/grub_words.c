// SPDX-License-Identifier: Apache-2.0
#include "boot/grub_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define SPLIT '\2' // a blank of a value without quotes, where GRUB starts another word

// Without quotes, GRUB splits a value into words.
static const char *expand(const char *at, const struct variables *variables, struct text *text) {
	size_t start = text->size;

	at = variables_expand(variables, at, text);
	for (size_t i = start; i < text->size; i++)
		if (strchr(" \t\n", text->data[i]))
			text->data[i] = SPLIT;
	return at;
}

static const char *read_quoted(const char *at, const struct variables *variables, struct text *text) {
	char quote = *at++;

	while (*at && *at != quote) {
		if (quote == '"' && *at == '$') {
			at = variables_expand(variables, at, text);
			continue;
		}
		if (quote == '"' && *at == '\\' && at[1] && strchr("$\"\\\n", at[1]))
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

const char *grub_words_skip(const char *at) {
	for (at = skip_blanks(at); *at == '\n' || *at == ';'; at = skip_blanks(at + 1))
		;
	return at;
}

static int add(struct grub_words *words, const char *word, size_t size) {
	if (words->count == WORDS_MAX)
		return -E2BIG;
	if (!(words->items[words->count] = strndup(word, size)))
		return -ENOMEM;
	words->count++;
	return 0;
}

static int add_word(struct grub_words *words, const char **at, const struct variables *variables) {
	cleanup_with(text_free) struct text text = {0};
	const char split[] = {SPLIT, 0}, *rest;
	int r = 0;

	*at = read_word(*at, variables, &text);
	if (text.failed)
		return -ENOMEM;
	rest = text_string(&text);
	if (!strchr(rest, SPLIT)) // may be empty
		return add(words, rest, strlen(rest));
	for (rest += strspn(rest, split); r == 0 && *rest; rest += strspn(rest, split)) {
		r = add(words, rest, strcspn(rest, split));
		rest += strcspn(rest, split);
	}
	return r;
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
