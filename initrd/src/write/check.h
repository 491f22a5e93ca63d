// SPDX-License-Identifier: Apache-2.0
// Reads back what was written.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/index.h"
#include "write/fit.h"
#include "write/order.h"

// Checks chunks that must hold what the index promises, except the first MiB: it is written later. Returns an error
// of code 5 that names the first chunk that differs. `salt`: mixed with random bytes to choose the samples.
int check_chunks(struct device *device, const struct index *index, const struct fit *fit, enum write_check how,
		 uint64_t salt, struct progress *progress, struct fault *fault);

// Compares one range of the disk with `data`. `size`: whole sectors, at most a BLOCK.
int check_bytes(struct device *device, const void *data, size_t size, uint64_t offset, struct fault *fault);
