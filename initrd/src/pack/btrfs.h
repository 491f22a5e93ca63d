// SPDX-License-Identifier: Apache-2.0
// The used bytes of a btrfs, from its own extent tree. partclone's map of it lacks nodes of subvolumes and snapshots.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

// As domain_read. The map is proven: the extents of each block group have as many bytes as it declares, and all of them
// as many as the superblock. Code 1 if they have not, or if the filesystem is of a kind that is not known here.
int btrfs_read(const struct reader *reader, const struct partition *partition, struct extents *used,
	       uint64_t *ret_bytes, struct fault *fault);
