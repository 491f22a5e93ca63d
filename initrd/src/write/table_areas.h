// SPDX-License-Identifier: Apache-2.0
// The first and the last bytes of a disk in memory, where its partition tables are.
#pragma once

#include "disk/grow.h"
#include "image/index.h"

#define TABLE_AREAS_TAIL ((size_t)512 << 10) // more than the largest table that is read

struct table_areas {
	uint64_t bytes; // of the disk
	uint32_t sector;
	uint8_t *head, *tail; // CHUNK and TABLE_AREAS_TAIL
};

// Allocates both areas, filled with zeros. Returns an error of code 1 if memory is short.
int table_areas_open(uint64_t bytes, uint32_t sector, struct table_areas *ret, struct fault *fault);
int table_areas_copy(const struct table_areas *from, struct table_areas *ret, struct fault *fault);
void table_areas_close(struct table_areas *areas); // for cleanup_with

// Returns the offset of the tail on the disk.
uint64_t table_areas_tail_at(const struct table_areas *areas);

// Copy those of the `size` bytes at offset `at` of the disk that lie in the tail: put from `data`, get to `data`.
void table_areas_put(struct table_areas *areas, const uint8_t *data, size_t size, uint64_t at);
void table_areas_get(const struct table_areas *areas, uint8_t *data, size_t size, uint64_t at);

// Grows the last partition as the verb `grow` does. Returns false if nothing changed, or it cannot grow.
bool table_areas_grow(struct table_areas *areas, grow_limit *limit, void *context);
