// SPDX-License-Identifier: Apache-2.0
// Reads a disk back that was emptied.
#pragma once

#include "base/progress.h"
#include "erase/pattern.h"
#include "erase/state.h"

// Compares the disk, or samples of it, with `pattern` (NULL: zeros). Draws erase->seed for the samples. Returns 0 if
// all blocks that can be read match, 1 if one differs, whose offset is then in *ret_offset, and a negative error if it
// cannot continue. Ranges that cannot be read are added to erase->bad.
int readback(struct device *device, struct erase *erase, struct pattern *pattern, struct progress *progress,
	     uint64_t *ret_offset, struct fault *fault);

// Compares all of one range in the same way.
int readback_range(struct device *device, struct erase *erase, struct pattern *pattern, uint64_t offset, uint64_t size,
		   uint64_t *ret_offset, struct fault *fault);
