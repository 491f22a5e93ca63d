// SPDX-License-Identifier: Apache-2.0
// What uses a disk or one of its partitions: mounts, swap, and devices that are built on it.
#pragma once

#include "base/fault.h"
#include "disk/disk.h"

// Fills in disk->in_use: mounted, swap, or held by another device (also through one of its partitions).
int usage_find(const char *root, struct disks *disks, struct fault *fault);

// Returns the disk with that device number ("8:1"), which is its own or that of one of its partitions; NULL if there
// is none.
struct disk *usage_disk(const char *root, struct disks *disks, const char *number);
