// SPDX-License-Identifier: Apache-2.0
// What becomes of the disk's free space before an image's chunks are written.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/index.h"
#include "write/order.h"

// Leaves the disk's first MiB alone. `wanted`: chunks that will be written (as image/delta.h has it); with GAPS_ZERO
// these are written whole and their free granules are no concern of this. `all`: what is on the disk is of no use, so
// all of it may be discarded. A disk that cannot discard is left as it is; one that cannot zero is written to, which
// may take long: `progress` is of bytes of disk.
int gaps_clear(struct device *device, const struct index *index, const uint8_t *wanted, enum write_gaps policy,
	       bool all,
	       struct progress *progress, struct fault *fault);
