// SPDX-License-Identifier: Apache-2.0
// Writes an image to a disk so that nothing can start from the disk before all of it is correct.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "disk/kept.h"
#include "source/feed_multicast.h"
#include "source/open.h"
#include "source/source.h"
#include "write/order.h"

struct written {
	enum write_mode mode;		    // full or delta, as it was written
	char why[256];			    // the reason for the mode, with its figures
	uint64_t fetched, written;	    // bytes of the file, from the source; of the disk
	struct multicast_summary multicast; // what came by multicast
	uint64_t right_before;		    // used bytes that were there already
	struct kept kept;		    // what is behind its partitions and filesystems
};

// Requires an image whose index is verified (source/open.h). Returns an error of code 4 if the disk is too small
// (nothing was changed), 5 if a chunk is damaged. The disk's first MiB is written last; until then it holds only the
// marker (write/marker.h), and nothing can start from the disk.
int write_image(struct source *source, const struct image *image, const struct write_order *order,
		struct device *device, struct written *ret, struct progress *progress, struct fault *fault);
