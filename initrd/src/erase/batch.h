// SPDX-License-Identifier: Apache-2.0
// Several disks side by side, a thread for each. One that fails does not stop the others.
#pragma once

#include "erase/job.h"

// Erases every disk whose result is ERASED so far, and sets the result of each.
int batch_erase(struct erase_batch *batch, struct fault *fault);

// The worst of the results: 5 before 1 before 3; 4 only if no disk was touched.
enum exit_code batch_code(const struct erase_batch *batch);

// "empty: 3 disks by discard; left out: sdb (on the keep list)"; in case of a fault, the disks that failed come first.
void batch_describe(const struct erase_batch *batch, enum erase_level level, struct text *text);
void batch_free(struct erase_batch *batch);
