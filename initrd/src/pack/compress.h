// SPDX-License-Identifier: Apache-2.0
// Compresses chunks into frames on every core, and returns the frames in order. Worker threads take the next chunk,
// read and compress it; the caller's thread takes the frames. Everything they share is under one lock.
#pragma once

#include "disk/reader.h"
#include "pack/usedmap.h"

struct compress_order {
	const struct reader *reader;
	const struct usedmap *map;
	struct index *index; // each chunk's frame and hash are filled in
	int level;
};

// Takes the frame of chunk number `i`.
typedef int compress_take(void *context, uint32_t i, const uint8_t *frame, struct fault *fault);

int compress_run(const struct compress_order *order, compress_take *take, void *context, struct fault *fault);
