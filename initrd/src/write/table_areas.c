// SPDX-License-Identifier: Apache-2.0
#include "write/table_areas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int table_areas_open(uint64_t bytes, uint32_t sector, struct table_areas *ret, struct fault *fault) {
	*ret = (struct table_areas){.bytes = bytes,
				    .sector = sector,
				    .head = device_buffer(CHUNK),
				    .tail = device_buffer(TABLE_AREAS_TAIL)};
	return ret->head && ret->tail ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "partition table");
}

int table_areas_copy(const struct table_areas *from, struct table_areas *ret, struct fault *fault) {
	int r = table_areas_open(from->bytes, from->sector, ret, fault);

	if (r == 0) {
		memcpy(ret->head, from->head, CHUNK);
		memcpy(ret->tail, from->tail, TABLE_AREAS_TAIL);
	}
	return r;
}

void table_areas_close(struct table_areas *areas) {
	free(areas->head);
	free(areas->tail);
	*areas = (struct table_areas){0};
}

uint64_t table_areas_tail_at(const struct table_areas *areas) {
	return areas->bytes > TABLE_AREAS_TAIL ? areas->bytes - TABLE_AREAS_TAIL : 0;
}

// The part of [at, at + size) that lies in the tail. False: none.
static bool in_tail(const struct table_areas *areas, uint64_t at, size_t size, uint64_t *ret_from, size_t *ret_size) {
	uint64_t from = table_areas_tail_at(areas), end = at + size < areas->bytes ? at + size : areas->bytes;

	*ret_from = at > from ? at : from;
	*ret_size = end > *ret_from ? (size_t)(end - *ret_from) : 0;
	return *ret_size > 0;
}

void table_areas_put(struct table_areas *areas, const uint8_t *data, size_t size, uint64_t at) {
	uint64_t from;
	size_t n;

	if (in_tail(areas, at, size, &from, &n))
		memcpy(areas->tail + (from - table_areas_tail_at(areas)), data + (from - at), n);
}

void table_areas_get(const struct table_areas *areas, uint8_t *data, size_t size, uint64_t at) {
	uint64_t from;
	size_t n;

	if (in_tail(areas, at, size, &from, &n))
		memcpy(data + (from - at), areas->tail + (from - table_areas_tail_at(areas)), n);
}

// A disk that consists of its areas; what lies between is missing.
static uint8_t *place(struct device *device, size_t size, uint64_t offset) {
	struct table_areas *areas = device->context;
	uint64_t tail_at = table_areas_tail_at(areas);

	if (offset <= CHUNK && size <= CHUNK - offset)
		return areas->head + offset;
	return offset >= tail_at && size <= areas->bytes - offset ? areas->tail + (offset - tail_at) : NULL;
}

static ssize_t table_areas_pread(struct device *device, void *data, size_t size, uint64_t offset) {
	const uint8_t *from = place(device, size, offset);

	if (!from)
		return -ENXIO;
	memcpy(data, from, size);
	return (ssize_t)size;
}

static ssize_t table_areas_pwrite(struct device *device, const void *data, size_t size, uint64_t offset) {
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

bool table_areas_grow(struct table_areas *areas, grow_limit *limit, void *context) {
	static const struct device_ops ops = {
		table_areas_pread, table_areas_pwrite, no_range, no_range, nothing, nothing};
	struct device device = {.ops = &ops,
				.fd = -1,
				.name = "table",
				.bytes = areas->bytes,
				.sector = areas->sector,
				.context = areas};
	struct grown grown = {0};
	struct fault ignored;

	// head and tail must not overlap: what is written to one would be missing in the other
	return areas->bytes >= CHUNK + TABLE_AREAS_TAIL && grow_disk(&device, limit, context, &grown, &ignored) == 0;
}
