// SPDX-License-Identifier: Apache-2.0
// A chunk's data frame: made and read. One `struct codec` for each thread.
#pragma once

#include "image/index.h"

struct codec;

int codec_open(int level, struct codec **ret, struct fault *fault); // zstd level, for frame_make
void codec_close(struct codec **codec);				    // for cleanup_with; *codec may be NULL

// Decodes `frame` into `data` (CHUNK bytes of room) and checks it: size, no used byte outside, hash. Code 5 names the
// chunk's disk offset.
int frame_read(struct codec *codec, const struct index *index, const struct chunk *chunk, const uint8_t *frame,
	       uint8_t *data,
	       struct fault *fault);

// `data` holds the whole chunk, free granules as zeros. Sets chunk->hash and chunk->frame; `frame` has FRAME_MAX bytes
// of room.
int frame_make(struct codec *codec, const struct index *index, struct chunk *chunk, const uint8_t *data, uint8_t *frame,
	       struct fault *fault);
