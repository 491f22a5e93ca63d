// SPDX-License-Identifier: Apache-2.0
// From the used map of a disk to the chunks of its image, and to the bytes of each.
#pragma once

#include "disk/reader.h"
#include "pack/usedmap.h"

// Partitions, and chunks with their used granules; to be freed with index_free. Code 3 when there are more than an
// image may have.
int chunks_plan(const struct reader *reader, const struct usedmap *map, struct index *ret, struct fault *fault);

// The whole chunk as it stands in the image: what is kept, and zeros. `data`: CHUNK bytes, aligned to READ_ALIGN.
int chunk_load(const struct reader *reader, const struct usedmap *map, const struct index *index,
	       const struct chunk *chunk, uint8_t *data,
	       struct fault *fault);
