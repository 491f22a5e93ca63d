// SPDX-License-Identifier: Apache-2.0
// Which chunks of an image are on a disk already.
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

// Reads and hashes the used granules of the chunks in `chunks`, on every core, and takes those that are right out of
// it. A chunk that cannot be read, or that reaches past the disk's end, is not right. Serves delta (all chunks in),
// resuming and reading back. `progress` is told used bytes looked at, from 0 to those of `chunks`; NULL: nobody.
int delta_find(struct device *device, const struct index *index, uint8_t *chunks, struct delta *ret,
	       struct progress *progress,
	       struct fault *fault);

// The same for about `count` chunks spread over the image, each somewhere in its part of it as `seed` has it.
int delta_sample(struct device *device, const struct index *index, uint32_t count, uint64_t seed, struct delta *ret,
		 struct fault *fault);
