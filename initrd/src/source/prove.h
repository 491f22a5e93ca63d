// SPDX-License-Identifier: Apache-2.0
// Checks every byte of an image file before its index, against the index.
#pragma once

#include "base/progress.h"
#include "source/open.h"

// Decodes and hashes each data frame and compares each gap frame, in one thread per core, each with its own stream.
// Returns an error of code 5 that names the first damaged place. `progress` counts bytes of the file.
int prove_file(struct source *source, const struct image *image, struct progress *progress, struct fault *fault);
