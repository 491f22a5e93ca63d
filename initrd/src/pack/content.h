// SPDX-License-Identifier: Apache-2.0
// What a partition holds, and whether its own map of free space may be believed.
#pragma once

#include "disk/disk.h"
#include "disk/partition_type.h"
#include "disk/reader.h"
#include "pack/probe.h"

struct content {
	enum content_kind kind;
	char name[17];	  // of the index
	char doubt[256];  // why all of it is kept in spite of its map; else empty
	bool is_unknown;  // nobody knows what it is: no signature, no table of partitions
	bool copy_at_end; // the partition's last sector is part of the filesystem
	uint32_t header;  // bytes of a swap's
	uint64_t bytes;	  // of a swap, as its header declares them
};

// Returns an error of code 3 if it must be repaired or unmounted before it can be packed.
int content_read(const struct reader *reader, const struct partition *partition, enum partition_type type,
		 struct content *ret, struct fault *fault);

// What there is beside a disklabel, and boot code, in the first sectors.
enum beside_label { BESIDE_NOTHING, BESIDE_UFS, BESIDE_OTHER };

int content_beside_label(const struct reader *reader, const struct partition *partition, enum beside_label *ret,
			 struct fault *fault);
