// SPDX-License-Identifier: Apache-2.0
// Every byte of an image file that is not its tail, against its index.
#pragma once

#include "base/progress.h"
#include "source/open.h"

// Decodes and hashes each data frame and compares each gap frame, on every core, each with a stream of its own. Code 5
// names the place of a fault nearest to the start of those found before all stopped. `progress` counts bytes of file.
int prove_file(struct source *source, const struct image *image, struct progress *progress, struct fault *fault);
