// SPDX-License-Identifier: Apache-2.0
// Which bytes of a disk an image has to hold: partition table, what lies before the first partition, and of each
// partition what its content uses. Everything else is free.
#pragma once

#include "base/extents.h"
#include "base/text.h"
#include "disk/reader.h"
#include "image/index.h"

struct usedmap {
	uint32_t sector;
	struct extents kept;  // settled: bytes as they are on the disk
	struct extents marks; // settled: used granules even where nothing is kept
			      // (contract/image.md, "A disk of another size")
	uint32_t partition_count;
	struct index_partition partitions[INDEX_PARTITIONS_MAX];
	struct text warnings; // one per line
};

// `sector` 0: as the device or the table has it. `folder`: for copies of partitions, where there are no loop devices.
// Code 3 for what must be put right before it can be packed. `ret` is to be freed also after a failure.
int usedmap_read(const struct reader *reader, uint32_t sector, const char *folder, struct usedmap *ret,
		 struct fault *fault);
void usedmap_free(struct usedmap *map);
