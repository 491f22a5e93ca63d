// SPDX-License-Identifier: Apache-2.0
// All block devices of this machine, from sysfs and procfs. `root` is "" or a directory that holds a copy, for tests.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

// Sorted by name. Free with disks_free after success.
int scan_disks(const char *root, struct disks *ret, struct fault *fault);

// Finds the device of a partition, as the kernel knows it. Returns an error of code 4 if it knows none at that place.
int scan_partition_node(const char *root, const struct disk *disk, const struct partition *place, char ret[NODE_MAX],
			struct fault *fault);

// Sets why a disk is never a candidate, by its name, size and `removable`; "" if it is one. Pure.
void scan_exclude(struct disk *disk, bool hidden);
