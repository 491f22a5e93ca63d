// SPDX-License-Identifier: Apache-2.0
// The headers of imagezip's format (.ndz), which imagehdr.h of Emulab describes: chunks of 1 MiB, each with a header
// and a zlib stream of the regions of the disk that it holds. Little-endian; places are sectors of 512 bytes. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define NDZ_CHUNK ((size_t)1 << 20)
#define NDZ_HEADER 4096u // bytes before the stream, with the regions
#define NDZ_REGIONS ((NDZ_HEADER - 24) / 8)
#define NDZ_ID 16u

struct ndz_region {
	uint64_t start, bytes; // of the disk; whole sectors
};

struct ndz_chunk {
	size_t stream; // bytes of the zlib stream
	size_t region_count;
	struct ndz_region regions[NDZ_REGIONS]; // in order, without overlap
};

// What the chunks so far reported.
struct ndz_walk {
	uint64_t total;	 // chunks of the file
	uint64_t number; // of the next one
	uint64_t end;	 // bytes of the disk that they describe
	uint32_t magic;	 // of the first one, with its version
	uint8_t id[NDZ_ID];
};

// Whether a file starts as one of any version.
bool ndz_starts(const uint8_t *head, size_t size);

// Sets up the walk through a file of that size. Returns an error of code 3 if it ends within a chunk.
int ndz_begin(uint64_t bytes, struct ndz_walk *ret, struct fault *fault);

// Reads the header of the next chunk. Returns an error of code 3 if it is damaged, out of order, or in need of what
// this reader does not have: a key, a place for relocations.
int ndz_next(struct ndz_walk *walk, const uint8_t head[NDZ_HEADER], struct ndz_chunk *ret, struct fault *fault);

// The same error for the content of the chunk whose header was read last.
int ndz_damaged(const struct ndz_walk *walk, struct fault *fault, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
