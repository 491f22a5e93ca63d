// SPDX-License-Identifier: Apache-2.0
// The bytes of a disk that an image must hold: the partition table, the area before the first partition, and the used
// bytes of each partition. Everything else is free.
#pragma once

#include "base/extents.h"
#include "base/text.h"
#include "disk/reader.h"
#include "image/index.h"

struct usedmap {
	uint32_t sector;
	struct extents kept;  // settled: bytes as they are on the disk
	struct extents marks; // settled: granules that count as used although nothing is kept
			      // (contract/image.md, "A disk of another size")
	uint32_t partition_count;
	struct index_partition partitions[INDEX_PARTITIONS_MAX];
	struct text warnings; // one per line
};

// `sector` 0: that of the device or the table. `folder`: for copies of partitions, if there are no loop devices. Code 3
// for a disk that must be repaired before it can be packed. Free `ret` after a failure too.
int usedmap_read(const struct reader *reader, uint32_t sector, const char *folder, struct usedmap *ret,
		 struct fault *fault);
void usedmap_free(struct usedmap *map);
