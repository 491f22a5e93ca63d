// SPDX-License-Identifier: Apache-2.0
#include "erase/overwrite.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/queue.h"

#define ZERO_SLICE ((uint64_t)128 << 20) // small enough that a slow disk still shows progress

struct writing {
	struct device *device;
	struct bad_ranges *bad;
	uint64_t whole; // end of the last block that was bad as a whole
};

// One block of at most BLOCK bytes that failed. Behind a block that was bad as a whole the next is not split: a dead
// disk would fail for each of its sectors.
static int write_parts(void *context, int error, const uint8_t *data, size_t size, uint64_t offset,
		       struct fault *fault) {
	struct writing *w = context;
	uint32_t grain = w->device->sector > GRAIN ? w->device->sector : GRAIN;
	bool any = false;
	int r;

	if (device_is_gone(error))
		return fault_errno(fault, CODE_FAILED, error, "%s: write at byte %llu", w->device->name,
				   (unsigned long long)offset);
	if (w->whole == offset) {
		bad_ranges_add(w->bad, offset, size);
		w->whole = offset + size;
		return 0;
	}
	for (size_t at = 0; at < size; at += grain) {
		uint32_t n = (uint32_t)least(grain, size - at);
		r = device_write(w->device, data + at, n, offset + at, fault);
		if (r < 0 && device_is_gone(r))
			return r;
		if (r < 0)
			bad_ranges_add(w->bad, offset + at, n);
		any |= r == 0;
	}
	w->whole = any ? UINT64_MAX : offset + size;
	return 0;
}

static int write_blocks(struct device *device, struct pattern *pattern, uint64_t offset, uint64_t size,
			struct erase *erase, struct progress *progress, uint64_t *done, struct fault *fault) {
	cleanup_with(queue_close) struct queue *queue = NULL;
	struct writing writing = {.device = device, .bad = &erase->bad, .whole = UINT64_MAX};
	int r = queue_open(device, erase->parallel > ERASE_FEW ? QUEUE_DEPTH : QUEUE_MOST, &queue, fault);

	if (r == 0)
		queue_on_failure(queue, write_parts, &writing);
	while (r == 0 && size > 0) {
		uint32_t n = (uint32_t)least(size, BLOCK);
		uint8_t *data;
		r = queue_take(queue, &data, fault);
		if (r == 0 && pattern)
			r = pattern_fill(pattern, data, offset, n, fault);
		else if (r == 0)
			memset(data, 0, n);
		if (r == 0)
			r = queue_write(queue, 0, n, offset, fault);
		offset += n;
		size -= n;
		progress_tick(progress, *done += n);
	}
	return r == 0 ? queue_finish(queue, fault) : r;
}

static int zero_slice(struct device *device, uint64_t offset, uint64_t size) {
	int r;

	do
		r = device->ops->zero(device, offset, size);
	while (r == -EINTR);
	return r;
}

int overwrite_range(struct device *device, struct pattern *pattern, uint64_t offset, uint64_t size, struct erase *erase,
		    struct progress *progress, uint64_t *done, struct fault *fault) {
	int r = 0;

	if (pattern)
		return write_blocks(device, pattern, offset, size, erase, progress, done, fault);
	while (r == 0 && size > 0) {
		uint64_t n = least(size, ZERO_SLICE);
		if (zero_slice(device, offset, n) == 0)
			progress_tick(progress, *done += n);
		else // whatever the reason of the failure: plain writes succeed, or show where they do not
			r = write_blocks(device, NULL, offset, n, erase, progress, done, fault);
		offset += n;
		size -= n;
	}
	return r;
}
