// SPDX-License-Identifier: Apache-2.0
#include "source/prove.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crew.h"
#include "image/frame.h"
#include "image/gap_frame.h"
#include "source/stream.h"

#define BATCH 32u // chunks that a thread takes at a time, with the gaps before them, as one range

// What the threads share.
struct proof {
	struct crew crew; // items: batches
	struct source *source;
	const struct index *index;
	struct progress *progress;
	uint64_t done; // bytes of file; under the lock of the crew
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
	pthread_mutex_lock(&p->crew.lock);
	p->done += size;
	progress_tick(p->progress, p->done);
	right = p->crew.error == 0;
	pthread_mutex_unlock(&p->crew.lock);
	return right;
}

// Checks the frames for `size` free bytes of disk.
static int prove_gap(struct worker *w, uint64_t size, struct fault *fault) {
	for (uint64_t n; size > 0; size -= n) {
		size_t bytes = gap_write(size, w->data);
		int r = stream_read(w->stream, w->frame, bytes, fault);
		if (r < 0)
			return r;
		if (memcmp(w->frame, w->data, bytes) != 0)
			return fault_set(fault, CODE_INTEGRITY, "image: the gap frame at file offset %llu is damaged",
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

// Checks the chunks of the batch, each after the gap before it; in the last batch also the gap at the end.
static int prove_batch(struct worker *w, uint32_t batch, struct fault *fault) {
	const struct index *index = w->proof->index;
	bool last = batch + 1 == w->proof->crew.items;
	uint32_t from = batch * BATCH, to = last ? index->chunk_count : from + BATCH;
	int r = 0;

	w->at = file_end(index, from);
	stream_range(w->stream, w->at, (last ? index_end(index) : file_end(index, to)) - w->at);
	for (uint32_t i = from; r == 0 && i < to; i++) {
		r = prove_gap(w, index->chunks[i].offset - disk_end(index, i), fault);
		if (r == 0 && w->at == index->chunks[i].at) // else another thread has failed
			r = prove_chunk(w, &index->chunks[i], fault);
	}
	return r == 0 && last ? prove_gap(w, index->bytes - disk_end(index, to), fault) : r;
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
	uint32_t batch, end;
	int r = worker_open(&w, &fault);

	while (r == 0 && crew_take(&p->crew, 1, &batch, &end))
		r = prove_batch(&w, batch, &fault);
	if (r < 0) {
		pthread_mutex_lock(&p->crew.lock);
		crew_fail(&p->crew, r, w.at, &fault);
		pthread_mutex_unlock(&p->crew.lock);
	}
	return NULL;
}

int prove_file(struct source *source, const struct image *image, struct progress *progress, struct fault *fault) {
	uint32_t chunks = image->index.chunk_count;
	// An image without chunks is one batch too: its gap.
	struct proof p = {.crew = CREW_INIT(chunks ? (chunks + BATCH - 1) / BATCH : 1),
			  .source = source,
			  .index = &image->index,
			  .progress = progress};
	int r;

	progress_begin(progress, index_end(&image->index));
	r = crew_run(&p.crew, crew_size(1, CREW_MAX, p.crew.items), work, &p, fault);
	if (r == 0)
		progress_end(progress);
	return r;
}
