// SPDX-License-Identifier: Apache-2.0
// The name of a disk by its place on the bus. The same walk as udev's path_id: from the disk up to the bus, each level
// that has a name of its own put in front.
#pragma once

#include "disk/disk.h"

// The name under /dev/disk/by-path, as udev's path_id makes it; "" where that has none. `real` is the disk's directory
// below /sys/devices, without links.
void bypath_name(const char *root, const char *real, struct disk *disk);
