// SPDX-License-Identifier: Apache-2.0
// Variables of GRUB, from its environment block and its script. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

#define VARIABLES_MAX 256u
#define UNKNOWN "\1" // in a value: text that only the loader itself can know

struct variable {
	char *name, *value;
	bool exported; // to submenus
};

struct variables {
	size_t count;
	struct variable items[VARIABLES_MAX];
};

// Sets or replaces a value. Returns false beyond VARIABLES_MAX.
bool variables_set(struct variables *variables, const char *name, size_t name_size, const char *value);
const char *variables_get(const struct variables *variables, const char *name, size_t name_size); // "" when unset
void variables_export(struct variables *variables, const char *name);
void variables_keep_exported(struct variables *variables);
void variables_free(struct variables *variables);

// Visits the key=value lines of an environment block ("# GRUB Environment Block", then lines, then padding of "#").
// Ends at the first visit that does not return 0, and returns that.
typedef int variables_visit(void *context, const char *name, size_t name_size, const char *value);
int variables_read(const char *block, variables_visit *visit, void *context);

// `at` points to a "$". Adds the value of $name or ${name}; returns the position after it.
const char *variables_expand(const struct variables *variables, const char *at, struct text *text);
