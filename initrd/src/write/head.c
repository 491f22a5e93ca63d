// SPDX-License-Identifier: Apache-2.0
#include "write/head.h"

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
