// SPDX-License-Identifier: Apache-2.0
// Empties a disk. Both functions read the result back before they return 0.
#pragma once

#include "base/progress.h"
#include "disk/device.h"

#define WIPE_EDGE (16u * BLOCK) // first and last bytes of a disk and of a partition, where signatures are
#define WIPE_SAMPLES 1024u	// samples that are read, one in each equal part of the disk
#define WIPE_SAMPLE 4096u	// bytes of each

// Makes every block read as zero: discards, and checks samples; if they are not zero, writes zeros and checks again.
// Code 5 if they are still not zero.
int wipe_clear(struct device *device, struct progress *progress, struct fault *fault);

// Removes the partition table and the signatures of filesystems, RAID and LVM, of the disk and of its partitions.
int wipe_signatures(struct device *device, struct progress *progress, struct fault *fault);

// 0: the edges and the samples read as zero. 1: not all of them, with the offset of the first that does not.
int wipe_check(struct device *device, uint64_t *ret_offset, struct fault *fault);
