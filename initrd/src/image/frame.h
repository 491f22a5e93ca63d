// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes the data frame of a chunk. Each thread has its own `struct codec`.
#pragma once

#include "image/index.h"

struct codec;

int codec_open(int level, struct codec **ret, struct fault *fault); // zstd level, for frame_make
void codec_close(struct codec **codec);				    // for cleanup_with; *codec may be NULL

// Decodes `frame` into `data` (room for CHUNK bytes) and checks its size, that free granules are zero, and its hash.
// Code 5 names the chunk's disk offset.
int frame_read(struct codec *codec, const struct index *index, const struct chunk *chunk, const uint8_t *frame,
	       uint8_t *data, struct fault *fault);

// `data` holds the whole chunk, with zeros in free granules. Sets chunk->hash and chunk->frame; `frame` has room for
// FRAME_MAX bytes.
int frame_make(struct codec *codec, const struct index *index, struct chunk *chunk, const uint8_t *data, uint8_t *frame,
	       struct fault *fault);
