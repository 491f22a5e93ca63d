// SPDX-License-Identifier: Apache-2.0
// Variables of GRUB: from its environment block, and set by its script. Pure.
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

// A name that is set again changes its value; more than VARIABLES_MAX names are forgotten.
void variables_set(struct variables *variables, const char *name, size_t name_size, const char *value);
const char *variables_get(const struct variables *variables, const char *name, size_t name_size); // "" when unset
void variables_free(struct variables *variables);

// All key=value lines of an environment block ("# GRUB Environment Block", then lines, then padding of "#").
void variables_load(struct variables *variables, const char *block);

// `at` stands on a "$". Adds what $name or ${name} stands for; returns where the text goes on.
const char *variables_expand(const struct variables *variables, const char *at, struct text *text);
