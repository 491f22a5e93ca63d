// SPDX-License-Identifier: Apache-2.0
// Disklabels: the first 8 bytes are start and size of the slice in sectors, the rest is the label. Magic numbers and
// sum are made right, so that what they protect is reached too.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "disk/disklabel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_right(uint8_t *sector) {
	uint32_t count, sum = 0;

	memcpy(sector, sector[4] & 1 ? "\x82\x56\x45\x57" : "\x57\x45\x56\x82", 4);
	memcpy(sector + 132, sector, 4);
	sector[4] & 1 ? memcpy(sector + 40, "\0\0\2\0", 4) : memcpy(sector + 40, "\0\2\0\0", 4);
	count = sector[4] & 1 ? get_be16(sector + 138) : get_le16(sector + 138);
	put_le16(sector + 136, 0);
	for (size_t at = 0; at < 148 + (size_t)count * 16 && at < DISKLABEL_BYTES; at += 2)
		sum ^= get_le16(sector + at);
	put_le16(sector + 136, sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t sector[DISKLABEL_BYTES] = {0};
	struct partition slice;
	struct disklabel label;
	uint64_t end;

	if (size < 8)
		return 0;
	slice = (struct partition){(uint64_t)get_le32(data) * SECTOR, (uint64_t)get_le32(data + 4) * SECTOR};
	end = slice.start;
	memcpy(sector, data + 8, size - 8 < sizeof(sector) ? size - 8 : sizeof(sector));
	make_right(sector);
	if (!disklabel_read(sector, &slice, &label))
		return 0;
	for (size_t i = 0; i < label.count; i++) {
		const struct partition *p = &label.partitions[i].place;
		if (p->bytes == 0 || p->start < end || p->start + p->bytes > slice.start + slice.bytes)
			abort();
		end = p->start + p->bytes;
	}
	return 0;
}
