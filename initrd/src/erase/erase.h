// SPDX-License-Identifier: Apache-2.0
// Empties a disk and reads back what it did. A range that cannot be written or read does not end it.
#pragma once

#include "base/progress.h"
#include "erase/state.h"

// Returns an error of code 5 if a block does not hold what it should; of code 1 if blocks could not be written or
// read: all others are empty, and erase->bad names these.
int erase_disk(struct device *device, struct erase *erase, struct progress *progress, struct fault *fault);

// Returns an error of code 1 if some ranges could not be written or read.
int erase_judge_bad(const struct device *device, const struct erase *erase, struct fault *fault);
