// SPDX-License-Identifier: Apache-2.0
#include "write/delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/crew.h"
#include "image/bitmap.h"

#define THREADS_PER_CORE 2u  // one reads while the other hashes
#define THREADS_MAX 32u	     // each has a buffer of one chunk
#define SKIP_MAX (64u << 10) // free bytes between two runs that are read with them: cheaper than another request

// What the threads share.
struct search {
	struct crew crew; // items: the chunks of the index
	struct device *device;
	const struct index *index;
	struct progress *progress;
	uint8_t *chunks; // from here on: under the lock of the crew
	uint64_t done;	 // used bytes
	struct delta found;
};

enum state { RIGHT, DIFFERS, UNREADABLE };

static int read_chunk(struct search *s, const struct chunk *chunk, uint8_t *data, uint64_t *read) {
	struct fault ignored;
	int r = 0;

	for (size_t from = 0, size = 0; r == 0 && chunk_runs(s->index, chunk, from, SKIP_MAX, &from, &size);
	     from += size) {
		if (chunk->offset + from + size > s->device->bytes)
			return -ENOSPC;
		r = device_read(s->device, data + from, size, chunk->offset + from, &ignored);
		*read += size;
	}
	return r;
}

static enum state compare_chunk(struct search *s, const struct chunk *chunk, uint8_t *data, uint64_t *read) {
	uint8_t hash[HASH];
	int r = read_chunk(s, chunk, data, read);

	if (r < 0)
		return r == -ENOSPC ? DIFFERS : UNREADABLE;
	if (chunk_hash(s->index, chunk, data, hash) < 0)
		return DIFFERS;
	return memcmp(hash, chunk->hash, HASH) == 0 ? RIGHT : DIFFERS;
}

static void record(struct search *s, uint32_t i, enum state state, uint64_t read) {
	size_t used = chunk_used(s->index, &s->index->chunks[i]);

	pthread_mutex_lock(&s->crew.lock);
	if (state == RIGHT) {
		bitmap_remove(s->chunks, i);
		s->found.right += used;
	}
	s->found.looked_at++;
	s->found.differ += state != RIGHT;
	s->found.unreadable += state == UNREADABLE;
	s->found.read += read;
	s->done += used;
	if (s->progress)
		progress_tick(s->progress, s->done);
	pthread_mutex_unlock(&s->crew.lock);
}

// Only the thread that took chunk `i` changes its bit, but its neighbours' bits are in the same byte.
static bool is_requested(struct search *s, uint32_t i) {
	bool requested;

	pthread_mutex_lock(&s->crew.lock);
	requested = bitmap_has(s->chunks, i);
	pthread_mutex_unlock(&s->crew.lock);
	return requested;
}

// A thread that gets no memory leaves the work to the others.
static void *work(void *argument) {
	struct search *s = argument;
	cleanup_free uint8_t *data = device_buffer(CHUNK);

	for (uint32_t i, end; data && crew_take(&s->crew, 1, &i, &end);) {
		uint64_t read = 0;
		if (is_requested(s, i)) {
			enum state state = compare_chunk(s, &s->index->chunks[i], data, &read);
			record(s, i, state, read);
		}
	}
	return NULL;
}

static uint64_t total_of(const struct index *index, const uint8_t *chunks, uint32_t *ret_count) {
	uint64_t total = 0;

	*ret_count = 0;
	for (uint32_t i = 0; i < index->chunk_count; i++)
		if (bitmap_has(chunks, i)) {
			total += chunk_used(index, &index->chunks[i]);
			++*ret_count;
		}
	return total;
}

int delta_find(struct device *device, const struct index *index, uint8_t *chunks, struct delta *ret,
	       struct progress *progress, struct fault *fault) {
	struct search s = {.crew = CREW_INIT(index->chunk_count),
			   .device = device,
			   .index = index,
			   .progress = progress,
			   .chunks = chunks};
	int64_t begin = clock_now();
	uint32_t count;
	uint64_t total = total_of(index, chunks, &count);

	if (progress)
		progress_begin(progress, total);
	(void)crew_run(&s.crew, crew_size(THREADS_PER_CORE, THREADS_MAX, count), work, &s, fault);
	if (s.found.looked_at < count)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "%s: reading what is on it", device->name);
	if (progress)
		progress_end(progress);
	s.found.took = clock_now() - begin;
	*ret = s.found;
	return 0;
}

// splitmix64: any seed will do.
static uint64_t draw(uint64_t *state) {
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

int delta_sample(struct device *device, const struct index *index, uint32_t count, uint64_t seed, struct delta *ret,
		 struct fault *fault) {
	cleanup_free uint8_t *chunks = calloc(1, bitmap_size(index) + 1);
	uint64_t all = index->chunk_count;

	if (!chunks)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "sample");
	if (count > all)
		count = index->chunk_count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t from = i * all / count, to = (i + 1) * all / count;
		bitmap_add(chunks, (uint32_t)(from + draw(&seed) % (to - from)));
	}
	return delta_find(device, index, chunks, ret, NULL, fault);
}
