// SPDX-License-Identifier: Apache-2.0
// Turns the used map of a disk into the chunks of its image, and reads their bytes.
#pragma once

#include "disk/reader.h"
#include "pack/usedmap.h"

// Sets the partitions, and the chunks with their used granules. Free with index_free. Returns an error of code 3 if
// there are more than an image may have.
int chunks_plan(const struct reader *reader, const struct usedmap *map, struct index *ret, struct fault *fault);

// Reads the whole chunk as the image stores it: the kept bytes, and zeros. `data`: CHUNK bytes, aligned to READ_ALIGN.
int chunk_load(const struct reader *reader, const struct usedmap *map, const struct index *index,
	       const struct chunk *chunk, uint8_t *data, struct fault *fault);
