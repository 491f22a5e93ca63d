// SPDX-License-Identifier: Apache-2.0
#include "write/ends.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/grow.h"

int ends_open(uint64_t bytes, uint32_t sector, struct ends *ret, struct fault *fault) {
	*ret = (struct ends){
		.bytes = bytes, .sector = sector, .head = device_buffer(CHUNK), .tail = device_buffer(ENDS_TAIL)};
	return ret->head && ret->tail ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "partition table");
}

int ends_copy(const struct ends *from, struct ends *ret, struct fault *fault) {
	int r = ends_open(from->bytes, from->sector, ret, fault);

	if (r == 0) {
		memcpy(ret->head, from->head, CHUNK);
		memcpy(ret->tail, from->tail, ENDS_TAIL);
	}
	return r;
}

void ends_close(struct ends *ends) {
	free(ends->head);
	free(ends->tail);
	*ends = (struct ends){0};
}

uint64_t ends_tail_at(const struct ends *ends) { return ends->bytes > ENDS_TAIL ? ends->bytes - ENDS_TAIL : 0; }

// The part of [at, at + size) that lies in the tail. False: none.
static bool in_tail(const struct ends *ends, uint64_t at, size_t size, uint64_t *ret_from, size_t *ret_size) {
	uint64_t from = ends_tail_at(ends), end = at + size < ends->bytes ? at + size : ends->bytes;

	*ret_from = at > from ? at : from;
	*ret_size = end > *ret_from ? (size_t)(end - *ret_from) : 0;
	return *ret_size > 0;
}

void ends_put(struct ends *ends, const uint8_t *data, size_t size, uint64_t at) {
	uint64_t from;
	size_t n;

	if (in_tail(ends, at, size, &from, &n))
		memcpy(ends->tail + (from - ends_tail_at(ends)), data + (from - at), n);
}

void ends_get(const struct ends *ends, uint8_t *data, size_t size, uint64_t at) {
	uint64_t from;
	size_t n;

	if (in_tail(ends, at, size, &from, &n))
		memcpy(data + (from - at), ends->tail + (from - ends_tail_at(ends)), n);
}

// A disk that consists of its ends; what lies between is missing.
static uint8_t *place(struct device *device, size_t size, uint64_t offset) {
	struct ends *ends = device->context;
	uint64_t tail_at = ends_tail_at(ends);

	if (offset <= CHUNK && size <= CHUNK - offset)
		return ends->head + offset;
	return offset >= tail_at && size <= ends->bytes - offset ? ends->tail + (offset - tail_at) : NULL;
}

static ssize_t ends_pread(struct device *device, void *data, size_t size, uint64_t offset) {
	const uint8_t *from = place(device, size, offset);

	if (!from)
		return -ENXIO;
	memcpy(data, from, size);
	return (ssize_t)size;
}

static ssize_t ends_pwrite(struct device *device, const void *data, size_t size, uint64_t offset) {
	uint8_t *to = place(device, size, offset);

	if (!to)
		return -ENXIO;
	memcpy(to, data, size);
	return (ssize_t)size;
}

static int no_range(struct device *device, uint64_t offset, uint64_t size) {
	(void)device, (void)offset, (void)size;
	return -EOPNOTSUPP;
}

static int nothing(struct device *device) {
	(void)device;
	return 0;
}

bool ends_grow(struct ends *ends) {
	static const struct device_ops ops = {ends_pread, ends_pwrite, no_range, no_range, nothing, nothing};
	struct device device = {
		.ops = &ops, .fd = -1, .name = "table", .bytes = ends->bytes, .sector = ends->sector, .context = ends};
	struct grown grown = {0};
	struct fault ignored;

	// head and tail must not overlap: what is written to one would be missing in the other
	return ends->bytes >= CHUNK + ENDS_TAIL && grow_disk(&device, true, &grown, &ignored) == 0;
}
