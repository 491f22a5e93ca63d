// SPDX-License-Identifier: Apache-2.0
// The bytes of a disk that an image must hold (contract/image.md, "What a writer keeps"): the partition table, the area
// before the first partition, the used bytes of each partition, and everything else that is not zero.
#pragma once

#include "base/extents.h"
#include "base/text.h"
#include "disk/partition_type.h"
#include "disk/reader.h"
#include "image/index.h"

struct usedmap {
	uint32_t sector;
	bool is_partition;
	struct extents kept;  // settled: bytes as they are on the disk
	struct extents marks; // settled: granules that count as used although nothing is kept
	// (contract/image.md, "A disk of another size")
	uint32_t partition_count;
	struct index_partition partitions[INDEX_PARTITIONS_MAX];
	uint64_t dropped;     // bytes that nothing describes and that were not looked at
	struct text warnings; // one per line
};

struct usedmap_order {
	bool is_partition; // the reader's bytes are those of one partition, of this type
	enum partition_type type;
	uint32_t sector;    // 0: to be found from the disk's content
	const char *folder; // for copies of partitions, if there are no loop devices
	bool drop_rest;	    // what nothing describes is free
};

// Returns an error of code 3 for a disk that must be repaired before it can be packed. Free `ret` after a failure
// too.
int usedmap_read(const struct reader *reader, const struct usedmap_order *order, struct usedmap *ret,
		 struct fault *fault);
void usedmap_free(struct usedmap *map);
