// SPDX-License-Identifier: Apache-2.0
// The filesystems whose signatures a partition or a disk holds.
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct filesystem_name {
	const char *uuid, *label;	  // NULL: any
	const char *partuuid, *partlabel; // of the partition that it is in
};

// Adds a line to *ret for each of this name, named as libblkid names it, such as "ext4"; none if nothing is recognised.
// `path` is a block device, or a file in its place. What cannot be read is a fault, never an absence of filesystems.
int filesystem_read(const char *path, const struct filesystem_name *name, struct text *ret, struct fault *fault);
