// SPDX-License-Identifier: Apache-2.0
// The disk's first MiB: fetched before anything is changed, written after everything else.
#pragma once

#include "disk/device.h"
#include "image/index.h"
#include "source/source.h"

// Fetches and checks the image's first chunk, which is the disk's first MiB. `data` has room for a chunk.
int head_fetch(struct source *source, const struct index *index, uint8_t *data, struct fault *fault);

struct fetching {
	struct source *source;
	const struct index *index;
};

// Fetches and checks any bytes of the disk; free ones are zeros (a fit_read). `context`: a struct fetching.
int bytes_fetch(void *context, uint64_t at, size_t size, uint8_t *data, struct fault *fault);

// Writes all but the first granule, then the first, which replaces the marker. Syncs, and reads back if requested.
int head_write(struct device *device, const uint8_t *data, size_t size, bool check, struct fault *fault);
