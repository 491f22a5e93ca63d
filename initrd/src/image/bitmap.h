// SPDX-License-Identifier: Apache-2.0
// Sets of chunks: bit i mod 8 of byte i / 8 stands for index->chunks[i].
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "image/index.h"

size_t bitmap_size(const struct index *index);		      // bytes
void bitmap_fill(const struct index *index, uint8_t *bitmap); // sets the bits of all chunks, and no others

static inline bool bitmap_has(const uint8_t *bitmap, uint32_t i) { return bitmap[i / 8] >> (i % 8) & 1; }
static inline void bitmap_add(uint8_t *bitmap, uint32_t i) { bitmap[i / 8] |= (uint8_t)(1u << (i % 8)); }
static inline void bitmap_remove(uint8_t *bitmap, uint32_t i) { bitmap[i / 8] &= (uint8_t)~(1u << (i % 8)); }
