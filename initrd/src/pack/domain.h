// SPDX-License-Identifier: Apache-2.0
// Which bytes of a filesystem are used: asked of partclone.
#pragma once

#include "base/extents.h"
#include "disk/disk.h"
#include "disk/reader.h"
#include "pack/probe.h"

// Adds the used ranges, moved to where the partition is on the disk; *ret_bytes: size of the filesystem. Code 3 when it
// is not in a state to be copied, or there is no partclone; 1 when partclone cannot read it, with its words.
int domain_read(const struct reader *reader, const struct partition *partition, const struct probe *content,
		const char *folder,
		struct extents *used, uint64_t *ret_bytes, struct fault *fault);
