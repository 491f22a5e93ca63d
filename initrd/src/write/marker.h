// SPDX-License-Identifier: Apache-2.0
// The marker of a disk to which an image is being written: its first MiB is zero except for 88 bytes, which name the
// image. They are where neither firmware nor a filesystem reads, in the granule that is written last of all: a single
// write completes the disk.
//
//   2048  16 "sled-interrupted"         2064   8 bytes of the disk
//   2072  32 digest of the image        2104  32 SHA-256 of the 56 bytes before
#pragma once

#include <stdbool.h>

#include "disk/device.h"
#include "image/index.h"

// Returns whether an earlier write of the image with this digest was interrupted. Disks smaller than a chunk have no
// marker.
int marker_find(struct device *device, const uint8_t digest[HASH], bool *ret, struct fault *fault);

// Writes the marker to the first granule, and zeroes the rest of that granule.
int marker_write(struct device *device, const uint8_t digest[HASH], struct fault *fault);
