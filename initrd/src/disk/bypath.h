// SPDX-License-Identifier: Apache-2.0
// The name of a disk by its place on the bus. The walk is that of udev's path_id: from the disk up to the bus; each
// level that has a name is put in front.
#pragma once

#include "disk/disk.h"

// Sets the name under /dev/disk/by-path that udev's path_id would make; "" if it makes none. `real` is the disk's
// directory below /sys/devices, without links.
void bypath_name(const char *root, const char *real, struct disk *disk);
