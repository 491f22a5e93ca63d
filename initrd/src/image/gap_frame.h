// SPDX-License-Identifier: Apache-2.0
// The frames that represent free parts of the disk (contract/image.md). Pure functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define GAP_MAX ((uint64_t)64 << 20)		 // bytes of disk in one gap frame
#define GAP_FRAME_MAX (10 + 4 * (GAP_MAX >> 17)) // bytes

// Total bytes of the gap frames for `size` bytes of disk.
uint64_t gap_size(uint64_t size);

// Writes the frame for the first min(size, GAP_MAX) bytes of a gap. Returns its size, at most GAP_FRAME_MAX.
size_t gap_write(uint64_t size, uint8_t *ret);
