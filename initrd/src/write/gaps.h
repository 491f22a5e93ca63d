// SPDX-License-Identifier: Apache-2.0
// Handles the free space of the disk before the chunks of an image are written.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/index.h"
#include "write/order.h"

// Does not change the disk's first MiB. `wanted`: chunks that will be written (write/delta.h); with GAPS_ZERO they are
// written whole, so their free granules are skipped here. `all`: nothing on the disk is needed, so all of it may be
// discarded. A disk that cannot discard is left unchanged; to one that cannot zero, zeros are written, which may take
// long: `progress` counts bytes of the disk.
int gaps_clear(struct device *device, const struct index *index, const uint8_t *wanted, enum write_gaps policy,
	       bool all, struct progress *progress, struct fault *fault);
