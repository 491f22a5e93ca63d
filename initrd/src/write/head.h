// SPDX-License-Identifier: Apache-2.0
// The disk's first MiB: fetched before anything is touched, written after everything else.
#pragma once

#include "disk/device.h"
#include "image/index.h"
#include "source/source.h"

// The image's first chunk, which is the disk's first MiB, checked. `data` has room for a chunk.
int head_fetch(struct source *source, const struct index *index, uint8_t *data, struct fault *fault);

// All but the first granule, then that, which takes the marker's place. Synced, and read back if asked for.
int head_write(struct device *device, const uint8_t *data, size_t size, bool check, struct fault *fault);
