// SPDX-License-Identifier: Apache-2.0
// The smallest btrfs in memory: one chunk over the whole device, a leaf for each of the chunk tree, the root tree and
// the extent tree. Logical addresses are those of the device. Offsets: the kernel's btrfs_tree.h.
#pragma once

#include <string.h>

#include "base/bytes.h"

#define BTRFS_DISK (2u << 20)
#define BTRFS_NODE 4096u
#define BTRFS_DATA (1u << 20)			 // byte of the first node: chunk tree, root tree, extent tree
#define BTRFS_EXTENT (BTRFS_DATA + (512u << 10)) // of 8192 bytes

static uint32_t btrfs_crc(const uint8_t *data, size_t size) {
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

static void btrfs_key(uint8_t *p, uint64_t object, uint8_t type, uint64_t offset) {
	put_le64(p, object);
	p[8] = type;
	put_le64(p + 9, offset);
}

// A chunk over the device, single.
static size_t btrfs_chunk_item(uint8_t *p) {
	memset(p, 0, 80);
	put_le64(p, BTRFS_DISK);
	p[44] = 1;
	put_le64(p + 48, 1);
	return 80;
}

// Adds an item behind the others of a leaf. Returns its data.
static uint8_t *btrfs_item(uint8_t *leaf, uint64_t object, uint8_t type, uint64_t offset, uint32_t size) {
	uint32_t count = get_le32(leaf + 96), last = 101 + (count - 1) * 25 + 17;
	uint32_t end = count ? get_le32(leaf + last) : BTRFS_NODE - 101;
	uint8_t *item = leaf + 101 + count * 25;

	btrfs_key(item, object, type, offset);
	put_le32(item + 17, end - size);
	put_le32(item + 21, size);
	put_le32(leaf + 96, count + 1);
	return leaf + 101 + end - size;
}

static uint8_t *btrfs_leaf(uint8_t *disk, uint64_t at) {
	put_le64(disk + at + 48, at);
	put_le64(disk + at + 80, 7);
	return disk + at;
}

// After a change: the checksums that are right for it.
static void btrfs_sum(uint8_t *disk) {
	put_le32(disk + 65536, btrfs_crc(disk + 65536 + 32, 4096 - 32));
	for (unsigned i = 0; i < 3; i++) {
		uint8_t *node = disk + BTRFS_DATA + i * BTRFS_NODE;
		put_le32(node, btrfs_crc(node + 32, BTRFS_NODE - 32));
	}
}

static void btrfs_make(uint8_t *disk) {
	uint8_t *super = disk + 65536, *leaf, *root;

	memset(disk, 0, BTRFS_DISK);
	memcpy(super + 64, "_BHRfS_M", 8);
	put_le64(super + 48, 65536);
	put_le64(super + 72, 7);
	put_le64(super + 80, BTRFS_DATA + BTRFS_NODE);
	put_le64(super + 88, BTRFS_DATA);
	put_le64(super + 120, 3 * BTRFS_NODE + 8192);
	put_le64(super + 136, 1);
	put_le32(super + 144, 4096);
	put_le32(super + 148, BTRFS_NODE);
	put_le64(super + 164, 7);
	put_le64(super + 201, 1);
	put_le64(super + 209, BTRFS_DISK);
	btrfs_key(super + 811, 256, 228, 0);
	put_le32(super + 160, (uint32_t)(17 + btrfs_chunk_item(super + 811 + 17)));
	leaf = btrfs_leaf(disk, BTRFS_DATA);
	btrfs_chunk_item(btrfs_item(leaf, 256, 228, 0, 80));
	leaf = btrfs_leaf(disk, BTRFS_DATA + BTRFS_NODE);
	root = btrfs_item(leaf, 2, 132, 0, 439);
	put_le64(root + 160, 7);
	put_le64(root + 176, BTRFS_DATA + 2 * BTRFS_NODE);
	leaf = btrfs_leaf(disk, BTRFS_DATA + 2 * BTRFS_NODE);
	put_le64(btrfs_item(leaf, 0, 192, BTRFS_DISK, 24), 3 * BTRFS_NODE + 8192);
	for (unsigned i = 0; i < 3; i++)
		btrfs_item(leaf, BTRFS_DATA + i * BTRFS_NODE, 169, 0, 33);
	btrfs_item(leaf, BTRFS_EXTENT, 168, 8192, 53);
	btrfs_sum(disk);
}
