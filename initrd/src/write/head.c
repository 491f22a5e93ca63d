// SPDX-License-Identifier: Apache-2.0
#include "write/head.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/bitmap.h"
#include "image/frame.h"
#include "source/feed.h"
#include "write/check.h"

static int read_one(struct feed *feed, const struct index *index, uint8_t *data, struct fault *fault) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	struct parcel *parcel = NULL;
	int r = codec_open(0, &codec, fault);

	if (r == 0)
		r = feed_next(feed, &parcel, fault);
	if (r == 0)
		r = frame_read(codec, index, parcel->chunk, parcel->frame, data, fault);
	if (parcel)
		feed_return(feed, parcel);
	return r;
}

int head_fetch(struct source *source, const struct index *index, uint8_t *data, struct fault *fault) {
	// the threads of the feed read it until it is closed
	cleanup_free uint8_t *wanted = calloc(1, bitmap_size(index));
	cleanup_with(feed_close) struct feed *feed = NULL;
	int r;

	if (!wanted)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "write");
	bitmap_add(wanted, 0);
	r = feed_open_source(source, index, wanted, 1, 2 * FRAME_MAX, &feed, fault);
	return r == 0 ? read_one(feed, index, data, fault) : r;
}

// The part of a chunk that lies in `size` bytes at `at`.
static void copy_part(const struct chunk *chunk, const uint8_t *chunk_data, uint64_t at, size_t size, uint8_t *data) {
	uint64_t from = at > chunk->offset ? at : chunk->offset, end = chunk->offset + CHUNK;

	end = at + size < end ? at + size : end;
	if (from < end)
		memcpy(data + (from - at), chunk_data + (from - chunk->offset), (size_t)(end - from));
}

static int read_parts(struct feed *feed, const struct index *index, uint64_t at, size_t size, uint8_t *data,
		      struct fault *fault) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_free uint8_t *whole = device_buffer(CHUNK);
	struct parcel *parcel = NULL;
	int r = whole ? codec_open(0, &codec, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "image");

	while (r == 0 && (r = feed_next(feed, &parcel, fault)) == 0 && parcel) {
		r = frame_read(codec, index, parcel->chunk, parcel->frame, whole, fault);
		if (r == 0)
			copy_part(parcel->chunk, whole, at, size, data);
		feed_return(feed, parcel);
	}
	return r;
}

int bytes_fetch(void *context, uint64_t at, size_t size, uint8_t *data, struct fault *fault) {
	const struct fetching *fetching = context;
	const struct index *index = fetching->index;
	cleanup_free uint8_t *wanted = calloc(1, bitmap_size(index) + 1); // read until the feed is closed
	cleanup_with(feed_close) struct feed *feed = NULL;
	int r;

	if (!wanted)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	memset(data, 0, size);
	for (uint32_t i = 0; i < index->chunk_count; i++)
		if (index->chunks[i].offset < at + size && at < index->chunks[i].offset + CHUNK)
			bitmap_add(wanted, i);
	r = feed_open_source(fetching->source, index, wanted, 1, 2 * FRAME_MAX, &feed, fault);
	return r == 0 ? read_parts(feed, index, at, size, data, fault) : r;
}

static int write_synced(struct device *device, const uint8_t *data, size_t from, size_t to, struct fault *fault) {
	int r = from < to ? device_write(device, data + from, to - from, from, fault) : 0;
	return r == 0 ? device_sync(device, fault) : r;
}

int head_write(struct device *device, const uint8_t *data, size_t size, bool check, struct fault *fault) {
	size_t first = size < GRANULE ? size : GRANULE;
	int r = write_synced(device, data, first, size, fault);

	// Errors of the other granules must appear while nothing can start from the disk.
	if (r == 0 && check && first < size)
		r = check_bytes(device, data + first, size - first, first, fault);
	if (r == 0)
		r = write_synced(device, data, 0, first, fault);
	return r == 0 && check ? check_bytes(device, data, first, 0, fault) : r;
}
