// SPDX-License-Identifier: Apache-2.0
// An image onto a disk, such that nothing can start from the disk unless all of it was right.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "source/open.h"
#include "source/source.h"
#include "write/order.h"

struct written {
	enum write_mode mode;	     // full or delta, as it was done
	char why[256];		     // of the mode, with the figures that decided
	uint64_t fetched, written;   // bytes of file, of disk
	uint64_t right_before;	     // used bytes that were there already
};

// The image's index is proven (image/open.h). Code 4 when the disk is too small (nothing was touched), 5 when a chunk
// is not the promised one. What lies in the disk's first MiB is written last; until then that MiB says to which image
// the disk is on its way, and nothing can start from it.
int write_image(struct source *source, const struct image *image, const struct write_order *order,
		struct device *device,
		struct written *ret, struct progress *progress, struct fault *fault);
