// SPDX-License-Identifier: Apache-2.0
#include "erase/bad.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned named(const struct bad *bad) { return bad->count < BAD_MAX ? bad->count : BAD_MAX; }

bool bad_has(const struct bad *bad, uint64_t offset, uint64_t size) {
	for (unsigned i = 0; i < named(bad); i++)
		if (offset < bad->offset[i] + bad->size[i] && bad->offset[i] < offset + size)
			return true;
	return false;
}

void bad_add(struct bad *bad, uint64_t offset, uint64_t size) {
	if (bad_has(bad, offset, size))
		return;
	bad->bytes += size;
	if (bad->count > 0 && bad->end == offset) {
		bad->end += size;
		if (bad->count <= BAD_MAX)
			bad->size[bad->count - 1] += size;
		return;
	}
	if (bad->count < BAD_MAX) {
		bad->offset[bad->count] = offset;
		bad->size[bad->count] = size;
	}
	bad->count++;
	bad->end = offset + size;
}

void bad_write(const struct bad *bad, size_t room, struct text *text) {
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
