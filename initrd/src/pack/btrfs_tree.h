// SPDX-License-Identifier: Apache-2.0
// Reads the trees of a btrfs on one device: superblock, chunks, nodes. Every node is checked before it is used. The
// offsets are those of the kernel's btrfs_tree.h.
#pragma once

#include <stdbool.h>

#include "disk/disk.h"
#include "disk/reader.h"

#define BTRFS_SUPER 65536u // byte of the superblock
#define BTRFS_SUPER_BYTES 4096u
#define BTRFS_LEVELS 8u
#define BTRFS_COPIES 2u

// A range of logical addresses, and where it lies on the device.
struct btrfs_chunk {
	uint64_t logical, bytes;
	uint64_t at[BTRFS_COPIES]; // of each copy
	unsigned copies;
	uint64_t used;	   // bytes of its extents, counted
	uint64_t declared; // bytes of its extents, as its block group has them
	bool has_group;
};

// A tree: where its root is, as the pointer to it has it.
struct btrfs_root {
	uint64_t at, generation;
	uint8_t level;
};

struct btrfs {
	const struct reader *reader;
	const struct partition *partition;
	uint64_t bytes, used; // of the device; of all extents
	uint64_t device;      // its number
	uint32_t node;	      // bytes
	bool has_group_tree;  // block groups are in a separate tree
	bool has_checksums;   // that are known here: crc32c
	struct btrfs_root root;
	size_t chunk_count;
	struct btrfs_chunk *chunks; // by logical address
	uint8_t *nodes[BTRFS_LEVELS];
};

struct btrfs_key {
	uint64_t object;
	uint8_t type;
	uint64_t offset;
};

// Reads superblock and chunks. Returns an error of code 3 if it is larger than its partition, 1 if it is of a kind
// that this reader does not know, or damaged. Free `ret` after a failure too.
int btrfs_open(const struct reader *reader, const struct partition *partition, struct btrfs *ret, struct fault *fault);
void btrfs_close(struct btrfs *btrfs);

// Returns NULL if no chunk has all of it.
struct btrfs_chunk *btrfs_chunk_of(const struct btrfs *btrfs, uint64_t logical, uint64_t bytes);

// Takes one item of a leaf.
typedef int btrfs_take(void *context, const struct btrfs_key *key, const uint8_t *item, size_t size,
		       struct fault *fault);

// Each item of a tree, in order.
int btrfs_walk(struct btrfs *btrfs, const struct btrfs_root *root, btrfs_take *take, void *context,
	       struct fault *fault);
