// SPDX-License-Identifier: Apache-2.0
#include "pack/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "disk/stamp.h"

// Chunks in which there is something.
static uint64_t count_chunks(const struct extents *granules) {
	uint64_t count = 0, next = 0;

	for (size_t i = 0; i < granules->count; i++) {
		uint64_t first = granules->items[i].start / CHUNK, end = (granules->items[i].end + CHUNK - 1) / CHUNK;
		first = first < next ? next : first;
		count += end > first ? end - first : 0;
		next = end;
	}
	return count;
}

// Room for all of them, which no image may lack: what is found out here costs no hour of reading.
static int make_room(struct index *index, uint64_t chunks, const char *name, struct fault *fault) {
	int r;

	if (chunks > CHUNKS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "%s: %llu chunks of 1 MiB hold something, but an image has at most %u (32 TiB); "
				 "content that is kept whole, such as LVM or LUKS, counts with all of its size",
				 name, (unsigned long long)chunks, CHUNKS_MAX);
	r = index_room(chunks, fault);
	if (r < 0)
		return fault_prefix(fault, r, "%s: ", name);
	index->chunks = calloc(chunks + 1, sizeof(*index->chunks));
	return index->chunks ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "chunks");
}

static struct chunk *chunk_at(struct index *index, uint64_t offset) {
	struct chunk *last = index->chunk_count ? &index->chunks[index->chunk_count - 1] : NULL;

	if (last && last->offset == offset)
		return last;
	index->chunks[index->chunk_count] = (struct chunk){.offset = offset};
	return &index->chunks[index->chunk_count++];
}

static void add_granules(struct index *index, uint64_t first, uint64_t end) {
	for (uint64_t granule = first; granule < end; granule++) {
		uint64_t i = granule % CHUNK_GRANULES;
		struct chunk *chunk = chunk_at(index, (granule - i) * GRANULE);
		if (i == 0 && end - granule >= CHUNK_GRANULES) {
			memset(chunk->used, 0xff, sizeof(chunk->used));
			granule += CHUNK_GRANULES - 1;
		} else
			chunk->used[i / 8] |= (uint8_t)(1 << i % 8);
	}
}

// The granules of both lists, in order.
static void add_rounded(struct extents *to, const struct extents *from, uint64_t disk) {
	for (size_t i = 0; i < from->count; i++) {
		uint64_t end = (from->items[i].end + GRANULE - 1) / GRANULE * GRANULE;
		if (from->items[i].start < disk)
			extents_add(to, from->items[i].start / GRANULE * GRANULE, end);
	}
}

int chunks_plan(const struct reader *reader, const struct usedmap *map, struct index *ret, struct fault *fault) {
	cleanup_with(extents_free) struct extents granules = {0};
	cleanup_with(index_free) struct index index = {.bytes = reader->bytes,
						       .sector = map->sector,
						       .is_partition = map->is_partition,
						       .partition_count = map->partition_count};
	int r;

	memcpy(index.partitions, map->partitions, sizeof(index.partitions));
	if (index.bytes > DISK_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "%s is larger than the maximum of an image (2^50 bytes)",
				 reader->name);
	add_rounded(&granules, &map->kept, index.bytes);
	add_rounded(&granules, &map->marks, index.bytes);
	extents_settle(&granules);
	if (granules.failed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "chunks");
	r = make_room(&index, count_chunks(&granules), reader->name, fault);
	if (r < 0)
		return r;
	for (size_t i = 0; i < granules.count; i++)
		add_granules(&index, granules.items[i].start / GRANULE, granules.items[i].end / GRANULE);
	*ret = index;
	index.chunks = NULL;
	return 0;
}

// Zeroes everything that is not kept.
static void mask(const struct extents *kept, uint64_t offset, size_t size, uint8_t *data) {
	size_t done = 0;

	for (size_t i = extents_find(kept, 0, offset); i < kept->count && kept->items[i].start < offset + size; i++) {
		size_t from = kept->items[i].start > offset ? (size_t)(kept->items[i].start - offset) : 0;
		size_t to = kept->items[i].end - offset < size ? (size_t)(kept->items[i].end - offset) : size;
		memset(data + done, 0, from - done);
		done = to;
	}
	memset(data + done, 0, size - done);
}

// An image is of no plan: the stamp of the disk that it is made of is left out.
static void hide_stamp(const struct index *index, const struct chunk *chunk, uint8_t *data) {
	struct stamp stamp;

	if (!index->is_partition && chunk->offset == 0 && chunk_size(index, chunk) == CHUNK &&
	    stamp_read(data + STAMP_AT, &stamp))
		memset(data + STAMP_AT, 0, STAMP_BYTES);
}

int chunk_load(const struct reader *reader, const struct usedmap *map, const struct index *index,
	       const struct chunk *chunk, uint8_t *data, struct fault *fault) {
	size_t at = 0, size = 0;
	int r = 0;

	while (r == 0 && chunk_run(index, chunk, at + size, &at, &size))
		r = reader_read(reader, data + at, size, chunk->offset + at, fault);
	if (r == 0)
		mask(&map->kept, chunk->offset, chunk_size(index, chunk), data);
	if (r == 0)
		hide_stamp(index, chunk, data);
	return r;
}
