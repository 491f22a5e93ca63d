// SPDX-License-Identifier: Apache-2.0
// Reads a range of a disk in blocks, or samples of it, some of them ahead of the caller. Uses io_uring if the kernel
// has it; else, and of devices without a descriptor, each block is read when it is taken.
#pragma once

#include "disk/device.h"

#define AHEAD_DEPTH 4u	  // buffers of BLOCK bytes
#define AHEAD_MOST 8u	  // of a disk with few others beside it
#define AHEAD_SAMPLES 32u // buffers of a sample: a disk moves its heads for each

struct ahead;

// `depth`: buffers, at most AHEAD_MOST.
int ahead_open(struct device *device, uint64_t offset, uint64_t size, unsigned depth, struct ahead **ret,
	       struct fault *fault);

// The same for `count` blocks of `unit` bytes, at most BLOCK. `place` returns where the i-th is.
typedef uint64_t ahead_place(const void *context, uint64_t i);
int ahead_open_samples(struct device *device, uint64_t count, uint32_t unit, ahead_place *place, const void *context,
		       struct ahead **ret, struct fault *fault);

// Blocks for which `skip` is true are not read: they fail with -EIO. A block that is bad costs a drive half a minute.
typedef bool ahead_skip(const void *context, uint64_t offset, uint64_t size);
void ahead_leave_out(struct ahead *ahead, ahead_skip *skip, const void *context);

void ahead_close(struct ahead **ahead); // for cleanup_with; *ahead may be NULL. Waits for the pending reads.

// The next block, until the one after it is taken. Returns 1; 0 behind the last one; or what
// reading this block failed with, in which case *ret_offset and *ret_size are set too, and the next call continues.
int ahead_next(struct ahead *ahead, const uint8_t **ret, uint64_t *ret_offset, uint32_t *ret_size);
