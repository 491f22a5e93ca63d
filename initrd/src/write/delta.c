// SPDX-License-Identifier: Apache-2.0
#include "write/delta.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "image/bitmap.h"

#define THREADS_PER_CORE 2u // so that one reads while the other hashes
#define THREADS_MAX 32u	    // each has a buffer of one chunk
#define SKIP_MAX (64u << 10) // free bytes that are read along rather than asked around

// What the threads share; all of it below `lock` but the first three.
struct search {
	struct device *device;
	const struct index *index;
	struct progress *progress;
	pthread_mutex_t lock;
	uint8_t *chunks;
	uint32_t next;
	uint64_t done; // used bytes
	struct delta found;
};

enum state { RIGHT, DIFFERS, UNREADABLE };

// The next bytes to read in one go: a run of used ones and those that follow closely.
static bool next_read(const struct index *index, const struct chunk *chunk, size_t from, size_t *ret_from,
		      size_t *ret_size) {
	size_t start, size, more_from, more;

	if (!chunk_run(index, chunk, from, &start, &size))
		return false;
	while (chunk_run(index, chunk, start + size, &more_from, &more) && more_from - (start + size) <= SKIP_MAX)
		size = more_from + more - start;
	*ret_from = start;
	*ret_size = size;
	return true;
}

static int read_chunk(struct search *s, const struct chunk *chunk, uint8_t *data, uint64_t *read) {
	struct fault ignored;
	int r = 0;

	for (size_t from = 0, size = 0; r == 0 && next_read(s->index, chunk, from, &from, &size); from += size) {
		if (chunk->offset + from + size > s->device->bytes)
			return -ENOSPC;
		r = device_read(s->device, data + from, size, chunk->offset + from, &ignored);
		*read += size;
	}
	return r;
}

static enum state look_at(struct search *s, const struct chunk *chunk, uint8_t *data, uint64_t *read) {
	uint8_t hash[HASH];
	int r = read_chunk(s, chunk, data, read);

	if (r < 0)
		return r == -ENOSPC ? DIFFERS : UNREADABLE;
	if (chunk_hash(s->index, chunk, data, hash) < 0)
		return DIFFERS;
	return memcmp(hash, chunk->hash, HASH) == 0 ? RIGHT : DIFFERS;
}

// The next chunk that somebody asked about; chunk_count: no more.
static uint32_t take(struct search *s) {
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	while (s->next < s->index->chunk_count && !bitmap_has(s->chunks, s->next))
		s->next++;
	i = s->next;
	if (i < s->index->chunk_count)
		s->next++;
	pthread_mutex_unlock(&s->lock);
	return i;
}

static void record(struct search *s, uint32_t i, enum state state, uint64_t read) {
	size_t used = chunk_used(s->index, &s->index->chunks[i]);

	pthread_mutex_lock(&s->lock);
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
	pthread_mutex_unlock(&s->lock);
}

// A thread that finds no memory leaves the work to the others.
static void *work(void *argument) {
	struct search *s = argument;
	cleanup_free uint8_t *data = device_buffer(CHUNK);

	for (uint32_t i; data && (i = take(s)) < s->index->chunk_count;) {
		uint64_t read = 0;
		enum state state = look_at(s, &s->index->chunks[i], data, &read);
		record(s, i, state, read);
	}
	return NULL;
}

static void run(struct search *s, uint32_t jobs) {
	pthread_t threads[THREADS_MAX];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned wanted = cores > 0 ? (unsigned)cores * THREADS_PER_CORE : THREADS_PER_CORE, count = 0;

	if (wanted > THREADS_MAX)
		wanted = THREADS_MAX;
	if (wanted > jobs)
		wanted = jobs;
	while (count + 1 < wanted && pthread_create(&threads[count], NULL, work, s) == 0)
		count++;
	work(s);
	while (count > 0)
		pthread_join(threads[--count], NULL);
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
	       struct progress *progress,
	       struct fault *fault) {
	struct search s = {.device = device, .index = index, .progress = progress, .lock = PTHREAD_MUTEX_INITIALIZER,
		.chunks = chunks};
	int64_t begin = clock_now();
	uint32_t count;
	uint64_t total = total_of(index, chunks, &count);

	if (progress)
		progress_begin(progress, total);
	run(&s, count);
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
