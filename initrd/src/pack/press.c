// SPDX-License-Identifier: Apache-2.0
#include "pack/press.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/frame.h"
#include "pack/chunks.h"

#define WORKERS_MAX 16u
#define WORKERS_MEMORY (128u << 20) // of all compressors
#define SLOTS(workers) (2 * (workers) + 2)

struct slot {
	uint8_t *frame;
	bool done;
};

struct press {
	const struct press_order *order;
	unsigned workers, slot_count;
	struct slot slots[SLOTS(WORKERS_MAX)]; // chunk i: slots[i % slot_count]
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t next, taken; // first chunk that no worker has; first that the caller has not
	int result;	      // of what failed first
	struct fault fault;
};

static void fail(struct press *press, int r, const struct fault *fault) {
	pthread_mutex_lock(&press->lock);
	if (press->result == 0) {
		press->result = r;
		press->fault = *fault;
	}
	pthread_cond_broadcast(&press->changed);
	pthread_mutex_unlock(&press->lock);
}

// The next chunk, once there is a slot for its frame. False: nothing more to do.
static bool take_chunk(struct press *press, uint32_t *ret) {
	uint32_t count = press->order->index->chunk_count;
	bool more;

	pthread_mutex_lock(&press->lock);
	while (press->result == 0 && press->next < count && press->next - press->taken >= press->slot_count)
		pthread_cond_wait(&press->changed, &press->lock);
	more = press->result == 0 && press->next < count;
	if (more)
		*ret = press->next++;
	pthread_mutex_unlock(&press->lock);
	return more;
}

static void put_frame(struct press *press, uint32_t i) {
	pthread_mutex_lock(&press->lock);
	press->slots[i % press->slot_count].done = true;
	pthread_cond_broadcast(&press->changed);
	pthread_mutex_unlock(&press->lock);
}

// The frame of a chunk that lies in a hole of a sparse file, kept for the next one like it: a filesystem of many TiB
// has whole GiB of tables that were never written.
struct blank {
	size_t size; // of the chunk; 0: none yet
	struct chunk chunk;
	uint8_t frame[256];
};

static bool is_hole(const struct press_order *order, const struct chunk *chunk, size_t size) {
	off_t data = order->reader->memory ? 0 : lseek(order->reader->fd, (off_t)chunk->offset, SEEK_DATA);
	return data < 0 ? errno == ENXIO : (uint64_t)data >= chunk->offset + size;
}

static int make_frame(const struct press_order *order, struct codec *codec, struct blank *blank, struct chunk *chunk,
		      uint8_t *data, uint8_t *frame,
		      struct fault *fault) {
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

static int work(struct press *press, struct fault *fault) {
	const struct press_order *order = press->order;
	cleanup_with(codec_close) struct codec *codec = NULL;
	cleanup_free uint8_t *data = aligned_alloc(READ_ALIGN, CHUNK);
	struct blank blank = {0};
	uint32_t i;
	int r = data ? codec_open(order->level, &codec, fault) : fault_errno(fault, CODE_FAILED, ENOMEM, "a chunk");

	while (r == 0 && take_chunk(press, &i)) {
		r = make_frame(order, codec, &blank, &order->index->chunks[i], data,
			press->slots[i % press->slot_count].frame, fault);
		if (r == 0)
			put_frame(press, i);
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
static bool wait_frame(struct press *press, uint32_t i) {
	const struct slot *slot = &press->slots[i % press->slot_count];
	bool done;

	pthread_mutex_lock(&press->lock);
	while (press->result == 0 && !slot->done)
		pthread_cond_wait(&press->changed, &press->lock);
	done = press->result == 0;
	pthread_mutex_unlock(&press->lock);
	return done;
}

static void free_slot(struct press *press, uint32_t i) {
	pthread_mutex_lock(&press->lock);
	press->slots[i % press->slot_count].done = false;
	press->taken = i + 1;
	pthread_cond_broadcast(&press->changed);
	pthread_mutex_unlock(&press->lock);
}

static void take_frames(struct press *press, press_take *take, void *context) {
	struct fault fault;

	for (uint32_t i = 0; i < press->order->index->chunk_count && wait_frame(press, i); i++) {
		int r = take(context, i, press->slots[i % press->slot_count].frame, &fault);
		if (r < 0)
			fail(press, r, &fault);
		else
			free_slot(press, i);
	}
}

// As many as there are cores for us, and memory: measured, a compressor of 1 MiB takes 4 MiB at level 3 and 24 MiB at
// level 19.
static unsigned count_workers(int level) {
	unsigned most = WORKERS_MEMORY / (level > 15 ? 24u << 20 : 8u << 20), cores = 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cores = (unsigned)CPU_COUNT(&set);
	cores = cores < most ? cores : most;
	return cores < WORKERS_MAX ? cores : WORKERS_MAX;
}

static int make_slots(struct press *press, struct fault *fault) {
	for (unsigned i = 0; i < press->slot_count; i++)
		if (!(press->slots[i].frame = malloc(FRAME_MAX)))
			return fault_errno(fault, CODE_FAILED, ENOMEM, "frames");
	return 0;
}

static void run_workers(struct press *press, press_take *take, void *context) {
	pthread_t threads[WORKERS_MAX];
	unsigned count = 0;
	struct fault fault;
	int r = 0;

	while (r == 0 && count < press->workers)
		if ((r = pthread_create(&threads[count], NULL, worker, press)) == 0)
			count++;
	if (count == 0)
		fail(press, fault_errno(&fault, CODE_FAILED, r, "threads"), &fault);
	take_frames(press, take, context);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int press_run(const struct press_order *order, press_take *take, void *context, struct fault *fault) {
	unsigned workers = count_workers(order->level);
	struct press press = {.order = order, .workers = workers, .slot_count = SLOTS(workers),
		.lock = PTHREAD_MUTEX_INITIALIZER,
			      .changed = PTHREAD_COND_INITIALIZER};
	int r = make_slots(&press, fault);

	if (r == 0) {
		run_workers(&press, take, context);
		r = press.result;
		if (r < 0)
			*fault = press.fault;
	}
	for (unsigned i = 0; i < press.slot_count; i++)
		free(press.slots[i].frame);
	return r;
}
