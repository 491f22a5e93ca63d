// SPDX-License-Identifier: Apache-2.0
// What an image file says is to be on the disk, piece by piece. Each format is one implementation over a source.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "disk/device.h"
#include "image/source.h"

// Part of the disk: at most BLOCK bytes, not across a multiple of BLOCK. Pieces may come in any order, none twice.
struct piece {
	uint64_t offset;
	size_t size; // 0: there are no more
	bool zero;   // reads as zero: nothing is in the buffer
};

struct image;

struct image_ops {
	// Next piece, its bytes in `buffer` (BLOCK bytes). Code 5 for bytes that cannot be right, 3 for what this program
	// cannot read.
	int (*next)(struct image *, unsigned char *buffer, struct piece *ret, struct fault *);
	void (*close)(struct image *);
};

struct image {
	const struct image_ops *ops;
};

// The source stays the caller's and must outlive the image.
int image_open_raw(struct source *source, struct image **ret, struct fault *fault);
int image_open_zstd(struct source *source, struct image **ret, struct fault *fault);

void image_close(struct image **image); // for cleanup_with; *image may be NULL

bool bytes_are_zero(const unsigned char *data, size_t size);
