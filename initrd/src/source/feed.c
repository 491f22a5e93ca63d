// SPDX-License-Identifier: Apache-2.0
// A feed that reads a source. Each thread has a stream; it takes the next range of wanted chunks, requests it as one
// range, and puts each frame into a slot of the pool.
#include "source/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/crew.h"
#include "source/range.h"
#include "source/stream.h"

#define STREAMS_MAX 16u

struct slot {
	struct parcel parcel; // must be first: a pointer to it is one to the slot
	struct slot *next;
};

struct source_feed;

struct worker {
	struct source_feed *feed;
	struct stream *stream;
};

struct source_feed {
	struct feed base;
	struct crew crew; // next: the first chunk that no thread has taken
	const struct index *index;
	const uint8_t *wanted;
	struct worker workers[STREAMS_MAX];
	unsigned stream_count;
	struct slot *slots;
	uint8_t *memory; // of all slots
	size_t memory_size;

	pthread_cond_t freed, filled; // from here on: under the lock of the crew
	struct slot *free;
	struct slot *first, **last; // frames to be delivered
	unsigned busy;		    // threads that may still deliver frames
	unsigned claimed;	    // workers that have a thread
};

// NULL: the feed was stopped.
static struct slot *take_slot(struct source_feed *feed) {
	struct slot *slot = NULL;

	pthread_mutex_lock(&feed->crew.lock);
	while (!feed->free && !feed->crew.error)
		pthread_cond_wait(&feed->freed, &feed->crew.lock);
	if (!feed->crew.error) {
		slot = feed->free;
		feed->free = slot->next;
	}
	pthread_mutex_unlock(&feed->crew.lock);
	return slot;
}

static void put_filled(struct source_feed *feed, struct slot *slot) {
	slot->next = NULL;
	pthread_mutex_lock(&feed->crew.lock);
	*feed->last = slot;
	feed->last = &slot->next;
	pthread_cond_signal(&feed->filled);
	pthread_mutex_unlock(&feed->crew.lock);
}

// Keeps the first reason. With the lock held.
static void end_early(struct source_feed *feed, int error, const struct fault *fault) {
	if (feed->crew.error)
		return;
	crew_fail(&feed->crew, error, 0, fault);
	pthread_cond_broadcast(&feed->freed);
	pthread_cond_broadcast(&feed->filled);
	for (unsigned i = 0; i < feed->stream_count; i++)
		stream_stop(feed->workers[i].stream);
}

static int skip_bytes(struct stream *stream, uint64_t size, struct fault *fault) {
	char unused[16384];
	int r = 0;

	for (size_t n; r == 0 && size > 0; size -= n) {
		n = size < sizeof(unused) ? (size_t)size : sizeof(unused);
		r = stream_read(stream, unused, n, fault);
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

static int read_range(struct worker *worker, struct range range, struct fault *fault) {
	const struct chunk *chunks = worker->feed->index->chunks;
	uint64_t at = chunks[range.first].at;
	int r = 0;

	stream_range(worker->stream, at, frame_end(&chunks[range.end - 1]) - at);
	for (uint32_t i = range.first; r == 0 && i < range.end; i++) {
		if (!is_wanted(worker->feed->wanted, i))
			continue;
		r = skip_bytes(worker->stream, chunks[i].at - at, fault);
		if (r == 0)
			r = read_frame(worker, &chunks[i], fault);
		at = frame_end(&chunks[i]);
	}
	return r;
}

static void *work(void *data) {
	struct source_feed *feed = data;
	struct worker *worker;
	struct fault fault;
	struct range range;
	int r = 0;

	pthread_mutex_lock(&feed->crew.lock);
	worker = &feed->workers[feed->claimed++];
	while (r == 0 && !feed->crew.error && range_next(feed->index, feed->wanted, feed->crew.next, &range)) {
		feed->crew.next = range.end;
		pthread_mutex_unlock(&feed->crew.lock);
		r = read_range(worker, range, &fault);
		pthread_mutex_lock(&feed->crew.lock);
	}
	if (r < 0)
		end_early(feed, r, &fault);
	if (--feed->busy == 0)
		pthread_cond_broadcast(&feed->filled);
	pthread_mutex_unlock(&feed->crew.lock);
	return NULL;
}

// This wait needs no deadline: the threads deliver frames or an error before the deadlines of their streams.
static int source_feed_next(struct feed *base, struct parcel **ret, struct fault *fault) {
	struct source_feed *feed = (struct source_feed *)base;
	struct slot *slot;
	int r;

	pthread_mutex_lock(&feed->crew.lock);
	while (!feed->first && !feed->crew.error && feed->busy > 0)
		pthread_cond_wait(&feed->filled, &feed->crew.lock);
	r = crew_result(&feed->crew, fault);
	slot = r == 0 ? feed->first : NULL;
	if (slot && !(feed->first = slot->next))
		feed->last = &feed->first;
	pthread_mutex_unlock(&feed->crew.lock);
	if (r == 0)
		*ret = slot ? &slot->parcel : NULL;
	return r;
}

static void source_feed_give_back(struct feed *base, struct parcel *parcel) {
	struct source_feed *feed = (struct source_feed *)base;
	struct slot *slot = (struct slot *)parcel;

	pthread_mutex_lock(&feed->crew.lock);
	slot->next = feed->free; // last in, first out: the kernel has mapped its memory already
	feed->free = slot;
	pthread_cond_signal(&feed->freed);
	pthread_mutex_unlock(&feed->crew.lock);
}

// Another server would send the same bytes.
static int source_feed_reject(struct feed *base, struct parcel *parcel, int error) {
	source_feed_give_back(base, parcel);
	return error;
}

static void source_feed_stop(struct feed *base) {
	struct source_feed *feed = (struct source_feed *)base;
	struct fault fault;
	int r = fault_errno(&fault, CODE_FAILED, ECANCELED, "image");

	pthread_mutex_lock(&feed->crew.lock);
	end_early(feed, r, &fault);
	pthread_mutex_unlock(&feed->crew.lock);
}

static void source_feed_close(struct feed *base) {
	struct source_feed *feed = (struct source_feed *)base;

	source_feed_stop(base);
	crew_join(&feed->crew);
	for (unsigned i = 0; i < STREAMS_MAX; i++)
		stream_close(&feed->workers[i].stream);
	if (feed->memory)
		munmap(feed->memory, feed->memory_size);
	pthread_cond_destroy(&feed->filled);
	pthread_cond_destroy(&feed->freed);
	pthread_mutex_destroy(&feed->crew.lock);
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
		feed->stream_count += r == 0;
	}
	if (r < 0)
		return r;
	pthread_mutex_lock(&feed->crew.lock); // no thread may see `busy` before it is right
	r = crew_start(&feed->crew, count, work, feed, fault);
	feed->busy = feed->crew.started;
	pthread_mutex_unlock(&feed->crew.lock);
	return r;
}

int feed_open_source(struct source *source, const struct index *index, const uint8_t *wanted, unsigned streams,
		     size_t memory, struct feed **ret, struct fault *fault) {
	static const struct feed_ops ops = {source_feed_next, source_feed_give_back, source_feed_reject,
					    source_feed_stop, source_feed_close};
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
	pthread_mutex_init(&feed->crew.lock, NULL);
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
