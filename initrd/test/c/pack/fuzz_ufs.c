// SPDX-License-Identifier: Apache-2.0
// The UFS in memory with changes: the first byte is its kind; of the rest, each 4 bytes are a place in the superblock,
// the list of groups or a group, and its new value.
#include <stdlib.h>

#include "memory_ufs.h"
#include "pack/ufs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *place(uint8_t *disk, uint32_t at) {
	at %= 4096;
	if (at < 1536)
		return disk + UFS_SUPER + at;
	if (at < 2048)
		return disk + UFS_DATA * 1024 + (at - 1536);
	return disk + ((at - 2048) / 1024 * UFS_EACH + UFS_GROUP) * 1024 + at % 1024;
}

static bool is_made(const struct memory_ufs *m, struct extents *used) {
	const struct reader reader = {.name = "memory", .bytes = UFS_DISK, .fd = -1, .memory = m->disk};
	const struct partition partition = {0, UFS_DISK};
	struct fault fault;
	uint64_t bytes = 0;
	bool is_proven = ufs_read(&reader, &partition, used, &bytes, &fault) == 0;

	if (is_proven && (bytes == 0 || bytes > UFS_DISK))
		abort();
	for (size_t i = 0; i < used->count; i++)
		if (used->items[i].start >= used->items[i].end || used->items[i].end > UFS_DISK)
			abort();
	return is_proven;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct memory_ufs m = {.disk = malloc(UFS_DISK)};
	struct extents used = {0};

	m.is_two = size > 0 && data[0] & 1;
	m.is_big_endian = size > 0 && data[0] & 2;
	ufs_make(&m);
	if (size <= 1 && !is_made(&m, &used))
		abort(); // without changes it is proven
	for (size_t i = 1; i + 4 <= size; i += 4)
		*place(m.disk, get_le16(data + i)) = data[i + 2];
	(void)is_made(&m, &used);
	extents_free(&used);
	free(m.disk);
	return 0;
}
