// SPDX-License-Identifier: Apache-2.0
#include "disk/disklabel.h"

#include <stdlib.h>

#include "base/bytes.h"

#define MAGIC 0x82564557u
#define WHOLE 2u // the entry of the slice, or of the disk
#define FFS 7u

enum { L_MAGIC = 0, L_SECTOR = 40, L_MAGIC2 = 132, L_COUNT = 138, L_ENTRIES = 148, ENTRY = 16 };
enum { E_SIZE = 0, E_START = 4, E_TYPE = 12 };

struct label {
	const uint8_t *data;
	bool is_big_endian;
};

static uint32_t get32(const struct label *l, size_t at) {
	return l->is_big_endian ? get_be32(l->data + at) : get_le32(l->data + at);
}

static uint32_t entry_count(const struct label *l) {
	return l->is_big_endian ? get_be16(l->data + L_COUNT) : get_le16(l->data + L_COUNT);
}

// All its 16 bits together, with their sum, are 0 by exclusive or.
static bool is_whole(const struct label *l) {
	uint32_t count = entry_count(l), sum = 0;

	if (get32(l, L_MAGIC) != MAGIC || get32(l, L_MAGIC2) != MAGIC || get32(l, L_SECTOR) != SECTOR ||
	    count <= WHOLE || count > DISKLABEL_PARTITIONS)
		return false;
	for (size_t at = 0; at < L_ENTRIES + (size_t)count * ENTRY; at += 2)
		sum ^= get_le16(l->data + at);
	return sum == 0;
}

// The sector of the disk that its starts count from. The whole of FreeBSD and NetBSD is the slice, that of OpenBSD the
// disk.
static uint64_t origin(const struct label *l, const struct partition *slice) {
	uint64_t start = get32(l, L_ENTRIES + WHOLE * ENTRY + E_START);
	uint64_t size = get32(l, L_ENTRIES + WHOLE * ENTRY + E_SIZE);
	bool is_disk = start == 0 && size > slice->bytes / SECTOR;

	return is_disk ? 0 : slice->start / SECTOR - start;
}

// 1: outside of the slice. -1: partly.
static int place(const struct label *l, uint32_t i, const struct partition *slice, struct disklabel_partition *ret) {
	size_t at = L_ENTRIES + (size_t)i * ENTRY;
	uint64_t start = (origin(l, slice) + get32(l, at + E_START)) * SECTOR;
	uint64_t end = start + (uint64_t)get32(l, at + E_SIZE) * SECTOR, last = slice->start + slice->bytes;

	*ret = (struct disklabel_partition){{start, end - start}, l->data[at + E_TYPE] == FFS};
	if (end <= slice->start || start >= last)
		return 1;
	return start < slice->start || end > last ? -1 : 0;
}

static int by_start(const void *a, const void *b) {
	const struct disklabel_partition *x = a, *y = b;
	return (x->place.start > y->place.start) - (x->place.start < y->place.start);
}

static bool overlap(const struct disklabel *label) {
	for (size_t i = 1; i < label->count; i++) {
		const struct partition *before = &label->partitions[i - 1].place;
		if (before->start + before->bytes > label->partitions[i].place.start)
			return true;
	}
	return false;
}

bool disklabel_read(const uint8_t *sector, const struct partition *slice, struct disklabel *ret) {
	const struct label l = {sector, get_be32(sector) == MAGIC};

	*ret = (struct disklabel){0};
	if (!is_whole(&l))
		return false;
	for (uint32_t i = 0; i < entry_count(&l); i++) {
		size_t at = L_ENTRIES + (size_t)i * ENTRY;
		int r;
		if (i == WHOLE || get32(&l, at + E_SIZE) == 0 || sector[at + E_TYPE] == 0)
			continue;
		r = place(&l, i, slice, &ret->partitions[ret->count]);
		if (r < 0)
			return false;
		ret->count += r == 0;
	}
	qsort(ret->partitions, ret->count, sizeof(ret->partitions[0]), by_start);
	return ret->count > 0 && !overlap(ret);
}
