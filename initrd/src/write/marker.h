// SPDX-License-Identifier: Apache-2.0
// What a disk says while an image is on its way to it: its first MiB is zeros but for 88 bytes, which name the image.
// They stand where neither firmware nor any filesystem looks, in the granule that is written last of all: one write
// makes the disk whole.
//
//   2048  16 "sled-interrupted"         2064   8 bytes of the disk
//   2072  32 digest of the image        2104  32 SHA-256 of the 56 bytes before
#pragma once

#include <stdbool.h>

#include "disk/device.h"
#include "image/index.h"

// Whether an earlier write of the image that has this digest was interrupted. Disks of less than a chunk have no
// marker.
int marker_find(struct device *device, const uint8_t digest[HASH], bool *ret, struct fault *fault);

// Into the first granule, all the rest of which becomes zero.
int marker_write(struct device *device, const uint8_t digest[HASH], struct fault *fault);
