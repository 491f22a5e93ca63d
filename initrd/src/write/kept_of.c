// SPDX-License-Identifier: Apache-2.0
#include "write/kept_of.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "disk/filesystem_bytes.h"

// Work on one image.
struct work {
	const struct index *index;
	const struct fit *fit;
	struct device *device;
	uint8_t *head; // FILESYSTEM_HEAD and a sector
};

// Bytes of the disk from any byte on, as far as it has them. Returns where they are in the buffer.
static int read_bytes(const struct work *work, uint64_t at, size_t size, const uint8_t **ret, struct fault *fault) {
	uint64_t skip = at % work->device->sector, end = at + size;

	*ret = work->head + skip;
	end = end < work->device->bytes ? end : work->device->bytes;
	end = (end + work->device->sector - 1) / work->device->sector * work->device->sector;
	return at < end ? device_read(work->device, work->head, (size_t)(end - (at - skip)), at - skip, fault) : 0;
}

// The first used byte at or behind `at`; 0: none. A granule in which `at` lies may be used for what is before it alone:
// then the rest of it is zeros.
static int used_from(const struct work *work, uint64_t at, uint64_t *ret, struct fault *fault) {
	uint64_t next = (at + GRANULE - 1) / GRANULE * GRANULE;
	const uint8_t *rest;
	int r = 0;

	*ret = fit_used_from(work->fit, work->index, next);
	if (at == next || at >= work->fit->limit || fit_used_from(work->fit, work->index, next - GRANULE) >= next)
		return 0;
	r = read_bytes(work, at, (size_t)(next - at), &rest, fault);
	if (r == 0 && !is_zero(rest, (size_t)(next - at)))
		*ret = at;
	return r;
}

static int describe(const struct work *work, const struct index_partition *p, struct kept_partition *ret,
		    struct fault *fault) {
	uint64_t bytes;
	const uint8_t *head;
	int r;

	*ret = (struct kept_partition){.start = p->start, .end = p->start + p->bytes};
	snprintf(ret->content, sizeof(ret->content), "%s", p->content);
	r = used_from(work, ret->end, &ret->behind, fault);
	if (r < 0 || !content_can_grow(p->content) || p->start >= work->fit->limit)
		return r;
	r = read_bytes(work, p->start, FILESYSTEM_HEAD, &head, fault);
	bytes = r == 0 ? filesystem_bytes(p->content, head, FILESYSTEM_HEAD) : 0;
	if (bytes == 0 || bytes >= p->bytes)
		return r;
	r = used_from(work, p->start + bytes, &ret->within, fault);
	if (ret->within >= ret->end)
		ret->within = 0;
	return r;
}

int kept_of(const struct index *index, const struct fit *fit, struct device *device, struct kept *ret,
	    struct fault *fault) {
	const size_t size = FILESYSTEM_HEAD + 2 * (size_t)device->sector;
	cleanup_free uint8_t *head = device_buffer(size);
	const struct work work = {index, fit, device, head};
	int r = head ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "partitions");

	*ret = (struct kept){0};
	snprintf(ret->disk, sizeof(ret->disk), "%s", device->name);
	for (; r == 0 && ret->count < index->partition_count; ret->count++)
		r = describe(&work, &index->partitions[ret->count], &ret->partitions[ret->count], fault);
	return r;
}
