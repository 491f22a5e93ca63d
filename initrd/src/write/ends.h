// SPDX-License-Identifier: Apache-2.0
// The first and the last bytes of a disk in memory, where its partition tables are.
#pragma once

#include "disk/device.h"
#include "image/index.h"

#define ENDS_TAIL ((size_t)512 << 10) // more than the largest table that is read

struct ends {
	uint64_t bytes; // of the disk
	uint32_t sector;
	uint8_t *head, *tail; // CHUNK and ENDS_TAIL
};

int ends_open(uint64_t bytes, uint32_t sector, struct ends *ret, struct fault *fault);
int ends_copy(const struct ends *from, struct ends *ret, struct fault *fault);
void ends_close(struct ends *ends); // for cleanup_with

uint64_t ends_tail_at(const struct ends *ends);

// Copies `size` bytes at the disk's `at` into the tail, or out of it, as far as they lie there.
void ends_put(struct ends *ends, const uint8_t *data, size_t size, uint64_t at);
void ends_get(const struct ends *ends, uint8_t *data, size_t size, uint64_t at);

// Does what the verb `grow` does to a disk. False: nothing changes, or it cannot.
bool ends_grow(struct ends *ends);
