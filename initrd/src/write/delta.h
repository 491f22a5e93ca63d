// SPDX-License-Identifier: Apache-2.0
// Finds the chunks of an image that are already on a disk.
#pragma once

#include <stdint.h>

#include "base/progress.h"
#include "disk/device.h"
#include "image/index.h"

struct delta {
	uint64_t read;	     // bytes of disk
	uint64_t right;	     // used bytes of the chunks that are right
	uint32_t looked_at;  // chunks
	uint32_t differ;     // of these: not right, or they could not be read
	uint32_t unreadable; // of these
	int64_t took;	     // nanoseconds
};

// Reads and hashes the used granules of the chunks in `chunks`, on every core, and removes the correct ones from it. A
// chunk that cannot be read, or that reaches past the end of the disk, is not correct. Used for delta (with all
// chunks), for resuming and for reading back. `progress` counts the used bytes of `chunks`; it may be NULL.
int delta_find(struct device *device, const struct index *index, uint8_t *chunks, struct delta *ret,
	       struct progress *progress, struct fault *fault);

// The same for about `count` chunks, one in each equal part of the image, chosen by `seed`.
int delta_sample(struct device *device, const struct index *index, uint32_t count, uint64_t seed, struct delta *ret,
		 struct fault *fault);
