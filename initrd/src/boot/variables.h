// SPDX-License-Identifier: Apache-2.0
// Variables of GRUB, from its environment block and its script. Pure.
#pragma once

#include <stddef.h>

#include "base/text.h"

#define VARIABLES_MAX 128u

struct variables {
	size_t count;
	struct {
		char *name, *value;
	} items[VARIABLES_MAX];
};

// Sets or replaces a value; names beyond VARIABLES_MAX are ignored.
void variables_set(struct variables *variables, const char *name, size_t name_size, const char *value);
const char *variables_get(const struct variables *variables, const char *name, size_t name_size); // "" when unset
void variables_free(struct variables *variables);

// Reads the key=value lines of an environment block ("# GRUB Environment Block", then lines, then padding of "#").
void variables_load(struct variables *variables, const char *block);

// `at` points to a "$". Adds the value of $name or ${name}; returns the position after it.
const char *variables_expand(const struct variables *variables, const char *at, struct text *text);
