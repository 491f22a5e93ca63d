// SPDX-License-Identifier: Apache-2.0
// Writes over a range of a disk, around what it cannot write.
#pragma once

#include "base/progress.h"
#include "erase/pattern.h"
#include "erase/state.h"

// With zeros by a command of the disk if it has one, else by writing; with a pattern always by writing. Only a device
// that is gone ends it: what cannot be written is added to erase->bad. *done counts for the progress.
int overwrite_range(struct device *device, struct pattern *pattern, uint64_t offset, uint64_t size, struct erase *erase,
		    struct progress *progress, uint64_t *done, struct fault *fault);
