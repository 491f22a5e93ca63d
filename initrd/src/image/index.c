// SPDX-License-Identifier: Apache-2.0
#include "image/index.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "image/gap_frame.h"

#define MAGIC_DISK "sled-img"
#define MAGIC_PARTITION "sled-prt"
#define MAGIC 8u // bytes
#define VERSION 1u
#define HEAD 40u
#define PARTITION 40u

static int refuse(struct fault *fault, const char *what, unsigned long long value) {
	return fault_set(fault, CODE_INTEGRITY, "image index: %s (%llu)", what, value);
}

static bool content_is_right(const char *content) {
	size_t n = strspn(content, "abcdefghijklmnopqrstuvwxyz0123456789_");

	for (size_t i = n; i < CONTENT; i++)
		if (content[i])
			return false;
	return n > 0;
}

static int parse_partition(const uint8_t *p, const struct index *index, uint64_t least, struct index_partition *ret,
			   struct fault *fault) {
	*ret = (struct index_partition){get_le64(p), get_le64(p + 8), get_le64(p + 16), ""};
	memcpy(ret->content, p + 24, CONTENT);
	if (ret->start < least || ret->start >= index->bytes)
		return refuse(fault, "a partition has an impossible start", ret->start);
	if (ret->bytes > index->bytes - ret->start)
		return refuse(fault, "a partition ends past the end of the disk", ret->bytes);
	if (ret->used > ret->bytes)
		return refuse(fault, "a partition uses more bytes than it has", ret->used);
	if (!content_is_right(ret->content))
		return refuse(fault, "the content of a partition has no name", ret->start);
	return 0;
}

// At least one used granule, and none past the end of the disk.
static bool bitmap_is_right(const struct index *index, const struct chunk *chunk) {
	size_t granules = (chunk_size(index, chunk) + GRANULE - 1) / GRANULE;
	bool any = false;

	for (size_t i = 0; i < CHUNK_GRANULES; i++) {
		bool used = chunk->used[i / 8] >> (i % 8) & 1;
		if (used && i >= granules)
			return false;
		any |= used;
	}
	return any;
}

static int parse_chunk(const uint8_t *p, const struct index *index, uint64_t least, struct chunk *ret,
		       struct fault *fault) {
	*ret = (struct chunk){.offset = get_le64(p), .at = get_le64(p + 8), .frame = get_le32(p + 16)};
	memcpy(ret->used, p + 20, sizeof(ret->used));
	memcpy(ret->hash, p + 52, sizeof(ret->hash));
	if (ret->offset % CHUNK || ret->offset < least || ret->offset >= index->bytes)
		return refuse(fault, "a chunk has an impossible offset", ret->offset);
	if (ret->frame == 0 || ret->frame > FRAME_MAX)
		return refuse(fault, "a frame has an impossible size", ret->frame);
	if (!bitmap_is_right(index, ret))
		return refuse(fault, "a chunk has impossible used granules", ret->offset);
	return 0;
}

static int parse_head(const uint8_t *data, size_t size, struct index *index, struct fault *fault) {
	index->is_partition = size >= HEAD && memcmp(data, MAGIC_PARTITION, MAGIC) == 0;
	if (size < HEAD || (!index->is_partition && memcmp(data, MAGIC_DISK, MAGIC) != 0))
		return fault_set(fault, CODE_INTEGRITY, "this is not an image index");
	if (get_le32(data + 8) != VERSION)
		return fault_set(fault, CODE_UNSUPPORTED, "image index: version %u, this program reads %u",
				 get_le32(data + 8), VERSION);
	index->sector = get_le32(data + 12);
	index->bytes = get_le64(data + 16);
	index->chunk_count = get_le32(data + 32);
	index->partition_count = get_le32(data + 36);
	if (index->sector != 512 && index->sector != 4096)
		return refuse(fault, "sector size is neither 512 nor 4096", index->sector);
	if (index->bytes == 0 || index->bytes > NUMBER_MAX || index->bytes % index->sector)
		return refuse(fault, "impossible size of the disk", index->bytes);
	if (index->bytes > DISK_MAX)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "image index: a disk of %llu bytes; at most 2^50 are supported",
				 (unsigned long long)index->bytes);
	if (index->chunk_count > CHUNKS_MAX || index->partition_count > INDEX_PARTITIONS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED,
				 "image index: %u chunks and %u partitions; at most %u and %u are supported",
				 index->chunk_count, index->partition_count, CHUNKS_MAX, INDEX_PARTITIONS_MAX);
	if (size != HEAD + (uint64_t)index->partition_count * PARTITION + (uint64_t)index->chunk_count * INDEX_ENTRY)
		return refuse(fault, "its size does not match its number of chunks and partitions", size);
	return 0;
}

static int parse_tables(const uint8_t *data, struct index *index, struct fault *fault) {
	const uint8_t *p = data + HEAD;
	uint64_t least = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < index->partition_count; i++, p += PARTITION) {
		r = parse_partition(p, index, least, &index->partitions[i], fault);
		least = index->partitions[i].start;
	}
	least = 0;
	for (uint32_t i = 0; r == 0 && i < index->chunk_count; i++, p += INDEX_ENTRY) {
		r = parse_chunk(p, index, least, &index->chunks[i], fault);
		least = index->chunks[i].offset + CHUNK;
	}
	return r;
}

// Layout and total follow from the chunks: the values in the file must be exactly these.
static int check_consequences(const uint8_t *data, struct index *index, struct fault *fault) {
	const uint8_t *p = data + HEAD + (size_t)index->partition_count * PARTITION;

	index_lay_out(index);
	if (index->used != get_le64(data + 24))
		return refuse(fault, "its total of used bytes is wrong", get_le64(data + 24));
	for (uint32_t i = 0; i < index->chunk_count; i++, p += INDEX_ENTRY)
		if (index->chunks[i].at != get_le64(p + 8))
			return refuse(fault, "a frame does not start where the frames before it end", get_le64(p + 8));
	return 0;
}

int index_parse(const uint8_t *data, size_t size, struct index *ret, struct fault *fault) {
	struct index index = {0};
	int r = parse_head(data, size, &index, fault);

	if (r < 0)
		return r;
	index.chunks = calloc(index.chunk_count + 1u, sizeof(*index.chunks));
	if (!index.chunks)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image index");
	r = parse_tables(data, &index, fault);
	if (r == 0)
		r = check_consequences(data, &index, fault);
	if (r < 0)
		index_free(&index);
	else
		*ret = index;
	return r;
}

int index_encode(const struct index *index, uint8_t **ret_data, size_t *ret_size) {
	size_t size = HEAD + (size_t)index->partition_count * PARTITION + (size_t)index->chunk_count * INDEX_ENTRY;
	uint8_t *data = calloc(1, size), *p = data + HEAD;

	if (!data)
		return -ENOMEM;
	memcpy(data, index->is_partition ? MAGIC_PARTITION : MAGIC_DISK, MAGIC);
	put_le32(data + 8, VERSION);
	put_le32(data + 12, index->sector);
	put_le64(data + 16, index->bytes);
	put_le64(data + 24, index->used);
	put_le32(data + 32, index->chunk_count);
	put_le32(data + 36, index->partition_count);
	for (uint32_t i = 0; i < index->partition_count; i++, p += PARTITION) {
		put_le64(p, index->partitions[i].start);
		put_le64(p + 8, index->partitions[i].bytes);
		put_le64(p + 16, index->partitions[i].used);
		memcpy(p + 24, index->partitions[i].content, strnlen(index->partitions[i].content, CONTENT));
	}
	for (uint32_t i = 0; i < index->chunk_count; i++, p += INDEX_ENTRY) {
		put_le64(p, index->chunks[i].offset);
		put_le64(p + 8, index->chunks[i].at);
		put_le32(p + 16, index->chunks[i].frame);
		memcpy(p + 20, index->chunks[i].used, sizeof(index->chunks[i].used));
		memcpy(p + 52, index->chunks[i].hash, HASH);
	}
	*ret_data = data;
	*ret_size = size;
	return 0;
}

int index_room(uint64_t chunks, struct fault *fault) {
	const uint64_t each = INDEX_ENTRY + sizeof(struct chunk) + 2 * 8; // payload, chunk, two seek tables
	char what[64];

	snprintf(what, sizeof(what), "an image of %llu chunks of 1 MiB", (unsigned long long)chunks);
	return chunks <= CHUNKS_ALWAYS ? 0 : memory_check("", chunks * each, what, fault);
}

void index_free(struct index *index) {
	free(index->chunks);
	*index = (struct index){0};
}

void index_lay_out(struct index *index) {
	uint64_t at = 0, end = 0;

	index->used = 0;
	for (uint32_t i = 0; i < index->chunk_count; i++) {
		struct chunk *chunk = &index->chunks[i];
		at += gap_size(chunk->offset - end);
		chunk->at = at;
		at += chunk->frame;
		end = chunk->offset + CHUNK;
		index->used += chunk_used(index, chunk);
	}
}

uint64_t index_end(const struct index *index) {
	const struct chunk *last = index->chunk_count ? &index->chunks[index->chunk_count - 1] : NULL;
	uint64_t end = last ? last->offset + chunk_size(index, last) : 0;

	return (last ? last->at + last->frame : 0) + gap_size(index->bytes - end);
}

size_t chunk_size(const struct index *index, const struct chunk *chunk) {
	uint64_t left = index->bytes - chunk->offset;
	return left < CHUNK ? (size_t)left : CHUNK;
}

bool chunk_run(const struct index *index, const struct chunk *chunk, size_t from, size_t *ret_from, size_t *ret_size) {
	size_t size = chunk_size(index, chunk), granules = (size + GRANULE - 1) / GRANULE,
	       i = (from + GRANULE - 1) / GRANULE, end;

	while (i < granules && !(chunk->used[i / 8] >> (i % 8) & 1))
		i++;
	if (i >= granules)
		return false;
	for (end = i; end < granules && chunk->used[end / 8] >> (end % 8) & 1;)
		end++;
	*ret_from = i * GRANULE;
	*ret_size = (end * GRANULE < size ? end * GRANULE : size) - *ret_from;
	return true;
}

bool chunk_runs(const struct index *index, const struct chunk *chunk, size_t from, size_t gap, size_t *ret_from,
		size_t *ret_size) {
	size_t more_from, more;

	if (!chunk_run(index, chunk, from, ret_from, ret_size))
		return false;
	while (chunk_run(index, chunk, *ret_from + *ret_size, &more_from, &more) &&
	       more_from - (*ret_from + *ret_size) <= gap)
		*ret_size = more_from + more - *ret_from;
	return true;
}

size_t chunk_used(const struct index *index, const struct chunk *chunk) {
	size_t sum = 0;

	for (size_t from = 0, size = 0; chunk_run(index, chunk, from, &from, &size); from += size)
		sum += size;
	return sum;
}

int chunk_hash(const struct index *index, const struct chunk *chunk, const uint8_t *data, uint8_t ret[HASH]) {
	EVP_MD_CTX *hash = EVP_MD_CTX_new();
	bool right = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL);

	for (size_t from = 0, size = 0; right && chunk_run(index, chunk, from, &from, &size); from += size)
		right = EVP_DigestUpdate(hash, data + from, size);
	right = right && EVP_DigestFinal_ex(hash, ret, NULL);
	EVP_MD_CTX_free(hash);
	return right ? 0 : -EIO;
}
