// SPDX-License-Identifier: Apache-2.0
#include "write/workers.h"

#include "base/cleanup.h"
#include "base/crew.h"
#include "disk/queue.h"
#include "image/frame.h"
#include "write/check.h"

#define WORKERS_MAX 12u // each has the buffers of a queue, so this limits memory
#define MERGE 32768u	// free bytes between two runs that are written with them, if free space may change

// What the threads share. The lock of the crew guards `done`, `written` and `progress` of the work.
struct writers {
	struct crew crew; // without items: the feed hands out the chunks
	struct work *work;
};

// The next bytes to write in one go.
static bool next_write(const struct work *work, const struct chunk *chunk, size_t from, size_t *ret_from,
		       size_t *ret_size) {
	size_t gap = work->order->gaps == GAPS_DISCARD ? MERGE : 0;

	if (work->order->gaps != GAPS_ZERO)
		return chunk_runs(work->index, chunk, from, gap, ret_from, ret_size);
	*ret_from = from;
	*ret_size = chunk_size(work->index, chunk) - from;
	return *ret_size > 0;
}

// How many of these bytes lie below the limit.
static size_t within(const struct work *work, uint64_t offset, size_t size) {
	uint64_t limit = work->fit->limit;
	return offset >= limit ? 0 : limit - offset < size ? (size_t)(limit - offset) : size;
}

static int queue_chunk(const struct work *work, struct queue *queue, const struct chunk *chunk, struct fault *fault) {
	int r = 0;

	for (size_t from = 0, size = 0; r == 0 && next_write(work, chunk, from, &from, &size); from += size) {
		size_t n = within(work, chunk->offset + from, size);
		if (n > 0)
			r = queue_write(queue, from, n, chunk->offset + from, fault);
	}
	return r;
}

// The disk gets something else than the index promises, so it can only be checked now.
static int write_changed(const struct work *work, struct queue *queue, const struct chunk *chunk, uint8_t *data,
			 struct fault *fault) {
	int r;

	fit_chunk(work->fit, work->index, chunk, data);
	r = queue_chunk(work, queue, chunk, fault);
	if (r == 0)
		r = queue_finish(queue, fault);
	if (work->order->check == CHECK_NONE)
		return r;
	for (size_t from = 0, size = 0; r == 0 && next_write(work, chunk, from, &from, &size); from += size) {
		size_t n = within(work, chunk->offset + from, size);
		if (n > 0)
			r = check_bytes(work->device, data + from, n, chunk->offset + from, fault);
	}
	return r;
}

static void note_progress(struct writers *writers, const struct chunk *chunk) {
	struct work *work = writers->work;
	size_t size = chunk_used(work->index, chunk);

	pthread_mutex_lock(&writers->crew.lock);
	work->done += size;
	progress_tick(work->progress, work->done);
	pthread_mutex_unlock(&writers->crew.lock);
}

// Returns 1 at the end of the feed.
static int do_chunk(struct writers *writers, struct codec *codec, struct queue *queue, struct fault *fault) {
	struct work *work = writers->work;
	struct parcel *parcel = NULL;
	const struct chunk *chunk;
	uint8_t *data = NULL;
	int r = queue_take(queue, &data, fault);

	if (r == 0)
		r = feed_next(work->feed, &parcel, fault);
	if (r < 0 || !parcel)
		return r < 0 ? r : 1;
	chunk = parcel->chunk;
	r = frame_read(codec, work->index, chunk, parcel->frame, data, fault);
	if (r < 0) // on 0 the chunk will come again
		return feed_reject(work->feed, parcel, r);
	feed_return(work->feed, parcel);
	if (fit_changes(work->fit, work->index, chunk))
		r = write_changed(work, queue, chunk, data, fault);
	else
		r = queue_chunk(work, queue, chunk, fault);
	if (r == 0)
		note_progress(writers, chunk);
	return r;
}

static int do_all(struct writers *writers, struct queue **queue, struct fault *fault) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	int r = codec_open(0, &codec, fault);

	if (r == 0)
		r = queue_open(writers->work->device, QUEUE_DEPTH, queue, fault);
	while (r == 0)
		r = do_chunk(writers, codec, *queue, fault);
	return r < 0 ? r : queue_finish(*queue, fault);
}

static void *run(void *data) {
	cleanup_with(queue_close) struct queue *queue = NULL;
	struct writers *writers = data;
	struct fault fault;
	int r = do_all(writers, &queue, &fault);

	pthread_mutex_lock(&writers->crew.lock);
	if (queue)
		writers->work->written += queue_written(queue);
	if (r < 0) {
		crew_fail(&writers->crew, r, 0, &fault);
		feed_stop(writers->work->feed); // the others have nothing left to do
	}
	pthread_mutex_unlock(&writers->crew.lock);
	return NULL;
}

int workers_run(struct work *work, struct fault *fault) {
	struct writers writers = {.crew = CREW_INIT(0), .work = work};

	return crew_run(&writers.crew, crew_size(1, WORKERS_MAX, work->index->chunk_count), run, &writers, fault);
}
