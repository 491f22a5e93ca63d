// SPDX-License-Identifier: Apache-2.0
// The used bytes of a UFS1 or UFS2 (FFS), from the maps of free fragments in its cylinder groups; in either order of
// bytes. M. K. McKusick et al., A Fast File System for UNIX, 1984; fields as in FreeBSD's sys/ufs/ffs/fs.h.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

#define UFS_SUPER_BYTES 1376u

// Where a superblock may be: that of UFS1 at the second place, that of UFS2 at either.
extern const uint32_t ufs_places[2];

enum ufs_kind { UFS_NONE, UFS1, UFS2 };

// What these UFS_SUPER_BYTES are the superblock of, if they are at byte `at` of a partition. Copies are none. Pure.
enum ufs_kind ufs_recognise(const uint8_t *super, uint32_t at, bool *ret_big_endian);

// Adds the used ranges and sets *ret_bytes as partclone_read does. Returns an error of code 1 if it was not unmounted
// cleanly, has snapshots, or is of a kind that this reader does not know; if it is larger than its partition; if
// metadata are free in a map; or if a map has other free blocks and fragments than its group, the list of all groups
// and the superblock count.
int ufs_read(const struct reader *reader, const struct partition *partition, struct extents *used, uint64_t *ret_bytes,
	     struct fault *fault);
