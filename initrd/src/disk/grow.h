// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "disk/device.h"

struct grown {
	unsigned partition; // number of the one that has grown; 0: none
	uint64_t bytes;	    // its size now
};

// Extends the partition table to the end of the disk; with `last`, also the last partition. A disk without a table
// is left unchanged. May be repeated. Returns an error of code 5 if the table is damaged, 4 if the disk is too small
// for it, 3 if its sector size is not that of the disk.
int grow_disk(struct device *device, bool last, struct grown *ret, struct fault *fault);
