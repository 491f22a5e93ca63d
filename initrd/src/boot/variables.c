// SPDX-License-Identifier: Apache-2.0
#include "boot/variables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void variables_set(struct variables *variables, const char *name, size_t name_size, const char *value) {
	char *copy = strdup(value);
	size_t i = 0;

	while (i < variables->count &&
	       (strlen(variables->items[i].name) != name_size || memcmp(variables->items[i].name, name, name_size)))
		i++;
	if (!copy || i == VARIABLES_MAX ||
	    (i == variables->count && !(variables->items[i].name = strndup(name, name_size)))) {
		free(copy);
		return;
	}
	if (i == variables->count)
		variables->count++;
	else
		free(variables->items[i].value);
	variables->items[i].value = copy;
}

const char *variables_get(const struct variables *variables, const char *name, size_t name_size) {
	for (size_t i = 0; i < variables->count; i++)
		if (strlen(variables->items[i].name) == name_size && !memcmp(variables->items[i].name, name, name_size))
			return variables->items[i].value;
	return "";
}

void variables_free(struct variables *variables) {
	while (variables->count) {
		variables->count--;
		free(variables->items[variables->count].name);
		free(variables->items[variables->count].value);
	}
}

void variables_load(struct variables *variables, const char *block) {
	while (*block) {
		size_t name = strcspn(block, "=\n");
		if (*block != '#' && block[name] == '=') {
			struct text value = {0};
			const char *c = block + name + 1;
			for (; *c && *c != '\n'; c++) {
				c += *c == '\\' && c[1];
				text_add(&value, c, 1);
			}
			variables_set(variables, block, name, text_string(&value));
			text_free(&value);
			block = c;
		}
		block += strcspn(block, "\n");
		block += *block == '\n';
	}
}

const char *variables_expand(const struct variables *variables, const char *at, struct text *text) {
	const char *name = at + 1, *end;
	bool braces = *name == '{';

	name += braces;
	for (end = name; isalnum((unsigned char)*end) || *end == '_' || (end == name && *end == '?'); end++)
		;
	if (end == name || (braces && *end != '}')) { // not a variable: a literal "$"
		text_add(text, "$", 1);
		return at + 1;
	}
	text_adds(text, variables_get(variables, name, (size_t)(end - name)));
	return end + braces;
}
