// SPDX-License-Identifier: Apache-2.0
// How the wanted chunks of an image are cut into ranges of its file. Pure functions.
#pragma once

#include "image/index.h"

#define SPAN ((uint64_t)8 << 20)   // bytes of file in one range, at most
#define STEP ((uint64_t)128 << 10) // longest gap that is read and thrown away: cheaper than another request

// Chunks first..end-1 of the index: wanted at both ends.
struct span {
	uint32_t first, end;
};

static inline bool is_wanted(const uint8_t *wanted, uint32_t i) { return !wanted || wanted[i / 8] >> (i % 8) & 1; }
static inline uint64_t frame_end(const struct chunk *chunk) { return chunk->at + chunk->frame; }

// The next span at or after chunk `from`. False: nothing is wanted any more.
bool span_next(const struct index *index, const uint8_t *wanted, uint32_t from, struct span *ret);
