// SPDX-License-Identifier: Apache-2.0
#include "pack/pack.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "disk/partition_choose.h"
#include "image/gap_frame.h"
#include "image/layout.h"
#include "pack/chunks.h"
#include "pack/compress.h"
#include "pack/sector.h"

// The state of one image, which is written from its first byte to its last.
struct packing {
	const struct pack_order *order;
	struct sink *sink;
	struct index index;
	struct progress *progress;
	uint64_t end;	  // end of the part of the disk that is written
	uint64_t written; // bytes of the file
	uint64_t used;	  // bytes of the disk that are done
};

static int put(struct packing *p, const void *data, size_t size, struct fault *fault) {
	p->written += size;
	return p->sink->ops->write(p->sink, data, size, fault);
}

static int put_gap(struct packing *p, uint64_t to, struct fault *fault) {
	uint8_t frame[GAP_FRAME_MAX];
	int r = 0;

	for (uint64_t left = to - p->end; r == 0 && left > 0; left -= left < GAP_MAX ? left : GAP_MAX)
		r = put(p, frame, gap_write(left, frame), fault);
	p->end = to;
	return r;
}

static int put_chunk(void *context, uint32_t i, const uint8_t *frame, struct fault *fault) {
	struct packing *p = context;
	const struct chunk *chunk = &p->index.chunks[i];
	int r = put_gap(p, chunk->offset, fault);

	if (r == 0)
		r = put(p, frame, chunk->frame, fault);
	p->end = chunk->offset + chunk_size(&p->index, chunk);
	p->used += chunk_used(&p->index, chunk);
	progress_tick(p->progress, p->used);
	return r;
}

static int put_index(struct packing *p, const uint8_t *data, size_t size, struct trailer *trailer,
		     struct fault *fault) {
	uint8_t head[SKIPPABLE];
	int r;

	skippable_write(SKIPPABLE_INDEX, (uint32_t)size, head);
	r = put(p, head, sizeof(head), fault);
	trailer->index_at = p->written;
	trailer->index_size = size;
	if (r == 0)
		r = put(p, data, size, fault);
	if (r == 0 && EVP_Digest(data, size, trailer->digest, NULL, EVP_sha256(), NULL) != 1)
		r = fault_set(fault, CODE_FAILED, "libcrypto: no SHA-256");
	return r;
}

static int put_trailer(struct packing *p, const struct trailer *trailer, struct fault *fault) {
	uint8_t frame[SKIPPABLE + TRAILER];

	trailer_write(trailer, frame);
	return put(p, frame, sizeof(frame), fault);
}

static int put_seek_table(struct packing *p, size_t index_size, struct fault *fault) {
	cleanup_free uint8_t *data = NULL;
	size_t size;

	if (seek_table_write(&p->index, index_size, &data, &size) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "seek table");
	return put(p, data, size, fault);
}

// Writes everything after the frames.
static int put_end(struct packing *p, struct trailer *trailer, struct fault *fault) {
	cleanup_free uint8_t *data = NULL;
	size_t size;
	int r;

	index_lay_out(&p->index);
	if (index_encode(&p->index, &data, &size) < 0)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "index");
	r = put_index(p, data, size, trailer, fault);
	if (r == 0)
		r = put_trailer(p, trailer, fault);
	return r == 0 ? put_seek_table(p, size, fault) : r;
}

static void describe(const struct packing *p, const struct trailer *trailer, struct packed *ret) {
	size_t n = (size_t)snprintf(ret->digest, sizeof(ret->digest), "sha256:");

	for (size_t i = 0; i < HASH; i++)
		n += (size_t)snprintf(ret->digest + n, sizeof(ret->digest) - n, "%02x", trailer->digest[i]);
	ret->bytes = p->index.bytes;
	ret->used = p->index.used;
	ret->file_bytes = p->written;
}

static int pack_chunks(struct packing *p, const struct reader *reader, const struct usedmap *map, struct fault *fault) {
	const struct compress_order order = {
		.reader = reader, .map = map, .index = &p->index, .level = p->order->level};
	uint64_t total = 0;
	int r;

	for (uint32_t i = 0; i < p->index.chunk_count; i++)
		total += chunk_used(&p->index, &p->index.chunks[i]);
	progress_begin(p->progress, total);
	r = compress_run(&order, put_chunk, p, fault);
	if (r == 0)
		r = put_gap(p, p->index.bytes, fault);
	return r;
}

// Not all programs lock a disk file while they write to it.
static int check_unchanged(const struct survey *survey, struct fault *fault) {
	struct stat now;

	if (survey->reader.memory)
		return 0;
	if (fstat(survey->reader.fd, &now) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", survey->reader.name);
	return !S_ISREG(now.st_mode) || !file_changed(&survey->state, &now)
		       ? 0
		       : fault_set(fault, CODE_DISK,
				   "%s: another program has written to it while it was read: stop that "
				   "program, or copy the disk first",
				   survey->reader.name);
}

static int pack_mapped(struct packing *p, const struct survey *survey, struct packed *ret, struct fault *fault) {
	struct trailer trailer = {0};
	int r = chunks_plan(&survey->reader, &survey->map, &p->index, fault);

	if (r == 0)
		r = pack_chunks(p, &survey->reader, &survey->map, fault);
	if (r == 0)
		r = check_unchanged(survey, fault);
	if (r == 0)
		r = put_end(p, &trailer, fault);
	if (r == 0)
		r = p->sink->ops->commit(p->sink, fault);
	if (r < 0)
		return r;
	progress_end(p->progress);
	describe(p, &trailer, ret);
	return 0;
}

// The sector size is that with which the table of the disk is found.
static int find_sector(const struct reader *reader, uint32_t *sector, struct fault *fault) {
	cleanup_with(table_free) struct table table = {0};
	int r = sector_read_table(reader, *sector, &table, fault);

	*sector = table.sector;
	return r;
}

static int take_partition(struct reader *reader, const char *text, struct usedmap_order *order, struct fault *fault) {
	struct chosen_partition chosen;
	int r = find_sector(reader, &order->sector, fault);

	if (r == 0)
		r = partition_choose(reader->fd, reader->name, order->sector, text, &chosen, fault);
	if (r < 0)
		return r;
	reader->start = chosen.place.start;
	reader->bytes = chosen.place.bytes;
	order->is_partition = true;
	order->type = chosen.type;
	return 0;
}

int survey_disk(int fd, const char *name, const struct pack_order *order, struct survey *ret, struct fault *fault) {
	struct usedmap_order map_order = {.folder = order->folder, .drop_rest = order->drop_rest};
	int r;

	*ret = (struct survey){0};
	if (fstat(fd, &ret->state) < 0)
		return fault_errno(fault, CODE_FAILED, errno, "%s", name);
	r = reader_open(fd, name, &ret->reader, &map_order.sector, fault);
	if (order->sector)
		map_order.sector = order->sector;
	if (r == 0 && order->partition)
		r = take_partition(&ret->reader, order->partition, &map_order, fault);
	return r == 0 ? usedmap_read(&ret->reader, &map_order, &ret->map, fault) : r;
}

void survey_free(struct survey *survey) { usedmap_free(&survey->map); }

int pack_disk(const struct survey *survey, const struct pack_order *order, struct sink *sink, struct packed *ret,
	      struct progress *progress, struct fault *fault) {
	struct packing packing = {.order = order, .sink = sink, .progress = progress};
	int r = pack_mapped(&packing, survey, ret, fault);

	index_free(&packing.index);
	return r;
}
