// SPDX-License-Identifier: Apache-2.0
#include "pack/unclaimed.h"

#include <errno.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/index.h"

#define PIECE ((size_t)1 << 20)

static uint64_t skip_hole(const struct reader *reader, uint64_t at, uint64_t end) {
	uint64_t data = reader_next_data(reader, at);
	return data < end ? data : end;
}

static void keep_granules(const uint8_t *data, size_t size, uint64_t at, struct extents *kept) {
	for (size_t from = 0, to; from < size; from = to) {
		to = from + (size_t)(GRANULE - (at + from) % GRANULE);
		to = to < size ? to : size;
		if (!is_zero(data + from, to - from))
			extents_add(kept, at + from, at + to);
	}
}

int unclaimed_keep(const struct reader *reader, uint64_t start, uint64_t end, struct extents *kept,
		   struct fault *fault) {
	cleanup_free uint8_t *piece = aligned_alloc(READ_ALIGN, PIECE);
	int r = piece ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "%s", reader->name);

	for (uint64_t at = start, to; r == 0 && (at = skip_hole(reader, at, end)) < end; at = to) {
		to = (at / PIECE + 1) * PIECE;
		to = to < end ? to : end;
		r = reader_read(reader, piece, (size_t)(to - at), at, fault);
		if (r == 0)
			keep_granules(piece, (size_t)(to - at), at, kept);
	}
	return r;
}

void unclaimed_of(const struct extents *extents, uint64_t bytes, struct extents *ret) {
	uint64_t at = 0;

	for (size_t i = 0; i < extents->count && at < bytes; i++) {
		uint64_t start = extents->items[i].start < bytes ? extents->items[i].start : bytes;
		extents_add(ret, at, start > at ? start : at);
		at = extents->items[i].end > at ? extents->items[i].end : at;
	}
	extents_add(ret, at, bytes);
}
