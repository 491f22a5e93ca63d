// SPDX-License-Identifier: Apache-2.0
#include "erase/overwrite.h"

#include <errno.h>

#include "base/cleanup.h"

#define ZERO_SLICE ((uint64_t)128 << 20) // small enough that a slow disk still shows progress

// One block of at most BLOCK bytes. After a block that was bad as a whole, the next one is not split: a dead disk
// would fail for each of its sectors.
static int write_block(struct device *device, const unsigned char *data, uint64_t offset, uint32_t size,
		       struct bad *bad, bool *whole, struct fault *fault) {
	uint32_t grain = device->sector > GRAIN ? device->sector : GRAIN;
	bool any = false;
	int r = device_write(device, data, size, offset, fault);

	if (r == 0 || device_is_gone(r)) {
		*whole = false;
		return r;
	}
	if (*whole) {
		bad_add(bad, offset, size);
		return 0;
	}
	for (uint32_t at = 0; at < size; at += grain) {
		uint32_t n = (uint32_t)least(grain, size - at);
		r = device_write(device, data + at, n, offset + at, fault);
		if (r < 0 && device_is_gone(r))
			return r;
		if (r < 0)
			bad_add(bad, offset + at, n);
		any |= r == 0;
	}
	*whole = !any;
	return 0;
}

static int write_blocks(struct device *device, struct pattern *pattern, uint64_t offset, uint64_t size, struct bad *bad,
			struct progress *progress, uint64_t *done, struct fault *fault) {
	cleanup_free unsigned char *data = device_buffer(BLOCK);
	int r = data ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "overwriting");
	bool whole = false;

	while (r == 0 && size > 0) {
		uint32_t n = (uint32_t)least(size, BLOCK);
		if (pattern)
			r = pattern_fill(pattern, data, offset, n, fault);
		if (r == 0)
			r = write_block(device, data, offset, n, bad, &whole, fault);
		offset += n;
		size -= n;
		progress_tick(progress, *done += n);
	}
	return r;
}

static int zero_slice(struct device *device, uint64_t offset, uint64_t size) {
	int r;

	do
		r = device->ops->zero(device, offset, size);
	while (r == -EINTR);
	return r;
}

int overwrite_range(struct device *device, struct pattern *pattern, uint64_t offset, uint64_t size, struct bad *bad,
		    struct progress *progress, uint64_t *done, struct fault *fault) {
	int r = 0;

	if (pattern)
		return write_blocks(device, pattern, offset, size, bad, progress, done, fault);
	while (r == 0 && size > 0) {
		uint64_t n = least(size, ZERO_SLICE);
		if (zero_slice(device, offset, n) == 0)
			progress_tick(progress, *done += n);
		else // whatever the reason of the failure: plain writes succeed, or show where they do not
			r = write_blocks(device, NULL, offset, n, bad, progress, done, fault);
		offset += n;
		size -= n;
	}
	return r;
}
