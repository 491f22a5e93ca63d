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

// The partition table of a kind that disk/table.h does not read (sun, mac, sgi ...), as libblkid names it; else an
// empty text.
int known_table(const struct reader *reader, char ret[17], struct fault *fault);

int known_read(const struct reader *reader, const struct partition *partition, struct known *ret, struct fault *fault);
