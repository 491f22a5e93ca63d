// SPDX-License-Identifier: Apache-2.0
// Finds the used bytes of a filesystem with partclone.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"

// `name`: of the filesystem, as in partclone.<name>. Adds the used ranges, as offsets on the disk; *ret_bytes: size of
// the filesystem. Code 3 if it is not clean, or partclone is missing; 1, with the message of partclone, if it cannot
// read the filesystem.
int domain_read(const struct reader *reader, const struct partition *partition, const char *name, const char *folder,
		struct extents *used, uint64_t *ret_bytes, struct fault *fault);
