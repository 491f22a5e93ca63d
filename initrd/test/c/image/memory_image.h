// SPDX-License-Identifier: Apache-2.0
// The index of what is on a disk in memory, granule by granule as a test wants it.
#pragma once

#include <stdlib.h>

#include "image/index.h"
#include "disk/memory_disk.h"

static inline struct index image_begin(uint64_t bytes, uint32_t sector) {
	return (struct index){
		.bytes = bytes, .sector = sector, .chunks = calloc((bytes + CHUNK - 1) / CHUNK, sizeof(struct chunk))};
}

// Bytes [from, from + size) are used. Ranges come in order of the disk.
static inline void image_use(struct index *index, uint64_t from, uint64_t size) {
	for (uint64_t granule = from / GRANULE; granule * GRANULE < from + size; granule++) {
		uint64_t offset = granule * GRANULE / CHUNK * CHUNK, bit = granule % CHUNK_GRANULES;
		if (index->chunk_count == 0 || index->chunks[index->chunk_count - 1].offset != offset)
			index->chunks[index->chunk_count++] = (struct chunk){.offset = offset, .frame = 100};
		index->chunks[index->chunk_count - 1].used[bit / 8] |= (uint8_t)(1u << (bit % 8));
	}
}

// Hashes what the disk holds there now.
static inline void image_end(struct index *index, const struct memory_disk *m) {
	for (uint32_t i = 0; i < index->chunk_count; i++)
		if (chunk_hash(index, &index->chunks[i], m->data + index->chunks[i].offset, index->chunks[i].hash) < 0)
			abort();
	index_lay_out(index);
}
