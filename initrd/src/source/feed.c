// SPDX-License-Identifier: Apache-2.0
// A feed out of a source. Each thread has a stream; it takes the next span of wanted chunks, asks for it as one range,
// and puts each frame into a slot of the pool.
#include "source/feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "source/span.h"
#include "source/stream.h"

#define STREAMS_MAX 16u

struct slot {
	struct parcel parcel; // first: a parcel is its slot
	struct slot *next;
};

struct source_feed;

struct worker {
	struct source_feed *feed;
	struct stream *stream;
	pthread_t thread;
};

struct source_feed {
	struct feed base;
	const struct index *index;
	const uint8_t *wanted;
	struct worker workers[STREAMS_MAX];
	unsigned worker_count; // threads that were started
	struct slot *slots;
	uint8_t *memory; // of all slots
	size_t memory_size;

	pthread_mutex_t lock; // for all below
	pthread_cond_t freed, filled;
	uint32_t cursor; // first chunk that nobody has taken
	struct slot *free;
	struct slot *first, **last; // frames to be handed out
	unsigned busy;	 // threads that may still bring some
	int error;	 // why it ended early
	struct fault fault;
};

// NULL: the feed has ended.
static struct slot *take_slot(struct source_feed *feed) {
	struct slot *slot = NULL;

	pthread_mutex_lock(&feed->lock);
	while (!feed->free && !feed->error)
		pthread_cond_wait(&feed->freed, &feed->lock);
	if (!feed->error) {
		slot = feed->free;
		feed->free = slot->next;
	}
	pthread_mutex_unlock(&feed->lock);
	return slot;
}

static void put_filled(struct source_feed *feed, struct slot *slot) {
	slot->next = NULL;
	pthread_mutex_lock(&feed->lock);
	*feed->last = slot;
	feed->last = &slot->next;
	pthread_cond_signal(&feed->filled);
	pthread_mutex_unlock(&feed->lock);
}

// The first reason counts. Under the lock.
static void end_early(struct source_feed *feed, int error, const struct fault *fault) {
	if (feed->error)
		return;
	feed->error = error;
	feed->fault = *fault;
	pthread_cond_broadcast(&feed->freed);
	pthread_cond_broadcast(&feed->filled);
	for (unsigned i = 0; i < feed->worker_count; i++)
		stream_stop(feed->workers[i].stream);
}

static int throw_away(struct stream *stream, uint64_t size, struct fault *fault) {
	char nowhere[16384];
	int r = 0;

	for (size_t n; r == 0 && size > 0; size -= n) {
		n = size < sizeof(nowhere) ? (size_t)size : sizeof(nowhere);
		r = stream_read(stream, nowhere, n, fault);
	}
	return r;
}

static int read_frame(struct worker *worker, const struct chunk *chunk, struct fault *fault) {
	struct slot *slot = take_slot(worker->feed);
	int r;

	if (!slot)
		return fault_errno(fault, CODE_FAILED, ECANCELED, "image");
	slot->parcel.chunk = chunk;
	r = stream_read(worker->stream, slot->parcel.frame, chunk->frame, fault);
	if (r == 0)
		put_filled(worker->feed, slot);
	else
		worker->feed->base.ops->give_back(&worker->feed->base, &slot->parcel);
	return r;
}

static int read_span(struct worker *worker, struct span span, struct fault *fault) {
	const struct chunk *chunks = worker->feed->index->chunks;
	uint64_t at = chunks[span.first].at;
	int r = 0;

	stream_range(worker->stream, at, frame_end(&chunks[span.end - 1]) - at);
	for (uint32_t i = span.first; r == 0 && i < span.end; i++) {
		if (!is_wanted(worker->feed->wanted, i))
			continue;
		r = throw_away(worker->stream, chunks[i].at - at, fault);
		if (r == 0)
			r = read_frame(worker, &chunks[i], fault);
		at = frame_end(&chunks[i]);
	}
	return r;
}

static void *work(void *data) {
	struct worker *worker = data;
	struct source_feed *feed = worker->feed;
	struct fault fault;
	struct span span;
	int r = 0;

	pthread_mutex_lock(&feed->lock);
	while (r == 0 && !feed->error && span_next(feed->index, feed->wanted, feed->cursor, &span)) {
		feed->cursor = span.end;
		pthread_mutex_unlock(&feed->lock);
		r = read_span(worker, span, &fault);
		pthread_mutex_lock(&feed->lock);
	}
	if (r < 0)
		end_early(feed, r, &fault);
	if (--feed->busy == 0)
		pthread_cond_broadcast(&feed->filled);
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

// The threads bring frames or an error before their streams' deadlines: this wait needs none of its own.
static int source_feed_next(struct feed *base, struct parcel **ret, struct fault *fault) {
	struct source_feed *feed = (struct source_feed *)base;
	struct slot *slot;
	int r;

	pthread_mutex_lock(&feed->lock);
	while (!feed->first && !feed->error && feed->busy > 0)
		pthread_cond_wait(&feed->filled, &feed->lock);
	r = feed->error;
	slot = r == 0 ? feed->first : NULL;
	if (r < 0)
		*fault = feed->fault;
	if (slot && !(feed->first = slot->next))
		feed->last = &feed->first;
	pthread_mutex_unlock(&feed->lock);
	if (r == 0)
		*ret = slot ? &slot->parcel : NULL;
	return r;
}

static void source_feed_give_back(struct feed *base, struct parcel *parcel) {
	struct source_feed *feed = (struct source_feed *)base;
	struct slot *slot = (struct slot *)parcel;

	pthread_mutex_lock(&feed->lock);
	slot->next = feed->free; // the last one first: its memory is touched already
	feed->free = slot;
	pthread_cond_signal(&feed->freed);
	pthread_mutex_unlock(&feed->lock);
}

static void source_feed_stop(struct feed *base) {
	struct source_feed *feed = (struct source_feed *)base;
	struct fault fault;
	int r = fault_errno(&fault, CODE_FAILED, ECANCELED, "image");

	pthread_mutex_lock(&feed->lock);
	end_early(feed, r, &fault);
	pthread_mutex_unlock(&feed->lock);
}

static void source_feed_close(struct feed *base) {
	struct source_feed *feed = (struct source_feed *)base;

	source_feed_stop(base);
	for (unsigned i = 0; i < feed->worker_count; i++)
		pthread_join(feed->workers[i].thread, NULL);
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		stream_close(&feed->workers[i].stream);
	if (feed->memory)
		munmap(feed->memory, feed->memory_size);
	pthread_cond_destroy(&feed->filled);
	pthread_cond_destroy(&feed->freed);
	pthread_mutex_destroy(&feed->lock);
	free(feed->slots);
	free(feed);
}

static int make_pool(struct source_feed *feed, size_t memory, struct fault *fault) {
	size_t count = memory / FRAME_MAX > 2 ? memory / FRAME_MAX : 2;
	void *all;

	feed->memory_size = count * FRAME_MAX;
	feed->slots = calloc(count, sizeof(*feed->slots));
	all = mmap(NULL, feed->memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!feed->slots || all == MAP_FAILED)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image: %zu bytes", feed->memory_size);
	feed->memory = all;
	for (size_t i = 0; i < count; i++) {
		feed->slots[i] = (struct slot){.parcel.frame = feed->memory + i * FRAME_MAX, .next = feed->free};
		feed->free = &feed->slots[i];
	}
	return 0;
}

static int start_workers(struct source_feed *feed, struct source *source, unsigned count, struct fault *fault) {
	int r = 0;

	for (unsigned i = 0; r == 0 && i < count; i++) {
		feed->workers[i].feed = feed;
		r = stream_open(source, &feed->workers[i].stream, fault);
	}
	pthread_mutex_lock(&feed->lock); // nobody may look at the count before it is right
	for (unsigned i = 0; r == 0 && i < count; i++) {
		r = -pthread_create(&feed->workers[i].thread, NULL, work, &feed->workers[i]);
		if (r < 0)
			fault_errno(fault, CODE_FAILED, r, "thread");
		else
			feed->worker_count = ++feed->busy;
	}
	pthread_mutex_unlock(&feed->lock);
	return r;
}

int feed_open_source(struct source *source, const struct index *index, const uint8_t *wanted, unsigned streams,
		     size_t memory,
		     struct feed **ret, struct fault *fault) {
	static const struct feed_ops ops = {source_feed_next, source_feed_give_back, source_feed_stop,
		source_feed_close};
	cleanup_with(feed_close) struct feed *base = NULL;
	struct source_feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	base = &feed->base;
	base->ops = &ops;
	feed->index = index;
	feed->wanted = wanted;
	feed->last = &feed->first;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->freed, NULL);
	pthread_cond_init(&feed->filled, NULL);
	if (streams == 0)
		streams = source_streams(source);
	r = make_pool(feed, memory, fault);
	if (r == 0)
		r = start_workers(feed, source, streams < STREAMS_MAX ? streams : STREAMS_MAX, fault);
	if (r < 0)
		return r;
	*ret = steal_pointer(&base);
	return 0;
}

void feed_close(struct feed **feed) {
	if (*feed)
		(*feed)->ops->close(*feed);
	*feed = NULL;
}
