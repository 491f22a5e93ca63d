// SPDX-License-Identifier: Apache-2.0
#include "pack/compress.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/crew.h"
#include "image/frame.h"
#include "pack/chunks.h"

#define WORKERS_MAX 16u
#define WORKERS_MEMORY (128u << 20) // of all compressors
#define SLOTS(workers) (2 * (workers) + 2)

struct slot {
	uint8_t *frame;
	bool done;
};

struct compress {
	struct crew crew; // items: the chunks
	const struct compress_order *order;
	unsigned slot_count;
	struct slot slots[SLOTS(WORKERS_MAX)]; // chunk i: slots[i % slot_count]
	pthread_cond_t changed;		       // from here on: under the lock of the crew
	uint32_t taken;			       // the first chunk that the caller has not taken
};

static void fail(struct compress *compress, int r, const struct fault *fault) {
	pthread_mutex_lock(&compress->crew.lock);
	crew_fail(&compress->crew, r, 0, fault);
	pthread_cond_broadcast(&compress->changed);
	pthread_mutex_unlock(&compress->crew.lock);
}

// The next chunk, once there is a slot for its frame. False: nothing more to do. The chunks before it have slots, or
// get them first.
static bool take_chunk(struct compress *compress, uint32_t *ret) {
	uint32_t end;
	bool more = crew_take(&compress->crew, 1, ret, &end);

	pthread_mutex_lock(&compress->crew.lock);
	while (more && compress->crew.error == 0 && *ret - compress->taken >= compress->slot_count)
		pthread_cond_wait(&compress->changed, &compress->crew.lock);
	more = more && compress->crew.error == 0;
	pthread_mutex_unlock(&compress->crew.lock);
	return more;
}

static void put_frame(struct compress *compress, uint32_t i) {
	pthread_mutex_lock(&compress->crew.lock);
	compress->slots[i % compress->slot_count].done = true;
	pthread_cond_broadcast(&compress->changed);
	pthread_mutex_unlock(&compress->crew.lock);
}

// The frame of a chunk in a hole of a sparse file, kept for the next such chunk: a filesystem of many TiB has GiB of
// tables that were never written.
struct blank {
	size_t size; // of the chunk; 0: none yet
	struct chunk chunk;
	uint8_t frame[256];
};

static bool is_hole(const struct compress_order *order, const struct chunk *chunk, size_t size) {
	return reader_next_data(order->reader, chunk->offset) >= chunk->offset + size;
}

static int make_frame(const struct compress_order *order, struct codec *codec, struct blank *blank, struct chunk *chunk,
		      uint8_t *data, uint8_t *frame, struct fault *fault) {
	size_t size = chunk_size(order->index, chunk);
	bool hole = is_hole(order, chunk, size);
	int r;

	if (hole && blank->size == size && !memcmp(blank->chunk.used, chunk->used, sizeof(chunk->used))) {
		chunk->frame = blank->chunk.frame;
		memcpy(chunk->hash, blank->chunk.hash, sizeof(chunk->hash));
		memcpy(frame, blank->frame, chunk->frame);
		return 0;
	}
	r = chunk_load(order->reader, order->map, order->index, chunk, data, fault);
	if (r == 0)
		r = frame_make(codec, order->index, chunk, data, frame, fault);
	if (r == 0 && hole && chunk->frame <= sizeof(blank->frame)) {
		*blank = (struct blank){.size = size, .chunk = *chunk};
		memcpy(blank->frame, frame, chunk->frame);
	}
	return r;
}

static int work(struct compress *compress, struct fault *fault) {
	const struct compress_order *order = compress->order;
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_free uint8_t *data = aligned_alloc(READ_ALIGN, CHUNK);
	struct blank blank = {0};
	uint32_t i;
	int r = data ? codec_open(order->level, &codec, fault)
		     : fault_errno(fault, CODE_FAILED, ENOMEM, "buffer of a chunk");

	while (r == 0 && take_chunk(compress, &i)) {
		r = make_frame(order, codec, &blank, &order->index->chunks[i], data,
			       compress->slots[i % compress->slot_count].frame, fault);
		if (r == 0)
			put_frame(compress, i);
	}
	return r;
}

static void *worker(void *context) {
	struct fault fault;
	int r = work(context, &fault);

	if (r < 0)
		fail(context, r, &fault);
	return NULL;
}

// False: something failed.
static bool wait_frame(struct compress *compress, uint32_t i) {
	const struct slot *slot = &compress->slots[i % compress->slot_count];
	bool done;

	pthread_mutex_lock(&compress->crew.lock);
	while (compress->crew.error == 0 && !slot->done)
		pthread_cond_wait(&compress->changed, &compress->crew.lock);
	done = compress->crew.error == 0;
	pthread_mutex_unlock(&compress->crew.lock);
	return done;
}

static void free_slot(struct compress *compress, uint32_t i) {
	pthread_mutex_lock(&compress->crew.lock);
	compress->slots[i % compress->slot_count].done = false;
	compress->taken = i + 1;
	pthread_cond_broadcast(&compress->changed);
	pthread_mutex_unlock(&compress->crew.lock);
}

static void take_frames(struct compress *compress, compress_take *take, void *context) {
	struct fault fault;

	for (uint32_t i = 0; i < compress->order->index->chunk_count && wait_frame(compress, i); i++) {
		int r = take(context, i, compress->slots[i % compress->slot_count].frame, &fault);
		if (r < 0)
			fail(compress, r, &fault);
		else
			free_slot(compress, i);
	}
}

// As many as there are cores, chunks, and memory: measured, a compressor of 1 MiB takes 4 MiB at level 3 and 24 MiB at
// level 19.
static unsigned count_workers(int level, uint32_t chunks) {
	unsigned most = WORKERS_MEMORY / (level > 15 ? 24u << 20 : 8u << 20);
	return crew_size(1, most < WORKERS_MAX ? most : WORKERS_MAX, chunks);
}

static int make_slots(struct compress *compress, struct fault *fault) {
	for (unsigned i = 0; i < compress->slot_count; i++)
		if (!(compress->slots[i].frame = malloc(FRAME_MAX)))
			return fault_errno(fault, CODE_FAILED, ENOMEM, "frames");
	return 0;
}

int compress_run(const struct compress_order *order, compress_take *take, void *context, struct fault *fault) {
	unsigned workers = count_workers(order->level, order->index->chunk_count);
	struct compress compress = {.crew = CREW_INIT(order->index->chunk_count),
				    .order = order,
				    .slot_count = SLOTS(workers),
				    .changed = PTHREAD_COND_INITIALIZER};
	int r = make_slots(&compress, fault);

	if (r == 0)
		r = crew_start(&compress.crew, workers, worker, &compress, fault);
	if (r == 0) {
		take_frames(&compress, take, context);
		crew_join(&compress.crew);
		r = crew_result(&compress.crew, fault);
	}
	for (unsigned i = 0; i < compress.slot_count; i++)
		free(compress.slots[i].frame);
	return r;
}
