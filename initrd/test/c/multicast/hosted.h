// SPDX-License-Identifier: Apache-2.0
// A receiver of multicast without a disk: one of many in a process, each with an address. Frames are compared with the
// image file, whichever way they come. Index, head, and what multicast leaves come by HTTP, in a thread.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "multicast/gather_need.h"
#include "multicast/address.h"
#include "source/feed.h"
#include "source/open.h"
#include "write/head.h"

#define HOSTED_MEMORY ((size_t)24 << 20)
#define HOSTED_IDLE (30 * SECOND)

enum hosted_state { HOSTED_WAITS, HOSTED_OPENS, HOSTED_RUNS, HOSTED_READS, HOSTED_DONE };

struct hosted_world {
	const char *urls;
	struct multicast_address address;
	uint16_t expected;
	const uint8_t *file; // the image, mapped
	uint8_t digest[HASH];
	struct index index;
	char digest_text[8 + 2 * HASH];
	atomic_uint wrong; // frames with other bytes, requests that failed
};

struct hosted {
	struct hosted_world *world;
	struct gather *gather;
	uint8_t *left; // what HTTP is to fetch
	int fd;	       // for NEEDs
	uint32_t client;
	uint64_t chance;
	double loss;
	uint64_t disk_rate; // bytes per second that its disk takes; 0: any
	uint64_t taken;
	struct slot *held, **held_end;	      // frames that its disk has not taken
	int64_t start, opened, joined, ended; // joined: index and head were there
	uint64_t multicast, http;	      // bytes
	uint32_t needs;
	const char *why; // it uses HTTP
	struct gather_counts counts;
	pthread_t thread;
	_Atomic enum hosted_state state;
};

static inline void hosted_compare(struct hosted *h, const struct chunk *chunk, const uint8_t *frame) {
	if (memcmp(frame, h->world->file + chunk->at, chunk->frame) != 0)
		h->world->wrong++;
}

static inline int hosted_read_left(struct hosted *h, struct source *source, struct fault *fault) {
	cleanup_with(feed_close) struct feed *feed = NULL;
	struct parcel *parcel = NULL;
	int r = feed_open_source(source, &h->world->index, h->left, 0, HOSTED_MEMORY, &feed, fault);

	while (r == 0 && (r = feed_next(feed, &parcel, fault)) == 0 && parcel) {
		hosted_compare(h, parcel->chunk, parcel->frame);
		feed_return(feed, parcel);
	}
	return r;
}

static inline int hosted_read_start(struct hosted *h, struct source *source, struct fault *fault) {
	struct image_trust trust = {.digest = h->world->digest_text};
	cleanup_with(image_close) struct image image = {0};
	cleanup_free uint8_t *head = malloc(CHUNK);
	int r = head ? image_open(source, &trust, &image, fault) : -ENOMEM;

	return r == 0 ? head_fetch(source, &image.index, head, fault) : r;
}

static void *hosted_read(void *data) {
	struct hosted *h = data;
	cleanup_with(urls_free) struct urls urls = {0};
	cleanup_with(source_close) struct source *source = NULL;
	struct fault fault;
	int r = urls_parse(h->world->urls, &urls, &fault);

	if (r == 0)
		r = source_open(&urls, "", HOSTED_IDLE, &source, &fault);
	if (r == 0)
		r = h->state == HOSTED_OPENS ? hosted_read_start(h, source, &fault)
					     : hosted_read_left(h, source, &fault);
	if (r < 0) {
		fault_print(&fault, "receivers");
		h->world->wrong++;
	}
	h->http += source ? source_received(source) : 0;
	h->opened = clock_now();
	h->state = h->state == HOSTED_OPENS ? HOSTED_RUNS : HOSTED_DONE;
	return NULL;
}

static inline void hosted_start_thread(struct hosted *h, enum hosted_state state) {
	h->state = state;
	if (pthread_create(&h->thread, NULL, hosted_read, h) != 0 || pthread_detach(h->thread) != 0)
		abort();
}

static inline void hosted_open(struct hosted *h, int64_t now) {
	struct gather_order order = {
		.index = &h->world->index, .client = h->client, .room = ROOM, .expected = h->world->expected};
	struct fault fault;

	if (gather_open(&order, now, &h->gather, &fault) < 0)
		abort();
	gather_drop(h->gather, 0); // the head
	h->joined = now;
	h->held_end = &h->held;
}

static inline bool hosted_loses(struct hosted *h) {
	h->chance ^= h->chance << 13;
	h->chance ^= h->chance >> 7;
	h->chance ^= h->chance << 17;
	return h->loss > 0 && (double)(h->chance >> 11) < h->loss * (double)(UINT64_C(1) << 53);
}

// What came is compared at once, and given back as fast as the disk takes it.
static inline void hosted_take(struct hosted *h, int64_t now) {
	for (struct slot *slot; (slot = gather_take(h->gather));) {
		const struct chunk *chunk = &h->world->index.chunks[slot->chunk];
		slot_restore(slot);
		hosted_compare(h, chunk, slot->frame);
		h->multicast += chunk->frame;
		slot->next = NULL;
		*h->held_end = slot;
		h->held_end = &slot->next;
	}
	for (struct slot *slot; (slot = h->held); gather_return(h->gather, slot)) {
		double may = (double)h->disk_rate * (double)(now - h->opened) / (double)SECOND;
		if (h->disk_rate > 0 && (double)h->taken > may)
			return;
		h->taken += h->world->index.chunks[slot->chunk].frame;
		h->held = slot->next;
		if (!h->held)
			h->held_end = &h->held;
	}
}

static inline void hosted_close(struct hosted *h) {
	h->counts = h->gather->counts;
	while (h->held) {
		struct slot *slot = h->held;
		h->held = slot->next;
		gather_return(h->gather, slot);
	}
	gather_close(&h->gather);
}

// The rest comes by HTTP.
static inline void hosted_leave(struct hosted *h, const char *why) {
	size_t size = bitmap_size(&h->world->index);

	h->why = why;
	h->left = calloc(1, size + 1);
	memcpy(h->left, h->gather->wanted, size);
	hosted_close(h);
	hosted_start_thread(h, HOSTED_READS);
}
