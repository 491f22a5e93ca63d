// SPDX-License-Identifier: Apache-2.0
// Filesystems whose state is not in their first bytes, and that partclone maps though their journal still has changes
// in it.
#pragma once

#include "disk/disk.h"
#include "disk/reader.h"
#include "pack/probe.h"

// Sets content->objection. Looks at xfs, ntfs and f2fs.
int clean_check(const struct reader *reader, const struct partition *partition, struct probe *content,
		struct fault *fault);
