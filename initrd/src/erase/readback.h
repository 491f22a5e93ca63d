// SPDX-License-Identifier: Apache-2.0
// Reads a disk back that was emptied.
#pragma once

#include "base/progress.h"
#include "erase/pattern.h"
#include "erase/state.h"

// What the disk should hold: NULL: zeros. 0: it does, where it can be read; erase->bad has the rest. 1: it does not, at
// *ret_offset. Draws a seed for samples.
int readback(struct device *device, struct erase *erase, struct pattern *pattern, struct progress *progress,
	     uint64_t *ret_offset, struct fault *fault);

// The same for all of one range.
int readback_range(struct device *device, struct erase *erase, struct pattern *pattern, uint64_t offset, uint64_t size,
		   uint64_t *ret_offset, struct fault *fault);
