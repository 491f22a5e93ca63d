// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "disk/device.h"

struct grown {
	unsigned partition; // number of the one that has grown; 0: none
	uint64_t bytes;	    // its size now
};

// The partition table reaches to the disk's end; with `last`, so does the last partition. A disk without a table stays
// as it is. May be done again. Code 5 when the table is damaged, 4 when the disk is too small for it, 3 when it counts
// in other sectors than the disk.
int grow_disk(struct device *device, bool last, struct grown *ret, struct fault *fault);
