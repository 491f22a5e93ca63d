// SPDX-License-Identifier: Apache-2.0
// The index of an image and the layout that follows from it (contract/image.md). Pure functions over buffers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define CHUNK ((uint64_t)1 << 20) // bytes of disk
#define GRANULE 4096u
#define CHUNK_GRANULES 256u
#define FRAME_MAX (CHUNK + 8192) // bytes of a data frame
#define CHUNKS_MAX (1u << 25)
#define CHUNKS_ALWAYS (1u << 21) // whatever memory there is
#define DISK_MAX ((uint64_t)1 << 50)
#define INDEX_PARTITIONS_MAX 128u
#define INDEX_ENTRY 84u // bytes of a chunk
// Bytes of an index payload.
#define INDEX_SIZE_MAX (40 + 40ull * INDEX_PARTITIONS_MAX + (uint64_t)INDEX_ENTRY * CHUNKS_MAX)
#define HASH 32u
#define CONTENT 16u // bytes of a partition's content, NUL-padded

struct index_partition {
	uint64_t start, bytes, used;
	char content[CONTENT + 1];
};

struct chunk {
	uint64_t offset; // on the disk
	uint64_t at;	 // of its frame in the file
	uint32_t frame;	 // bytes
	uint8_t used[CHUNK_GRANULES / 8];
	uint8_t hash[HASH];
};

struct index {
	uint64_t bytes, used;
	uint32_t sector;
	bool is_partition; // of one partition: its bytes, not those of a disk
	uint32_t chunk_count, partition_count;
	struct chunk *chunks;
	struct index_partition partitions[INDEX_PARTITIONS_MAX];
};

// Free `ret` only after success. Returns an error of code 5 for an impossible index, 3 for an unknown version or too
// many chunks.
int index_parse(const uint8_t *data, size_t size, struct index *ret, struct fault *fault);

// The payload; it must be freed. -ENOMEM.
int index_encode(const struct index *index, uint8_t **ret_data, size_t *ret_size);
void index_free(struct index *index);

// Sets `at` of each chunk from their frames' sizes, and `used`.
void index_lay_out(struct index *index);

// Returns an error of code 3 if there is no memory to read, or to make, an index of so many chunks; 0 if they are
// few enough for each machine.
int index_room(uint64_t chunks, struct fault *fault);

uint64_t index_end(const struct index *index); // bytes of all frames before the index's own

// Bytes of disk that the chunk covers: CHUNK, less for the disk's last.
size_t chunk_size(const struct index *index, const struct chunk *chunk);

// Finds the next run of used bytes at or after `from` in the chunk. Returns false if there is none.
bool chunk_run(const struct index *index, const struct chunk *chunk, size_t from, size_t *ret_from, size_t *ret_size);

// The same, joined with the following runs as long as each follows after at most `gap` free bytes: one transfer.
bool chunk_runs(const struct index *index, const struct chunk *chunk, size_t from, size_t gap, size_t *ret_from,
		size_t *ret_size);
size_t chunk_used(const struct index *index, const struct chunk *chunk); // bytes

// Computes the SHA-256 of the used bytes of the chunk; `data` holds the whole chunk. Returns -EIO if libcrypto
// failed.
int chunk_hash(const struct index *index, const struct chunk *chunk, const uint8_t *data, uint8_t ret[HASH]);
