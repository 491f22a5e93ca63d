// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "disk/device.h"

struct grown {
	unsigned last;	     // number of the partition that ends last; 0: none, or one that never grows
	uint64_t start, end; // its bytes before it has grown
	uint64_t room;	     // where it could end at most
	uint64_t bytes;	     // its size, if it has grown; else 0
	bool is_held;	     // nothing has changed: something else is where the copy of the GPT belongs
};

// Returns the first byte that the partition from `start` to `end`, the one that ends last, must not reach; 0: it stays
// as it is.
typedef uint64_t grow_limit(void *context, uint64_t start, uint64_t end);

// Extends the partition table to the end of the disk, and the last partition up to its limit (NULL: not at all). A disk
// without a table is left unchanged. May be repeated. Returns an error of code 5 if the table is damaged, 4 if the disk
// is too small for it, 3 if its sector size is not that of the disk.
int grow_disk(struct device *device, grow_limit *limit, void *context, struct grown *ret, struct fault *fault);
