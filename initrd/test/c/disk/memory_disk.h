// SPDX-License-Identifier: Apache-2.0
// A disk in memory whose faults are told to it.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "disk/device.h"

struct memory_disk {
	unsigned char *data;
	uint64_t bytes;
	bool can_discard, discard_lies; // lies: says yes and does nothing
	uint64_t discard_unit;		// a part of one is ignored, as SCSI, thin volumes and RAID do; 0: any range
	bool can_zero;
	bool short_transfers, interrupted; // every second call
	uint64_t fail_at;		   // writes that reach this byte fail with `error`; UINT64_MAX: none
	int error;
	bool stuck; // a byte that keeps its value whatever is written
	uint64_t stuck_at;
	const bool *left;	   // of each grain: nothing changes it, and all is reported as done. NULL: none
	uint32_t grain;		   // 1 MiB
	uint64_t bad_from, bad_to; // reads and writes that touch this range fail with EIO
	unsigned dies_after;	   // changes; then nothing is accepted any more, as if the power were cut. 0: never
	unsigned calls, zero_calls, written_blocks, syncs, changes;
	uint64_t written; // bytes
};

static inline bool every_second(struct memory_disk *m, bool fault) {
	return __atomic_add_fetch(&m->calls, 1, __ATOMIC_RELAXED) % 2 && fault;
}

static inline bool is_bad(const struct memory_disk *m, uint64_t offset, uint64_t size) {
	return offset < m->bad_to && m->bad_from < offset + size;
}

static inline ssize_t memory_pread(struct device *d, void *data, size_t size, uint64_t offset) {
	struct memory_disk *m = d->context;
	if (every_second(m, m->interrupted))
		return -EINTR;
	if (m->short_transfers && size > d->sector)
		size = size / 2 / d->sector * d->sector;
	if (is_bad(m, offset, size))
		return -EIO;
	memcpy(data, m->data + offset, size);
	return (ssize_t)size;
}

static inline void memory_put_one(struct memory_disk *m, const unsigned char *data, uint64_t size, uint64_t offset) {
	bool stuck = m->stuck && m->stuck_at >= offset && m->stuck_at - offset < size;
	unsigned char kept = stuck ? m->data[m->stuck_at] : 0;
	if (data)
		memcpy(m->data + offset, data, size);
	else
		memset(m->data + offset, 0, size);
	if (stuck)
		m->data[m->stuck_at] = kept;
}

static inline void memory_put(struct memory_disk *m, const void *data, uint64_t size, uint64_t offset) {
	const unsigned char *bytes = data;

	while (m->left && size > 0) {
		uint64_t here = m->grain - offset % m->grain, n = size < here ? size : here;
		if (!m->left[offset / m->grain])
			memory_put_one(m, bytes, n, offset);
		bytes = bytes ? bytes + n : NULL;
		offset += n;
		size -= n;
	}
	memory_put_one(m, bytes, size, offset);
}

// Several threads may write.
static inline bool is_dead(struct memory_disk *m) {
	unsigned n = __atomic_fetch_add(&m->changes, 1, __ATOMIC_RELAXED);
	return m->dies_after && n >= m->dies_after;
}

static inline ssize_t memory_pwrite(struct device *d, const void *data, size_t size, uint64_t offset) {
	struct memory_disk *m = d->context;
	if (size % d->sector || offset % d->sector || offset + size > m->bytes)
		return -EINVAL;
	if (every_second(m, m->interrupted))
		return -EINTR;
	if (offset <= m->fail_at && m->fail_at - offset < size)
		return -m->error;
	if (is_bad(m, offset, size))
		return -EIO;
	if (is_dead(m))
		return -ENODEV;
	if (m->short_transfers && size > d->sector)
		size = size / 2 / d->sector * d->sector;
	memory_put(m, data, size, offset);
	__atomic_fetch_add(&m->written_blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&m->written, size, __ATOMIC_RELAXED);
	return (ssize_t)size;
}

static inline int memory_discard(struct device *d, uint64_t offset, uint64_t size) {
	struct memory_disk *m = d->context;
	if (!m->can_discard)
		return -EOPNOTSUPP;
	if (is_dead(m))
		return -ENODEV;
	if (m->discard_unit) {
		uint64_t end = (offset + size) / m->discard_unit * m->discard_unit;
		offset = (offset + m->discard_unit - 1) / m->discard_unit * m->discard_unit;
		size = end > offset ? end - offset : 0;
	}
	if (!m->discard_lies && size > 0)
		memory_put(m, NULL, size, offset);
	return 0;
}

static inline int memory_zero(struct device *d, uint64_t offset, uint64_t size) {
	struct memory_disk *m = d->context;
	if (!m->can_zero)
		return -EOPNOTSUPP;
	if (size % d->sector || offset % d->sector || offset + size > m->bytes)
		return -EINVAL;
	if (is_bad(m, offset, size))
		return -EIO;
	if (is_dead(m))
		return -ENODEV;
	memory_put(m, NULL, size, offset);
	m->zero_calls++;
	return 0;
}

static inline int memory_sync(struct device *d) {
	((struct memory_disk *)d->context)->syncs++;
	return 0;
}

static inline int memory_reread(struct device *d) {
	(void)d;
	return 0;
}

// Full of 0xa5; can do everything and never fails until told otherwise.
static inline struct device memory_open(struct memory_disk *m, uint64_t bytes, uint32_t sector) {
	static const struct device_ops ops = {memory_pread, memory_pwrite, memory_discard,
					      memory_zero,  memory_sync,   memory_reread};
	*m = (struct memory_disk){.data = malloc(bytes),
				  .bytes = bytes,
				  .can_discard = true,
				  .can_zero = true,
				  .fail_at = UINT64_MAX,
				  .error = EIO,
				  .grain = 1u << 20};
	memset(m->data, 0xa5, bytes);
	return (struct device){.ops = &ops, .fd = -1, .name = "memory", .bytes = bytes, .sector = sector, .context = m};
}
