// SPDX-License-Identifier: Apache-2.0
// The byte ranges of a disk that could not be written or read. They do not end an erase. Pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define BAD_MAX 64u // ranges that are named; the others are counted

struct bad_ranges {
	unsigned count; // ranges; only the first BAD_MAX are in `offset` and `size`
	uint64_t bytes; // of all
	uint64_t end;	// of the last one
	uint64_t offset[BAD_MAX], size[BAD_MAX];
};

// One that continues a named range extends it, or the last one, and one between two joins them. What a named range has
// already is not counted again.
void bad_ranges_add(struct bad_ranges *bad, uint64_t offset, uint64_t size);

// Returns whether a named range touches [offset, offset + size).
bool bad_ranges_has(const struct bad_ranges *bad, uint64_t offset, uint64_t size);

// Adds "OFFSET+SIZE,OFFSET+SIZE", at most `room` bytes.
void bad_ranges_write(const struct bad_ranges *bad, size_t room, struct text *text);
