// SPDX-License-Identifier: Apache-2.0
// An image onto a disk, such that nothing can start from the disk unless all of it was right.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/source.h"

struct write_order {
	uint64_t bytes;	    // size of the raw disk
	const char *digest; // of the file as served
	bool raw;	    // format; else zstd
};

// Takes `source` over. Code 4 when the disk is too small (nothing was touched), 5 when the bytes are not the promised ones.
// The disk's first MiB, where whatever starts a machine begins, is written last; after a failure it and the last MiB are zero.
int write_image(struct source *source, const struct write_order *order, struct device *device, struct progress *progress,
		struct fault *fault);
