// SPDX-License-Identifier: Apache-2.0
#include "write/write.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "image/bitmap.h"
#include "write/check.h"
#include "write/choose.h"
#include "write/delta.h"
#include "write/fit.h"
#include "write/gaps.h"
#include "write/head.h"
#include "write/kept_of.h"
#include "write/marker.h"
#include "write/workers.h"

#define FEED_MEMORY ((size_t)24 << 20) // of frames

struct job {
	struct source *source;
	const struct image *image;
	const struct index *index;
	struct write_order order;
	struct device *device;
	struct progress *progress;
	uint8_t *head; // the disk's first MiB, or all of a smaller one
	size_t head_size;
	struct fit fit;
	bool resumed;
	uint8_t *wanted; // bitmap of chunks
	struct written *ret;
};

static void job_free(struct job *job) {
	fit_free(&job->fit);
	free(job->head);
	free(job->wanted);
}

// All checks that are possible before anything is changed.
static int prepare(struct job *job, struct fault *fault) {
	bool has_head = job->index->chunk_count > 0 && job->index->chunks[0].offset == 0;
	int r = fit_check(job->index, job->device, fault);

	if (r < 0)
		return r;
	job->head_size = job->device->bytes < CHUNK ? (size_t)job->device->bytes : CHUNK;
	job->head = device_buffer(CHUNK);
	job->wanted = calloc(1, bitmap_size(job->index) + 1);
	if (!job->head || !job->wanted)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "write");
	if (has_head)
		r = head_fetch(job->source, job->index, job->head, fault);
	if (r == 0)
		r = fit_table(job->index, job->device, has_head ? job->head : NULL, bytes_fetch,
			      &(struct fetching){job->source, job->index}, &job->fit, fault);
	return r;
}

static int choose_mode(struct job *job, struct fault *fault) {
	struct written *ret = job->ret;
	struct chosen chosen = {.mode = job->order.mode, .why = "as requested"};
	int r = marker_find(job->device, job->image->trailer.digest, &job->resumed, fault);

	if (r == 0 && job->resumed)
		chosen = (struct chosen){.mode = WRITE_DELTA, .why = "an earlier write of this image was interrupted"};
	else if (r == 0 && chosen.mode == WRITE_AUTO)
		r = choose_write_mode(job->source, job->device, job->image, job->order.multicast, &chosen, fault);
	ret->mode = chosen.mode;
	memcpy(ret->why, chosen.why, sizeof(ret->why));
	return r;
}

// Bytes at the end of the disk that are zeroed: the copy of an old GPT.
static uint64_t tail_from(const struct device *device) {
	uint64_t from = device->bytes > CHUNK ? device->bytes - CHUNK : 0;
	return from > CHUNK ? from : device->bytes < CHUNK ? device->bytes : CHUNK;
}

// Excludes the first chunk, which is already fetched. Includes chunks whose content changes on a disk of another size.
static void correct_wanted(struct job *job) {
	const struct index *index = job->index;

	for (uint32_t i = 0; i < index->chunk_count; i++) {
		const struct chunk *chunk = &index->chunks[i];
		bool is_zeroed = !job->resumed && chunk->offset + chunk_size(index, chunk) > tail_from(job->device);
		if (chunk->offset == 0 || chunk->offset >= job->fit.limit)
			bitmap_remove(job->wanted, i);
		else if (is_zeroed || fit_changes(&job->fit, index, chunk))
			bitmap_add(job->wanted, i);
	}
}

static int find_wanted(struct job *job, struct fault *fault) {
	struct delta found = {0};
	int r = 0;

	bitmap_fill(job->index, job->wanted);
	if (job->ret->mode == WRITE_DELTA)
		r = delta_find(job->device, job->index, job->wanted, &found, job->progress, fault);
	// frees the buffers of that search: together with those of writing they would be too much memory
	malloc_trim(0);
	correct_wanted(job);
	job->ret->right_before = found.right;
	return r;
}

// From here on nothing starts from the disk, and the marker names the image. If the marker is there already, the ends
// of the disk were zeroed before.
static int mark(struct job *job, struct fault *fault) {
	bool all = job->ret->mode == WRITE_FULL;
	uint64_t tail = tail_from(job->device);
	int r = 0;

	if (!job->resumed)
		r = device_zero(job->device, 0, job->head_size, fault);
	if (r == 0)
		r = device_sync(job->device, fault);
	if (r == 0)
		r = gaps_clear(job->device, job->index, job->wanted, job->order.gaps, all, job->progress, fault);
	if (r < 0 || job->resumed)
		return r;
	if (tail < job->device->bytes)
		r = device_zero(job->device, tail, job->device->bytes - tail, fault);
	if (r == 0)
		r = device_sync(job->device, fault);
	if (r == 0)
		r = marker_write(job->device, job->image->trailer.digest, fault);
	return r == 0 ? device_sync(job->device, fault) : r;
}

static uint64_t used_of(const struct index *index, const uint8_t *chunks) {
	uint64_t sum = 0;

	for (uint32_t i = 0; i < index->chunk_count; i++)
		if (bitmap_has(chunks, i))
			sum += chunk_used(index, &index->chunks[i]);
	return sum;
}

static int open_feed(struct job *job, struct feed **ret, struct fault *fault) {
	const struct multicast_address *address = job->order.multicast;
	struct multicast_summary *told = &job->ret->multicast;
	int r = -ENOTCONN;

	if (address)
		r = feed_open_multicast(job->source, job->index, job->wanted, FEED_MEMORY, address,
					job->image->trailer.digest, told, ret, fault);
	if (r == 0 || (address && fault->code != CODE_NETWORK))
		return r;
	if (address) // a network without multicast is no reason to fail
		snprintf(told->why, sizeof(told->why), "%s", fault->text);
	return feed_open_source(job->source, job->index, job->wanted, 0, FEED_MEMORY, ret, fault);
}

static int write_chunks(struct job *job, struct fault *fault) {
	cleanup_with(feed_close) struct feed *feed = NULL;
	struct work work = {.device = job->device,
			    .index = job->index,
			    .fit = &job->fit,
			    .order = &job->order,
			    .progress = job->progress};
	int r;

	progress_begin(job->progress, job->index->used);
	work.done = job->index->used - used_of(job->index, job->wanted);
	r = open_feed(job, &feed, fault);
	work.feed = feed;
	if (r == 0)
		r = workers_run(&work, fault);
	job->ret->written += work.written;
	return r;
}

// Writes the GPT's copy at the end of a disk of another size.
static int write_copy(struct job *job, struct fault *fault) {
	const struct fit *fit = &job->fit;

	if (!fit->copy)
		return 0;
	job->ret->written += fit->copy_size;
	return device_write(job->device, fit->copy, fit->copy_size, fit->copy_at, fault);
}

static int check_all(struct job *job, struct fault *fault) {
	const struct fit *fit = &job->fit;
	uint64_t salt = get_le64(job->image->trailer.digest);
	int r = check_chunks(job->device, job->index, fit, job->order.check, salt, job->progress, fault);

	if (r == 0 && fit->copy && job->order.check != CHECK_NONE)
		r = check_bytes(job->device, fit->copy, fit->copy_size, fit->copy_at, fault);
	return r;
}

static int finish(struct job *job, struct fault *fault) {
	struct fault ignored;
	int r = head_write(job->device, job->head, job->head_size, job->order.check != CHECK_NONE, fault);

	if (r < 0) { // make the disk unbootable again, if it still accepts writes
		if (job->device->bytes < CHUNK)
			(void)device_zero(job->device, 0, job->head_size, &ignored);
		(void)marker_write(job->device, job->image->trailer.digest, &ignored);
		(void)device_sync(job->device, &ignored);
		return r;
	}
	job->ret->written += job->head_size;
	progress_tick(job->progress, job->progress->total);
	progress_end(job->progress);
	device_reread(job->device);
	return 0;
}

int write_image(struct source *source, const struct image *image, const struct write_order *order,
		struct device *device, struct written *ret, struct progress *progress, struct fault *fault) {
	static int (*const steps[])(struct job *, struct fault *) = {
		prepare, choose_mode, find_wanted, mark, write_chunks, write_copy,
	};
	cleanup_with(job_free) struct job job = {.source = source,
						 .image = image,
						 .index = &image->index,
						 .order = *order,
						 .device = device,
						 .progress = progress,
						 .ret = ret};
	int r = 0;

	*ret = (struct written){.mode = order->mode};
	for (size_t i = 0; r == 0 && i < ELEMENTS(steps); i++)
		r = steps[i](&job, fault);
	if (r == 0)
		r = device_sync(device, fault);
	if (r == 0)
		r = check_all(&job, fault);
	if (r == 0)
		r = finish(&job, fault);
	if (r == 0)
		r = kept_of(job.index, &job.fit, device, &ret->kept, fault);
	ret->fetched = source_received(source);
	return r;
}
