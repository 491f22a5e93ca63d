// SPDX-License-Identifier: Apache-2.0
// The map of a btrfs in memory, and that it is not believed if anything in it does not fit.
#include <stdlib.h>

#include "memory_btrfs.h"
#include "pack/btrfs.h"
#include "tap.h"

#define SHIFT 4096u // of the partition on the disk

static uint8_t *disk;
static struct extents used;
static struct fault fault;

static bool reads(void) {
	const struct reader reader = {.name = "memory", .bytes = SHIFT + BTRFS_DISK, .fd = -1, .memory = disk};
	const struct partition partition = {SHIFT, BTRFS_DISK};
	uint64_t bytes;
	bool right;

	extents_free(&used);
	fault = (struct fault){0};
	btrfs_sum(disk + SHIFT);
	right = btrfs_read(&reader, &partition, &used, &bytes, &fault) == 0;
	extents_settle(&used);
	return right && bytes == BTRFS_DISK;
}

static bool is_used(uint64_t start, uint64_t end) {
	size_t i = extents_find(&used, 0, SHIFT + start);
	return i < used.count && used.items[i].start <= SHIFT + start && used.items[i].end >= SHIFT + end;
}

static void put_wrong(size_t at, uint64_t value, const char *what) {
	btrfs_make(disk + SHIFT);
	put_le64(disk + SHIFT + at, value);
	ok(!reads(), "%s: %s", what, fault.text);
}

static void test_right(void) {
	btrfs_make(disk + SHIFT);
	ok(reads(), "it is proven: %s", fault.text);
	ok(is_used(0, BTRFS_DATA + 3 * BTRFS_NODE), "the first MiB and the nodes");
	ok(is_used(BTRFS_EXTENT, BTRFS_EXTENT + 8192) && used.count == 2, "the extent, and nothing else");
}

static void test_wrong(void) {
	const size_t super = 65536, extents = BTRFS_DATA + 2 * BTRFS_NODE;

	put_wrong(super + 120, 3 * BTRFS_NODE, "other used bytes in the superblock");
	put_wrong(extents + BTRFS_NODE - 24, 4096, "other used bytes in the block group");
	put_wrong(extents + 101 + 4 * 25 + 9, 12288, "a longer extent");
	put_wrong(extents + 101 + 4 * 25, BTRFS_DISK - 4096, "an extent outside of its chunk");
	put_wrong(extents + 101 + 2 * 25, BTRFS_DATA, "the same extent twice");
	put_wrong(extents + 96, 1000, "more items than fit");
	put_wrong(extents + 48, 4096, "a node of another place");
	put_wrong(extents + 80, 6, "a node of another generation");
	put_wrong(super + 209, BTRFS_DISK + 4096, "larger than its partition");
	ok(fault.code == CODE_UNSUPPORTED, "which is refused");
	put_wrong(super + 188, 0x1000, "zoned");
	put_wrong(super + 136, 2, "two devices");
	put_wrong(BTRFS_DATA + BTRFS_NODE - 80 + 24, 8, "RAID 0");
	put_wrong(BTRFS_DATA + BTRFS_NODE - 80 + 48, 2, "on another device");
	btrfs_make(disk + SHIFT);
	disk[SHIFT + BTRFS_DATA + BTRFS_NODE + 4000] ^= 1;
	ok(reads(), "a checksum that fits");
	disk[SHIFT + extents + 3000] ^= 1;
	const struct reader reader = {.name = "memory", .bytes = SHIFT + BTRFS_DISK, .fd = -1, .memory = disk};
	const struct partition partition = {SHIFT, BTRFS_DISK};
	uint64_t bytes;
	ok(btrfs_read(&reader, &partition, &used, &bytes, &fault) < 0, "one that does not: %s", fault.text);
}

int main(void) {
	disk = calloc(1, SHIFT + BTRFS_DISK);
	test_right();
	test_wrong();
	extents_free(&used);
	free(disk);
	return tap_done();
}
