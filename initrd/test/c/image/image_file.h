// SPDX-License-Identifier: Apache-2.0
// An image file of what is on a disk in memory.
#pragma once

#include <openssl/evp.h>
#include <stdio.h>

#include "image/frame.h"
#include "image/gap_frame.h"
#include "image/layout.h"
#include "memory_image.h"

static inline void put(FILE *out, const void *data, size_t size) {
	if (fwrite(data, 1, size, out) != size)
		abort();
}

static inline void put_gap(FILE *out, uint64_t size) {
	uint8_t frame[GAP_FRAME_MAX];

	for (uint64_t n; size > 0; size -= n) {
		put(out, frame, gap_write(size, frame));
		n = size < GAP_MAX ? size : GAP_MAX;
	}
}

// Frames of all chunks and gaps; fills in what of the index follows from them. Free granules of `disk` become zeros.
static inline void put_frames(FILE *out, struct index *index, const unsigned char *disk) {
	struct codec *codec = NULL;
	struct fault fault;
	uint8_t *frame = malloc(FRAME_MAX), *data = malloc(CHUNK);
	uint64_t end = 0;

	if (!frame || !data || codec_open(1, &codec, &fault) < 0)
		abort();
	for (uint32_t i = 0; i < index->chunk_count; i++) {
		struct chunk *chunk = &index->chunks[i];
		memset(data, 0, CHUNK);
		for (size_t from = 0, size = 0; chunk_run(index, chunk, from, &from, &size); from += size)
			memcpy(data + from, disk + chunk->offset + from, size);
		if (frame_make(codec, index, chunk, data, frame, &fault) < 0)
			abort();
		put_gap(out, chunk->offset - end);
		put(out, frame, chunk->frame);
		end = chunk->offset + chunk_size(index, chunk);
	}
	put_gap(out, index->bytes - end);
	codec_close(&codec);
	free(frame);
	free(data);
}

// Returns the size of the file.
static inline uint64_t image_file(const char *path, struct index *index, const unsigned char *disk) {
	FILE *out = fopen(path, "w");
	uint8_t head[SKIPPABLE], end[SKIPPABLE + TRAILER], *payload = NULL, *table = NULL;
	struct trailer trailer = {0};
	size_t size = 0, table_size = 0;

	if (!out)
		abort();
	put_frames(out, index, disk);
	index_lay_out(index);
	if (index_encode(index, &payload, &size) < 0 || seek_table_write(index, size, &table, &table_size) < 0)
		abort();
	trailer = (struct trailer){.index_at = index_end(index) + SKIPPABLE, .index_size = size};
	if (EVP_Digest(payload, size, trailer.digest, NULL, EVP_sha256(), NULL) != 1)
		abort();
	skippable_write(SKIPPABLE_INDEX, (uint32_t)size, head);
	trailer_write(&trailer, end);
	put(out, head, sizeof(head));
	put(out, payload, size);
	put(out, end, sizeof(end));
	put(out, table, table_size);
	if (fclose(out) != 0)
		abort();
	free(payload);
	free(table);
	return file_size(index, size);
}
