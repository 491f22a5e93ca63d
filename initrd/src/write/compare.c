// SPDX-License-Identifier: Apache-2.0
#include "write/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "image/bitmap.h"
#include "image/frame.h"
#include "source/feed.h"
#include "write/table_areas.h"
#include "write/fit.h"
#include "write/head.h"

// Work on one disk.
struct comparing {
	struct device *device;
	struct source *source;
	const struct index *index;
	struct fit fit;
	struct table_areas areas; // what is expected there
	uint8_t *chunks, *data, *there;
	struct compared *ret;
};

static bool has_head(const struct index *index) { return index->chunk_count > 0 && index->chunks[0].offset == 0; }

// Chunks that the table changes on this disk, or may change: these are compared byte for byte.
static bool is_table(const struct comparing *c, const struct chunk *chunk) {
	return chunk->offset == 0 || chunk->offset + CHUNK > table_areas_tail_at(&c->areas) ||
	       fit_changes(&c->fit, c->index, chunk);
}

// What `write` makes of the chunk.
static void expect(struct comparing *c, const struct chunk *chunk, uint8_t *data) {
	if (chunk->offset == 0)
		memcpy(data, c->areas.head, chunk_size(c->index, chunk));
	else
		fit_chunk(&c->fit, c->index, chunk, data);
}

typedef int chunk_fn(struct comparing *c, uint32_t i, uint8_t *data, struct fault *fault);

static int decode_one(struct comparing *c, struct codec *codec, struct feed *feed, chunk_fn *use, struct fault *fault) {
	struct parcel *parcel = NULL;
	int r = feed_next(feed, &parcel, fault);

	if (r < 0 || !parcel)
		return r < 0 ? r : 1;
	r = frame_read(codec, c->index, parcel->chunk, parcel->frame, c->data, fault);
	if (r == 0) {
		expect(c, parcel->chunk, c->data);
		r = use(c, (uint32_t)(parcel->chunk - c->index->chunks), c->data, fault);
	}
	feed_return(feed, parcel);
	return r;
}

// Fetches the chunks of the table.
static int each_table_chunk(struct comparing *c, chunk_fn *use, struct fault *fault) {
	cleanup_free uint8_t *wanted = calloc(1, bitmap_size(c->index) + 1); // read until the feed is closed
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_with(feed_close) struct feed *feed = NULL;
	int r = wanted ? codec_open(0, &codec, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "verify");

	for (uint32_t i = 0; r == 0 && i < c->index->chunk_count; i++)
		if (is_table(c, &c->index->chunks[i]))
			bitmap_add(wanted, i);
	if (r == 0)
		r = feed_open_source(c->source, c->index, wanted, 1, 2 * FRAME_MAX, &feed, fault);
	while (r == 0)
		r = decode_one(c, codec, feed, use, fault);
	return r == 1 ? 0 : r;
}

static int collect_tail(struct comparing *c, uint32_t i, uint8_t *data, struct fault *fault) {
	const struct chunk *chunk = &c->index->chunks[i];

	(void)fault;
	table_areas_put(&c->areas, data, chunk_size(c->index, chunk), chunk->offset);
	return 0;
}

// The used granules of the chunk on the disk against `data`. Behind the disk's end there is nothing to compare.
static bool is_equal(struct comparing *c, const struct chunk *chunk, const uint8_t *data, bool *ret_unreadable) {
	uint64_t end = c->fit.limit;
	size_t size, from = 0, n = 0;
	struct fault ignored;

	if (chunk->offset >= end)
		return true;
	size = end - chunk->offset < CHUNK ? (size_t)(end - chunk->offset) : CHUNK;
	if (device_read(c->device, c->there, size, chunk->offset, &ignored) < 0) {
		*ret_unreadable = true;
		return false;
	}
	for (; chunk_run(c->index, chunk, from, &from, &n) && from < size; from += n)
		if (memcmp(data + from, c->there + from, n < size - from ? n : size - from) != 0)
			return false;
	return true;
}

static int compare_chunk(struct comparing *c, uint32_t i, uint8_t *data, struct fault *fault) {
	const struct chunk *chunk = &c->index->chunks[i];
	struct delta *found = &c->ret->found;
	bool unreadable = false, equal;

	(void)fault;
	table_areas_get(&c->areas, data, chunk_size(c->index, chunk), chunk->offset);
	equal = is_equal(c, chunk, data, &unreadable);
	found->looked_at++;
	found->differ += !equal;
	found->unreadable += unreadable;
	if (equal)
		bitmap_remove(c->chunks, i);
	return 0;
}

// Up to what is used behind it. A partition of which `grow` leaves the end is as the image has it.
static uint64_t limit_of(void *context, uint64_t start, uint64_t end) {
	const struct comparing *c = context;
	uint64_t used = fit_used_from(&c->fit, c->index, (end + GRANULE - 1) / GRANULE * GRANULE);

	(void)start;
	return used ? used : UINT64_MAX;
}

// Whether the first chunk of the disk is as `grow` leaves it.
static int choose_grown(struct comparing *c, struct fault *fault) {
	cleanup_with(table_areas_close) struct table_areas grown = {0};
	bool ignored = false;
	int r = table_areas_copy(&c->areas, &grown, fault);

	if (r < 0 || c->index->is_partition || is_equal(c, &c->index->chunks[0], c->areas.head, &ignored) ||
	    !table_areas_grow(&grown, limit_of, c) || !is_equal(c, &c->index->chunks[0], grown.head, &ignored))
		return r;
	c->ret->is_grown = true;
	memcpy(c->areas.head, grown.head, CHUNK);
	memcpy(c->areas.tail, grown.tail, TABLE_AREAS_TAIL);
	return 0;
}

static int compare_copy(struct comparing *c, struct fault *fault) {
	cleanup_free uint8_t *expected = device_buffer(c->fit.copy_size);
	struct fault ignored;

	if (!expected)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "verify");
	memcpy(expected, c->fit.copy, c->fit.copy_size);
	table_areas_get(&c->areas, expected, c->fit.copy_size, c->fit.copy_at);
	c->ret->copy_at = c->fit.copy_at;
	c->ret->copy_size = c->fit.copy_size;
	c->ret->copy_differs = device_read(c->device, c->there, c->fit.copy_size, c->fit.copy_at, &ignored) < 0 ||
			       memcmp(expected, c->there, c->fit.copy_size) != 0;
	return 0;
}

static int compare_table(struct comparing *c, struct fault *fault) {
	int r = each_table_chunk(c, collect_tail, fault);

	if (c->fit.copy)
		table_areas_put(&c->areas, c->fit.copy, c->fit.copy_size, c->fit.copy_at);
	if (r == 0 && has_head(c->index))
		r = choose_grown(c, fault);
	if (r == 0)
		r = each_table_chunk(c, compare_chunk, fault);
	return r == 0 && c->fit.copy ? compare_copy(c, fault) : r;
}

static int compare_rest(struct comparing *c, struct progress *progress, struct fault *fault) {
	cleanup_free uint8_t *rest = malloc(bitmap_size(c->index) + 1);
	struct delta found = {0};
	int r;

	if (!rest)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "verify");
	bitmap_fill(c->index, rest);
	for (uint32_t i = 0; i < c->index->chunk_count; i++)
		if (is_table(c, &c->index->chunks[i]))
			bitmap_remove(rest, i);
	r = delta_find(c->device, c->index, rest, &found, progress, fault);
	for (uint32_t i = 0; r == 0 && i < c->index->chunk_count; i++)
		if (!is_table(c, &c->index->chunks[i]) && !bitmap_has(rest, i))
			bitmap_remove(c->chunks, i);
	c->ret->found.differ += found.differ;
	c->ret->found.unreadable += found.unreadable;
	return r;
}

static int begin(struct comparing *c, struct fault *fault) {
	bool head = has_head(c->index);
	int r = table_areas_open(c->device->bytes, c->index->sector, &c->areas, fault);

	c->data = device_buffer(CHUNK);
	c->there = device_buffer(CHUNK);
	if (r == 0 && (!c->data || !c->there))
		r = fault_errno(fault, CODE_FAILED, ENOMEM, "verify");
	if (r == 0 && head)
		r = head_fetch(c->source, c->index, c->areas.head, fault);
	if (r == 0)
		r = fit_table(c->index, c->device, head ? c->areas.head : NULL, bytes_fetch,
			      &(struct fetching){c->source, c->index}, &c->fit, fault);
	if (r < 0 && fault->code == CODE_DISK)
		fault->code = CODE_INTEGRITY; // it does not hold the image
	return r;
}

static void comparing_end(struct comparing *c) {
	fit_free(&c->fit);
	table_areas_close(&c->areas);
	free(c->data);
	free(c->there);
}

int compare_disk(struct device *device, struct source *source, const struct index *index, uint8_t *chunks,
		 struct compared *ret, struct progress *progress, struct fault *fault) {
	cleanup_with(comparing_end) struct comparing c = {
		.device = device, .source = source, .index = index, .chunks = chunks, .ret = ret};
	int r;

	*ret = (struct compared){0};
	bitmap_fill(index, chunks);
	r = begin(&c, fault);
	if (r < 0)
		return r;
	ret->is_moved = c.fit.copy;
	r = compare_table(&c, fault);
	return r == 0 ? compare_rest(&c, progress, fault) : r;
}
