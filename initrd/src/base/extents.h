// SPDX-License-Identifier: Apache-2.0
// Ranges of bytes: the used parts of a disk. They may be added in any order; extents_settle sorts and joins them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uint64_t start, end; // end: the first byte after it
};

struct extents {
	size_t count, room;
	struct extent *items;
	bool failed; // no memory: check once, at the end
};

void extents_add(struct extents *extents, uint64_t start, uint64_t end); // nothing when it is empty
void extents_settle(struct extents *extents);				 // sorted, none touches another
void extents_free(struct extents *extents);

// Returns the number of the first extent that ends after `at`, from item `from` on; `count` if there is none.
// Requires settled extents.
size_t extents_find(const struct extents *extents, size_t from, uint64_t at);

// Bytes of whole granules of 4096 that the settled extents touch between `start` and `end`.
uint64_t extents_granules(const struct extents *extents, uint64_t start, uint64_t end);
