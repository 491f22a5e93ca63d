// SPDX-License-Identifier: Apache-2.0
#include "erase/bad_ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned named(const struct bad_ranges *bad) { return bad->count < BAD_MAX ? bad->count : BAD_MAX; }

bool bad_ranges_has(const struct bad_ranges *bad, uint64_t offset, uint64_t size) {
	for (unsigned i = 0; i < named(bad); i++)
		if (offset < bad->offset[i] + bad->size[i] && bad->offset[i] < offset + size)
			return true;
	return false;
}

static void remove_range(struct bad_ranges *bad, unsigned i) {
	unsigned rest = named(bad) - i - 1;

	memmove(&bad->offset[i], &bad->offset[i + 1], rest * sizeof(bad->offset[0]));
	memmove(&bad->size[i], &bad->size[i + 1], rest * sizeof(bad->size[0]));
	bad->count--;
}

// Several writes are under way, so the one behind may have failed first.
static bool extend(struct bad_ranges *bad, uint64_t offset, uint64_t size) {
	unsigned before = BAD_MAX, behind = BAD_MAX;

	for (unsigned i = 0; i < named(bad); i++) {
		before = bad->offset[i] + bad->size[i] == offset ? i : before;
		behind = bad->offset[i] == offset + size ? i : behind;
	}
	if (before < BAD_MAX)
		bad->size[before] += size;
	else if (behind < BAD_MAX)
		bad->offset[behind] = offset, bad->size[behind] += size;
	else
		return false;
	if (before < BAD_MAX && behind < BAD_MAX && bad->count <= BAD_MAX) {
		bad->size[before] += bad->size[behind];
		remove_range(bad, behind);
	}
	return true;
}

void bad_ranges_add(struct bad_ranges *bad, uint64_t offset, uint64_t size) {
	if (bad_ranges_has(bad, offset, size))
		return;
	bad->bytes += size;
	if (extend(bad, offset, size))
		return;
	if (bad->count > 0 && bad->end == offset) {
		bad->end += size; // of one that is not named
		return;
	}
	if (bad->count < BAD_MAX) {
		bad->offset[bad->count] = offset;
		bad->size[bad->count] = size;
	}
	bad->count++;
	bad->end = offset + size;
}

void bad_ranges_write(const struct bad_ranges *bad, size_t room, struct text *text) {
	for (unsigned i = 0; i < named(bad); i++) {
		char range[48];
		int n = snprintf(range, sizeof(range), "%s%" PRIu64 "+%" PRIu64, i ? "," : "", bad->offset[i],
				 bad->size[i]);
		if ((size_t)n > room)
			return;
		room -= (size_t)n;
		text_adds(text, range);
	}
}
