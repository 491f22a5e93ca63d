// SPDX-License-Identifier: Apache-2.0
#include "source/prove.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/frame.h"
#include "image/gap_frame.h"
#include "source/stream.h"

#define THREADS_MAX 64u
#define BATCH 32u // chunks that a thread takes at a time, with the gaps before them: one range

// What the threads share; below `lock` from `next` on.
struct proof {
	struct source *source;
	const struct index *index;
	struct progress *progress;
	pthread_mutex_t lock;
	uint32_t next;
	uint64_t done; // bytes of file
	int error;
	uint64_t error_at;
	struct fault fault;
};

struct worker {
	struct proof *proof;
	struct codec *codec;
	struct stream *stream;
	uint8_t *frame, *data;
	uint64_t at; // in the file
};

static uint64_t disk_end(const struct index *index, uint32_t chunks) {
	const struct chunk *last = chunks ? &index->chunks[chunks - 1] : NULL;
	return last ? last->offset + chunk_size(index, last) : 0;
}

static uint64_t file_end(const struct index *index, uint32_t chunks) {
	return chunks ? index->chunks[chunks - 1].at + index->chunks[chunks - 1].frame : 0;
}

// True: to go on.
static bool advance(struct worker *w, uint64_t size) {
	struct proof *p = w->proof;
	bool right;

	w->at += size;
	pthread_mutex_lock(&p->lock);
	p->done += size;
	progress_tick(p->progress, p->done);
	right = p->error == 0;
	pthread_mutex_unlock(&p->lock);
	return right;
}

// The frames of `size` bytes of disk without a used one.
static int prove_gap(struct worker *w, uint64_t size, struct fault *fault) {
	for (uint64_t n; size > 0; size -= n) {
		size_t bytes = gap_write(size, w->data);
		int r = stream_read(w->stream, w->frame, bytes, fault);
		if (r < 0)
			return r;
		if (memcmp(w->frame, w->data, bytes) != 0)
			return fault_set(fault, CODE_INTEGRITY,
				"image: the gap frame at file offset %llu is not as it must be",
				(unsigned long long)w->at);
		if (!advance(w, bytes))
			return 0;
		n = size < GAP_MAX ? size : GAP_MAX;
	}
	return 0;
}

static int prove_chunk(struct worker *w, const struct chunk *chunk, struct fault *fault) {
	int r = stream_read(w->stream, w->frame, chunk->frame, fault);

	if (r == 0)
		r = frame_read(w->codec, w->proof->index, chunk, w->frame, w->data, fault);
	if (r == 0)
		(void)advance(w, chunk->frame);
	return r;
}

// Chunks [from, to), each after its gap; with the last of all the gap after it.
static int prove_batch(struct worker *w, uint32_t from, uint32_t to, struct fault *fault) {
	const struct index *index = w->proof->index;
	bool last = to == index->chunk_count;
	int r = 0;

	w->at = file_end(index, from);
	stream_range(w->stream, w->at, (last ? index_end(index) : file_end(index, to)) - w->at);
	for (uint32_t i = from; r == 0 && i < to; i++) {
		r = prove_gap(w, index->chunks[i].offset - disk_end(index, i), fault);
		if (r == 0 && w->at == index->chunks[i].at) // else another thread has found a fault
			r = prove_chunk(w, &index->chunks[i], fault);
	}
	return r == 0 && last ? prove_gap(w, index->bytes - disk_end(index, to), fault) : r;
}

// An image without a chunk is one batch, too.
static bool take(struct proof *p, uint32_t *ret_from, uint32_t *ret_to) {
	uint32_t count = p->index->chunk_count;
	bool more;

	pthread_mutex_lock(&p->lock);
	more = p->error == 0 && (p->next < count || (count == 0 && p->next == 0));
	*ret_from = p->next;
	*ret_to = count - p->next > BATCH ? p->next + BATCH : count;
	p->next = count == 0 ? 1 : *ret_to;
	pthread_mutex_unlock(&p->lock);
	return more;
}

static void fail(struct proof *p, int error, uint64_t at, const struct fault *fault) {
	pthread_mutex_lock(&p->lock);
	if (p->error == 0 || at < p->error_at) {
		p->error = error;
		p->error_at = at;
		p->fault = *fault;
	}
	pthread_mutex_unlock(&p->lock);
}

static int worker_open(struct worker *w, struct fault *fault) {
	int r = stream_open(w->proof->source, &w->stream, fault);

	if (r == 0)
		r = codec_open(0, &w->codec, fault);
	w->frame = malloc(FRAME_MAX);
	w->data = malloc(CHUNK);
	return r == 0 && (!w->frame || !w->data) ? fault_errno(fault, CODE_FAILED, ENOMEM, "image") : r;
}

static void worker_close(struct worker *w) {
	stream_close(&w->stream);
	codec_close(&w->codec);
	free(w->frame);
	free(w->data);
}

static void *work(void *argument) {
	struct proof *p = argument;
	cleanup_with(worker_close) struct worker w = {.proof = p};
	struct fault fault;
	uint32_t from, to;
	int r = worker_open(&w, &fault);

	while (r == 0 && take(p, &from, &to))
		r = prove_batch(&w, from, to, &fault);
	if (r < 0)
		fail(p, r, w.at, &fault);
	return NULL;
}

static unsigned threads_for(uint32_t chunks) {
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned wanted = cores > 0 ? (unsigned)cores : 1, useful = chunks / BATCH + 1;

	wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
	return wanted < useful ? wanted : useful;
}

int prove_file(struct source *source, const struct image *image, struct progress *progress, struct fault *fault) {
	struct proof p = {.source = source, .index = &image->index, .progress = progress,
		.lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned wanted = threads_for(image->index.chunk_count), count = 0;
	pthread_t threads[THREADS_MAX];

	progress_begin(progress, index_end(&image->index));
	while (count + 1 < wanted && pthread_create(&threads[count], NULL, work, &p) == 0)
		count++;
	work(&p);
	while (count > 0)
		pthread_join(threads[--count], NULL);
	if (p.error < 0)
		*fault = p.fault;
	else
		progress_end(progress);
	return p.error;
}
