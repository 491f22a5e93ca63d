// SPDX-License-Identifier: Apache-2.0
// What follows the frames of an image file: index frame, trailer, seek table (contract/image.md). Pure functions.
#pragma once

#include "image/index.h"

#define SKIPPABLE 8u // bytes before the payload of a skippable frame
#define TRAILER 136u
#define SEEK_FOOTER 9u

struct trailer {
	uint64_t index_at, index_size; // payload
	uint8_t digest[HASH];
};

// Head of a skippable frame, SKIPPABLE bytes.
void skippable_write(uint32_t magic, uint32_t size, uint8_t *ret);
#define SKIPPABLE_INDEX 0x184D2A5Au
#define SKIPPABLE_TRAILER 0x184D2A5Bu

// Whole frame, SKIPPABLE + TRAILER bytes.
void trailer_write(const struct trailer *trailer, uint8_t *ret);
int trailer_parse(const uint8_t *frame, struct trailer *ret, struct fault *fault);

// Whole frame of the seek table, to be freed. -ENOMEM.
int seek_table_write(const struct index *index, size_t index_size, uint8_t **ret_data, size_t *ret_size);

// Size of the seek table's frame, from the last SEEK_FOOTER bytes of the file; 0: this is not a seekable zstd file.
uint64_t seek_table_size(const uint8_t *footer);

uint64_t file_size(const struct index *index, size_t index_size); // bytes of the whole image file
