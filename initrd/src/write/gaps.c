// SPDX-License-Identifier: Apache-2.0
#include "write/gaps.h"

#include <errno.h>

#include "image/bitmap.h"

#define DISCARD_LEAST ((uint64_t)64 << 10) // bytes; less is not worth a command
#define SLICE ((uint64_t)128 << 20)	   // zeros at a time, small enough for progress

struct gaps {
	struct device *device;
	enum write_gaps policy;
	struct progress *progress;
	uint64_t at; // first byte that is not known to be used
};

static void discard(struct device *device, uint64_t from, uint64_t size) {
	int r;

	do
		r = device->ops->discard(device, from, size);
	while (r == -EINTR);
}

static int zero(struct gaps *gaps, uint64_t from, uint64_t size, struct fault *fault) {
	int r = 0;

	for (uint64_t n; r == 0 && size > 0; from += n, size -= n) {
		n = size < SLICE ? size : SLICE;
		r = device_zero(gaps->device, from, n, fault);
		progress_tick(gaps->progress, from + n);
	}
	return r;
}

// [from, to) is used: the bytes between the last such range and this one are free.
static int used(struct gaps *gaps, uint64_t from, uint64_t to, struct fault *fault) {
	uint64_t end = from < gaps->device->bytes ? from : gaps->device->bytes, at = gaps->at;

	if (to > gaps->at)
		gaps->at = to;
	if (end <= at)
		return 0;
	if (gaps->policy == GAPS_ZERO)
		return zero(gaps, at, end - at, fault);
	if (end - at >= DISCARD_LEAST)
		discard(gaps->device, at, end - at);
	return 0;
}

static int used_chunk(struct gaps *gaps, const struct index *index, const struct chunk *chunk, struct fault *fault) {
	int r = 0;

	for (size_t from = 0, size = 0; r == 0 && chunk_run(index, chunk, from, &from, &size); from += size)
		r = used(gaps, chunk->offset + from, chunk->offset + from + size, fault);
	return r;
}

int gaps_clear(struct device *device, const struct index *index, const uint8_t *wanted, enum write_gaps policy,
	       bool all, struct progress *progress, struct fault *fault) {
	struct gaps gaps = {device, policy, progress, CHUNK};
	int r = 0;

	if (policy == GAPS_KEEP)
		return 0;
	progress_begin(progress, device->bytes);
	for (uint32_t i = 0; r == 0 && i < index->chunk_count && !(all && policy == GAPS_DISCARD); i++) {
		const struct chunk *chunk = &index->chunks[i];
		if (policy == GAPS_ZERO && bitmap_has(wanted, i))
			r = used(&gaps, chunk->offset, chunk->offset + chunk_size(index, chunk), fault);
		else
			r = used_chunk(&gaps, index, chunk, fault);
	}
	return r == 0 ? used(&gaps, UINT64_MAX, UINT64_MAX, fault) : r;
}
