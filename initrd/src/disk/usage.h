// SPDX-License-Identifier: Apache-2.0
// What uses a disk: mounts, swap, and devices that stand on it, on the disk itself or on one of its partitions.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

// Fills in disk->in_use: mounted, swap, or held by another device (also through one of its partitions).
int usage_find(const char *root, struct disks *disks, struct fault *fault);
