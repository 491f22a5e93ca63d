// SPDX-License-Identifier: Apache-2.0
// Divides the wanted chunks of an image into ranges of its file. Pure functions.
#pragma once

#include "image/index.h"

#define RANGE_MAX ((uint64_t)8 << 20) // bytes of file in one range, at most
#define GAP_MAX ((uint64_t)128 << 10) // longest gap that is read and discarded: cheaper than another request

// Chunks first to end-1 of the index; the first and the last one are wanted.
struct range {
	uint32_t first, end;
};

static inline bool is_wanted(const uint8_t *wanted, uint32_t i) { return !wanted || wanted[i / 8] >> (i % 8) & 1; }
static inline uint64_t frame_end(const struct chunk *chunk) { return chunk->at + chunk->frame; }

// Finds the next range at or after chunk `from`. Returns false if there is none.
bool range_next(const struct index *index, const uint8_t *wanted, uint32_t from, struct range *ret);
