// SPDX-License-Identifier: Apache-2.0
#include "boot/variables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct variable *find(struct variables *variables, const char *name, size_t name_size) {
	for (size_t i = 0; i < variables->count; i++)
		if (strlen(variables->items[i].name) == name_size && !memcmp(variables->items[i].name, name, name_size))
			return &variables->items[i];
	return NULL;
}

bool variables_set(struct variables *variables, const char *name, size_t name_size, const char *value) {
	struct variable *variable = find(variables, name, name_size);
	char *copy = strdup(value);

	if (!variable && copy && variables->count < VARIABLES_MAX) {
		variable = &variables->items[variables->count];
		*variable = (struct variable){.name = strndup(name, name_size)};
		variables->count += variable->name != NULL;
		variable = variable->name ? variable : NULL;
	}
	if (!variable || !copy) {
		free(copy);
		return false;
	}
	free(variable->value);
	variable->value = copy;
	return true;
}

const char *variables_get(const struct variables *variables, const char *name, size_t name_size) {
	const struct variable *variable = find((struct variables *)variables, name, name_size);
	return variable ? variable->value : "";
}

void variables_export(struct variables *variables, const char *name) {
	struct variable *variable = find(variables, name, strlen(name));
	if (variable)
		variable->exported = true;
}

void variables_keep_exported(struct variables *variables) {
	for (size_t i = 0; i < variables->count; i++)
		if (!variables->items[i].exported)
			variables->items[i].value[0] = 0;
}

void variables_free(struct variables *variables) {
	while (variables->count) {
		variables->count--;
		free(variables->items[variables->count].name);
		free(variables->items[variables->count].value);
	}
}

int variables_read(const char *block, variables_visit *visit, void *context) {
	int r = 0;

	while (*block && r == 0) {
		size_t name = strcspn(block, "=\n");
		if (*block != '#' && block[name] == '=') {
			struct text value = {0};
			const char *c = block + name + 1;
			for (; *c && *c != '\n'; c++) {
				c += *c == '\\' && c[1];
				text_add(&value, c, 1);
			}
			r = visit(context, block, name, text_string(&value));
			text_free(&value);
			block = c;
		}
		block += strcspn(block, "\n");
		block += *block == '\n';
	}
	return r;
}

const char *variables_expand(const struct variables *variables, const char *at, struct text *text) {
	const char *name = at + 1, *end;
	bool braces = *name == '{';

	name += braces;
	for (end = name; isalnum((unsigned char)*end) || *end == '_' || (end == name && strchr("?#@*", *end) && *end);
	     end++)
		;
	if (end == name || (braces && *end != '}')) { // not a variable: a literal "$"
		text_add(text, "$", 1);
		return at + 1;
	}
	text_adds(text, variables_get(variables, name, (size_t)(end - name)));
	return end + braces;
}
