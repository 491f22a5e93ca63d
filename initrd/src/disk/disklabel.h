// SPDX-License-Identifier: Apache-2.0
// The table of a BSD in the second sector of its slice, or of a disk without another table: FreeBSD's
// sys/disklabel.h, and those of NetBSD and OpenBSD. Pure.
#pragma once

#include <stdbool.h>

#include "disk/disk.h"

#define DISKLABEL_AT 512u
#define DISKLABEL_BYTES 512u
#define DISKLABEL_PARTITIONS 22u // that fit its sector

struct disklabel_partition {
	struct partition place; // on the disk
	bool is_ffs;		// its type is that of UFS
};

struct disklabel {
	size_t count;
	struct disklabel_partition partitions[DISKLABEL_PARTITIONS]; // by start; none overlaps another
};

// Without those of no type, the third one, which stands for the slice or the disk, and those outside of the slice.
// Returns false if it is none, or damaged, or has partitions that overlap or are partly outside.
bool disklabel_read(const uint8_t *sector, const struct partition *slice, struct disklabel *ret);
