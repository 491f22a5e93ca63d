// SPDX-License-Identifier: Apache-2.0
// The signatures in a partition that libblkid knows: it knows many more contents than this program reads.
#pragma once

#include <stdbool.h>

#include "disk/disk.h"
#include "disk/reader.h"

struct known {
	unsigned count;	 // of signatures
	bool is_damaged; // one of them has a wrong checksum
	char name[17];	 // of the first: as the index names it
	char names[128]; // all, for people
};

int known_read(const struct reader *reader, const struct partition *partition, struct known *ret, struct fault *fault);
