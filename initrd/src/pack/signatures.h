// SPDX-License-Identifier: Apache-2.0
// The signatures in a partition that libblkid knows: it knows many more contents than this program reads. A disk
// without a table that disk/table.h reads is one partition.
#pragma once

#include <stdbool.h>

#include "disk/disk.h"
#include "disk/reader.h"

struct signatures {
	unsigned count;	 // of signatures
	bool is_damaged; // one of them has a wrong checksum
	char name[17];	 // of the first: as the index names it
	char names[128]; // all, for people
	char table[17];	 // kind of the partition table in it (bsd, sun, dos with a partition ...); else empty
};

// Returns an error only if the partition cannot be read; a partition without signatures has count 0.
int signatures_read(const struct reader *reader, const struct partition *partition, struct signatures *ret,
		    struct fault *fault);
