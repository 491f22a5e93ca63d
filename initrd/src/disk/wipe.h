// SPDX-License-Identifier: Apache-2.0
// Making a disk forget. Neither returns 0 before it has read back that it is so.
#pragma once

#include "base/progress.h"
#include "disk/device.h"

#define WIPE_EDGE (16u * BLOCK) // first and last bytes of a disk and of a partition, where signatures are
#define WIPE_SAMPLES 1024u	// places read, one in each of as many equal parts of the disk
#define WIPE_SAMPLE 4096u	// bytes of each

// Every block reads as zero: discard, checked by samples; where that is not enough, zeros, checked again.
// Code 5 when it still does not read as zero.
int wipe_clear(struct device *device, struct progress *progress, struct fault *fault);

// No partition table and no filesystem, RAID or LVM signature is left, of the disk or of a partition it had.
int wipe_signatures(struct device *device, struct progress *progress, struct fault *fault);

// 0 when the edges and samples read as zero; 1 when not, with the offset of the first that does not.
int wipe_check(struct device *device, uint64_t *ret_offset, struct fault *fault);
