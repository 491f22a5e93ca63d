// SPDX-License-Identifier: Apache-2.0
#include "write/workers.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "disk/queue.h"
#include "image/frame.h"
#include "write/check.h"

#define WORKERS_MAX 12u // each with the buffers of a queue: what bounds the memory of a write
#define MERGE 32768u	// free bytes between two runs that are written along where free space may become anything

// Of all workers. `lock` guards the rest, and of `work` done, written and progress.
struct crew {
	struct work *work;
	pthread_mutex_t lock;
	int error; // of the first that failed
	struct fault fault;
};

// The next bytes to write in one go.
static bool next_write(const struct work *work, const struct chunk *chunk, size_t from, size_t *ret_from,
		       size_t *ret_size) {
	size_t start, size, more_from, more, merge = work->order->gaps == GAPS_DISCARD ? MERGE : 0;

	if (work->order->gaps == GAPS_ZERO) {
		*ret_from = from;
		*ret_size = chunk_size(work->index, chunk) - from;
		return *ret_size > 0;
	}
	if (!chunk_run(work->index, chunk, from, &start, &size))
		return false;
	while (chunk_run(work->index, chunk, start + size, &more_from, &more) && more_from - (start + size) <= merge)
		size = more_from + more - start;
	*ret_from = start;
	*ret_size = size;
	return true;
}

// What of it lies on the disk.
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

// The index does not know what the disk is to hold here: now is the time to read it back.
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

static void note_progress(struct crew *crew, const struct chunk *chunk) {
	struct work *work = crew->work;
	size_t size = chunk_used(work->index, chunk);

	pthread_mutex_lock(&crew->lock);
	work->done += size;
	progress_tick(work->progress, work->done);
	pthread_mutex_unlock(&crew->lock);
}

// Returns 1 when there are no more.
static int do_chunk(struct crew *crew, struct codec *codec, struct queue *queue, struct fault *fault) {
	struct work *work = crew->work;
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
	feed_return(work->feed, parcel);
	if (r == 0 && fit_changes(work->fit, work->index, chunk))
		r = write_changed(work, queue, chunk, data, fault);
	else if (r == 0)
		r = queue_chunk(work, queue, chunk, fault);
	if (r == 0)
		note_progress(crew, chunk);
	return r;
}

static int do_all(struct crew *crew, struct queue **queue, struct fault *fault) {
	cleanup_with(codec_close) struct codec *codec = NULL;
	int r = codec_open(0, &codec, fault);

	if (r == 0)
		r = queue_open(crew->work->device, queue, fault);
	while (r == 0)
		r = do_chunk(crew, codec, *queue, fault);
	return r < 0 ? r : queue_finish(*queue, fault);
}

static void *run(void *data) {
	cleanup_with(queue_close) struct queue *queue = NULL;
	struct crew *crew = data;
	struct fault fault;
	int r = do_all(crew, &queue, &fault);

	pthread_mutex_lock(&crew->lock);
	if (queue)
		crew->work->written += queue_written(queue);
	if (r < 0 && crew->error == 0) {
		crew->error = r;
		crew->fault = fault;
		feed_stop(crew->work->feed); // the others have nothing left to do
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static unsigned workers(const struct index *index) {
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = cores > 0 ? (unsigned)cores : 1;

	n = n < WORKERS_MAX ? n : WORKERS_MAX;
	return n < index->chunk_count ? n : 1;
}

int workers_run(struct work *work, struct fault *fault) {
	struct crew crew = {.work = work, .lock = PTHREAD_MUTEX_INITIALIZER};
	unsigned wanted = workers(work->index), count = 0;
	pthread_t threads[WORKERS_MAX];

	while (count + 1 < wanted && pthread_create(&threads[count], NULL, run, &crew) == 0)
		count++;
	run(&crew);
	while (count > 0)
		pthread_join(threads[--count], NULL);
	if (crew.error < 0)
		*fault = crew.fault;
	return crew.error;
}
