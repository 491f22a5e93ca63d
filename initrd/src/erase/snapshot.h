// SPDX-License-Identifier: Apache-2.0
// What blocks of a disk held before a command of the drive, and whether they hold it still.
#pragma once

#include "base/progress.h"
#include "erase/state.h"

struct snapshot {
	struct device *device;
	uint8_t seed[SEED];
	uint64_t samples; // 0: all blocks of a small disk
	uint64_t count;	  // blocks: of both edges and the samples
	uint64_t *held;	  // of each block: a hash, or one of the values below
	bool uniform;	  // each of them held one byte repeated
};

#define HELD_UNREADABLE 0u
#define HELD_UNIFORM 1u // one byte repeated: it may be the same again

// Draws the seed and reads the blocks. What cannot be read is not compared. Fails if the disk is gone.
int snapshot_take(struct device *device, struct snapshot *ret, struct fault *fault);

// Reads them again, and with erase->full all of a disk that holds one byte repeated in each block. 0: none holds what
// it held; erase->bad has what cannot be read. 1: one does, at *ret_offset, or is not like the others.
int snapshot_compare(const struct snapshot *snapshot, struct erase *erase, struct progress *progress,
		     uint64_t *ret_offset, struct fault *fault);

void snapshot_free(struct snapshot *snapshot);
