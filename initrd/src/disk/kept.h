// SPDX-License-Identifier: Apache-2.0
// What an image keeps behind the partitions of a disk, and behind the filesystems in them. `write` leaves it in a file
// for `grow`, which has no index.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

#define KEPT_FILE "/run/sled/kept" // in the memory of the machine; $SLED_KEPT names another

struct kept_partition {
	uint64_t start, end;
	char content[17];
	uint64_t behind; // the first used byte at or behind its end; 0: none
	uint64_t within; // the first used byte in it behind its filesystem; 0: none
};

struct kept {
	char disk[64]; // name of the device
	unsigned count;
	struct kept_partition partitions[PARTITIONS_MAX]; // by start
};

int kept_write(const struct kept *kept, const char *path, struct fault *fault);

// Returns an error of code 1 if there is no such file, or it is that of another disk than `disk`.
int kept_read(const char *path, const char *disk, struct kept *ret, struct fault *fault);

// The partition that has this start, and this end or had less before it has grown; NULL: none.
const struct kept_partition *kept_find(const struct kept *kept, uint64_t start, uint64_t end);

// Whether there are used bytes that a partition or a filesystem would cover if it grew as far as it can, on a disk of
// any size. Programs of the installed system must not grow them then.
bool kept_forbids(const struct kept *kept);
