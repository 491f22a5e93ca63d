// SPDX-License-Identifier: Apache-2.0
// The dm-verity tree behind a squashfs (contract/image.md, "Kinds"). Pure functions over buffers.
#pragma once

#include <stdint.h>

#include "image/index.h"

#define VERITY_BLOCK 4096u
#define VERITY_HEAD (2 * VERITY_BLOCK) // superblock, and the block of hashes that the root hash is of
#define VERITY_SALT 256u
#define VERITY_TABLE_MAX 1024u
#define SQUASHFS_HEAD 96u

struct verity {
	uint64_t at;	 // of its superblock, behind the data
	uint64_t blocks; // of data
	uint8_t root[HASH];
	uint16_t salt_size;
	uint8_t salt[VERITY_SALT];
};

// Finds the tree from the head of the squashfs. Returns an error of code 3 if the image has none.
int verity_find(const uint8_t head[SQUASHFS_HEAD], uint64_t image_bytes, uint64_t *ret_at, struct fault *fault);

// Reads the superblock, and computes the root hash. Returns an error of code 3 for a tree of another form.
int verity_parse(const uint8_t head[VERITY_HEAD], uint64_t at, uint64_t image_bytes, struct verity *ret,
		 struct fault *fault);

// The table of the target "verity" for the kernel. `device` has data and tree.
void verity_table(const struct verity *verity, const char *device, char ret[VERITY_TABLE_MAX]);
