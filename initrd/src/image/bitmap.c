// SPDX-License-Identifier: Apache-2.0
#include "image/bitmap.h"

#include <string.h>

size_t bitmap_size(const struct index *index) { return (index->chunk_count + 7u) / 8u; }

void bitmap_fill(const struct index *index, uint8_t *bitmap) {
	memset(bitmap, 0, bitmap_size(index));
	for (uint32_t i = 0; i < index->chunk_count; i++)
		bitmap_add(bitmap, i);
}
