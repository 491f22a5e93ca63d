// SPDX-License-Identifier: Apache-2.0
// Reading back what was written.
#pragma once

#include "base/progress.h"
#include "disk/device.h"
#include "image/index.h"
#include "write/fit.h"
#include "write/order.h"

// Chunks that hold what the index promises, the first MiB left out: it is written later. Code 5 names the first that is
// not as written. `salt`: with chance, what a sample is drawn by.
int check_chunks(struct device *device, const struct index *index, const struct fit *fit, enum write_check how,
		 uint64_t salt,
		 struct progress *progress, struct fault *fault);

// The same of one range, whose bytes are at hand. `size`: whole sectors, at most a BLOCK.
int check_bytes(struct device *device, const void *data, size_t size, uint64_t offset, struct fault *fault);
