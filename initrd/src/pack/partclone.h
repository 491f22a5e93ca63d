// SPDX-License-Identifier: Apache-2.0
// Finds the used bytes of a filesystem with partclone.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

// Runs partclone.<name>. Adds the used ranges to `used`, as offsets on the disk, and sets *ret_bytes to the size of the
// filesystem. Returns an error of code 3 if the filesystem is not clean or partclone is missing; of code 1, with the
// message of partclone, if it cannot read the filesystem.
int partclone_read(const struct reader *reader, const struct partition *partition, const char *name, const char *folder,
		   struct extents *used, uint64_t *ret_bytes, struct fault *fault);
