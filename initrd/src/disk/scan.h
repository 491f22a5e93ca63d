// SPDX-License-Identifier: Apache-2.0
// All block devices of this machine, from sysfs and procfs. `root` is "" or a directory that holds a copy, for tests.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

// Sorted by name. To be freed with disks_free after success.
int scan_disks(const char *root, struct disks *ret, struct fault *fault);

// The name under /dev/disk/by-path, as udev's path_id makes it; "" where that has none. `real` is the disk's directory
// below /sys/devices, without links.
void bypath_name(const char *root, const char *real, struct disk *disk);

// Fills in disk->in_use: mounted, swap, or held by another device (also through one of its partitions).
int usage_find(const char *root, struct disks *disks, struct fault *fault);
