// SPDX-License-Identifier: Apache-2.0
#include "base/extents.h"

#include <stdlib.h>

#define GRANULE 4096u

void extents_add(struct extents *extents, uint64_t start, uint64_t end) {
	struct extent *last = extents->count ? &extents->items[extents->count - 1] : NULL, *items;

	if (start >= end || extents->failed)
		return;
	if (last && last->end == start) {
		last->end = end;
		return;
	}
	if (extents->count == extents->room) {
		size_t room = extents->room ? extents->room * 2 : 64;
		items = reallocarray(extents->items, room, sizeof(*items));
		if (!items) {
			extents->failed = true;
			return;
		}
		extents->items = items;
		extents->room = room;
	}
	extents->items[extents->count++] = (struct extent){start, end};
}

static int by_start(const void *a, const void *b) {
	const struct extent *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

void extents_settle(struct extents *extents) {
	size_t kept = 0;

	if (extents->count == 0)
		return;
	qsort(extents->items, extents->count, sizeof(*extents->items), by_start);
	for (size_t i = 1; i < extents->count; i++) {
		struct extent next = extents->items[i], *last = &extents->items[kept];
		if (next.start > last->end)
			extents->items[++kept] = next;
		else if (next.end > last->end)
			last->end = next.end;
	}
	extents->count = kept + 1;
}

void extents_free(struct extents *extents) {
	free(extents->items);
	*extents = (struct extents){0};
}

size_t extents_find(const struct extents *extents, size_t from, uint64_t at) {
	size_t low = from, high = extents->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (extents->items[middle].end > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t extents_granules(const struct extents *extents, uint64_t start, uint64_t end) {
	uint64_t bytes = 0, counted = start;

	for (size_t i = extents_find(extents, 0, start); i < extents->count && extents->items[i].start < end; i++) {
		uint64_t from = extents->items[i].start / GRANULE * GRANULE,
			 to = (extents->items[i].end + GRANULE - 1) / GRANULE * GRANULE;
		from = from > counted ? from : counted;
		to = to < end ? to : end;
		if (to > from) {
			bytes += to - from;
			counted = to;
		}
	}
	return bytes;
}
