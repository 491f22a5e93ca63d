// SPDX-License-Identifier: Apache-2.0
#include "image/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "image/gap_frame.h"

#define MAGIC "sled-end"
#define VERSION 1u
#define SKIPPABLE_SEEK_TABLE 0x184D2A5Eu
#define SEEK_MAGIC 0x8F92EAB1u
#define SEEK_ENTRY 8u
#define UNUSED 64u // from here on a trailer is zeros

void skippable_write(uint32_t magic, uint32_t size, uint8_t *ret) {
	put_le32(ret, magic);
	put_le32(ret + 4, size);
}

void trailer_write(const struct trailer *trailer, uint8_t *ret) {
	uint8_t *p = ret + SKIPPABLE;

	skippable_write(SKIPPABLE_TRAILER, TRAILER, ret);
	memcpy(p, MAGIC, 8);
	put_le32(p + 8, VERSION);
	put_le32(p + 12, 0);
	put_le64(p + 16, trailer->index_at);
	put_le64(p + 24, trailer->index_size);
	memcpy(p + 32, trailer->digest, HASH);
	memset(p + UNUSED, 0, TRAILER - UNUSED);
}

int trailer_parse(const uint8_t *frame, struct trailer *ret, struct fault *fault) {
	const uint8_t *p = frame + SKIPPABLE;

	if (get_le32(frame) != SKIPPABLE_TRAILER || get_le32(frame + 4) != TRAILER || memcmp(p, MAGIC, 8) != 0)
		return fault_set(fault, CODE_INTEGRITY,
				 "this is not a Sled image: it has no trailer (sledc pack converts any disk image)");
	if (get_le32(p + 8) != VERSION)
		return fault_set(fault, CODE_UNSUPPORTED, "image: version %u, this program reads %u", get_le32(p + 8),
				 VERSION);
	if (get_le32(p + 12) != 0)
		return fault_set(fault, CODE_INTEGRITY, "image: the trailer is damaged");
	if (!is_zero(p + UNUSED, TRAILER - UNUSED))
		return fault_set(
			fault, CODE_INTEGRITY,
			"image: its trailer is not of this format, or has a signature of an unknown version: pack the "
			"disk again, and sign the image with sledctl image sign");
	*ret = (struct trailer){.index_at = get_le64(p + 16), .index_size = get_le64(p + 24)};
	memcpy(ret->digest, p + 32, HASH);
	return 0;
}

static uint8_t *seek_entry(uint8_t *p, uint64_t compressed, uint64_t size) {
	put_le32(p, (uint32_t)compressed);
	put_le32(p + 4, (uint32_t)size);
	return p + SEEK_ENTRY;
}

static uint8_t *seek_gap(uint8_t *p, uint64_t size) {
	for (uint64_t n; size > 0; size -= n) {
		n = size < GAP_MAX ? size : GAP_MAX;
		p = seek_entry(p, gap_size(n), n);
	}
	return p;
}

static uint64_t gap_frames(uint64_t size) { return (size + GAP_MAX - 1) / GAP_MAX; }

// Frames of the file before the seek table.
static uint64_t frames(const struct index *index) {
	uint64_t count = index->chunk_count + 2ull, end = 0;

	for (uint32_t i = 0; i < index->chunk_count; i++) {
		count += gap_frames(index->chunks[i].offset - end);
		end = index->chunks[i].offset + chunk_size(index, &index->chunks[i]);
	}
	return count + gap_frames(index->bytes - end);
}

int seek_table_write(const struct index *index, size_t index_size, uint8_t **ret_data, size_t *ret_size) {
	uint64_t count = frames(index), end = 0;
	size_t size = SKIPPABLE + count * SEEK_ENTRY + SEEK_FOOTER;
	uint8_t *data = malloc(size), *p = data + SKIPPABLE;

	if (!data)
		return -ENOMEM;
	skippable_write(SKIPPABLE_SEEK_TABLE, (uint32_t)(size - SKIPPABLE), data);
	for (uint32_t i = 0; i < index->chunk_count; i++) {
		const struct chunk *chunk = &index->chunks[i];
		p = seek_gap(p, chunk->offset - end);
		p = seek_entry(p, chunk->frame, chunk_size(index, chunk));
		end = chunk->offset + chunk_size(index, chunk);
	}
	p = seek_gap(p, index->bytes - end);
	p = seek_entry(p, SKIPPABLE + index_size, 0);
	p = seek_entry(p, SKIPPABLE + TRAILER, 0);
	put_le32(p, (uint32_t)count);
	p[4] = 0;
	put_le32(p + 5, SEEK_MAGIC);
	*ret_data = data;
	*ret_size = size;
	return 0;
}

uint64_t seek_table_size(const uint8_t *footer) {
	if (footer[4] != 0 || get_le32(footer + 5) != SEEK_MAGIC)
		return 0;
	return SKIPPABLE + (uint64_t)get_le32(footer) * SEEK_ENTRY + SEEK_FOOTER;
}

uint64_t file_size(const struct index *index, size_t index_size) {
	return index_end(index) + SKIPPABLE + index_size + SKIPPABLE + TRAILER + SKIPPABLE +
	       frames(index) * SEEK_ENTRY + SEEK_FOOTER;
}
