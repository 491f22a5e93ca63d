// SPDX-License-Identifier: Apache-2.0
// The rest of a disk: what nothing that was recognised describes (contract/image.md, "What a writer keeps").
#pragma once

#include "base/extents.h"
#include "disk/reader.h"

// Adds to `kept` what is not zero between `start` and `end`: granules, cut at both ends. Holes of a file are not read.
int rest_keep(const struct reader *reader, uint64_t start, uint64_t end, struct extents *kept, struct fault *fault);

// Sets *ret to what the settled extents leave of the first `bytes` bytes. The caller checks ret->failed.
void rest_of(const struct extents *extents, uint64_t bytes, struct extents *ret);
