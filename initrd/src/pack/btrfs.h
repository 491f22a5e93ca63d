// SPDX-License-Identifier: Apache-2.0
// The used bytes of a btrfs, from its own extent tree. partclone's map of it lacks nodes of subvolumes and snapshots.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

// Adds the used ranges and sets *ret_bytes as partclone_read does. Returns an error of code 1 if the extents of a block
// group have not as many bytes as it declares, or all of them not as many as the superblock declares; or if the
// filesystem has features that are not supported.
int btrfs_read(const struct reader *reader, const struct partition *partition, struct extents *used,
	       uint64_t *ret_bytes, struct fault *fault);
