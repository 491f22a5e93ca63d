// SPDX-License-Identifier: Apache-2.0
// Whether a filesystem is clean, where its first bytes do not show it, and where partclone would map it though its
// journal still holds changes.
#pragma once

#include "disk/disk.h"
#include "disk/reader.h"

// Sets *ret_objection to the reason why the filesystem must not be packed, with advice, and *ret_doubt to the reason
// why nothing of it may be taken for free; NULL if there is none.
typedef int clean_check(const struct reader *reader, const struct partition *partition, const char **ret_objection,
			const char **ret_doubt, struct fault *fault);

clean_check clean_xfs, clean_ntfs, clean_f2fs, clean_fat;
