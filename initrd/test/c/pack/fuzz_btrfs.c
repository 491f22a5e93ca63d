// SPDX-License-Identifier: Apache-2.0
// The btrfs in memory with changes: each 4 bytes of the input are a place in the superblock or a node, and its new
// value. Checksums are made right, so that what they protect is reached too.
#include <stdlib.h>

#include "memory_btrfs.h"
#include "pack/btrfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *place(uint8_t *disk, uint32_t at) {
	at %= 4 * BTRFS_NODE;
	return at < 4096 ? disk + 65536 + at : disk + BTRFS_DATA + (at - 4096);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	uint8_t *disk = malloc(BTRFS_DISK);
	const struct reader reader = {.name = "memory", .bytes = BTRFS_DISK, .fd = -1, .memory = disk};
	const struct partition partition = {0, BTRFS_DISK};
	struct extents used = {0};
	struct fault fault;
	uint64_t bytes;

	btrfs_make(disk);
	for (size_t i = 0; i + 4 <= size; i += 4)
		*place(disk, get_le16(data + i)) = data[i + 2];
	btrfs_sum(disk);
	if (btrfs_read(&reader, &partition, &used, &bytes, &fault) == 0 && bytes > BTRFS_DISK)
		abort();
	for (size_t i = 0; i < used.count; i++)
		if (used.items[i].start >= used.items[i].end || used.items[i].end > BTRFS_DISK)
			abort();
	extents_free(&used);
	free(disk);
	return 0;
}
