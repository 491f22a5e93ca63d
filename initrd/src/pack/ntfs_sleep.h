// SPDX-License-Identifier: Apache-2.0
// Whether a Windows hibernates in an NTFS, as after "shut down" with fast startup.
#pragma once

#include "disk/disk.h"
#include "disk/reader.h"

// `boot`: the first sector. Sets *ret_objection if it does, or if that cannot be read.
int ntfs_check_sleep(const struct reader *reader, const struct partition *partition, const uint8_t *boot,
		     const char **ret_objection, struct fault *fault);
