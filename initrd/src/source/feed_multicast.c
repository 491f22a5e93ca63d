// SPDX-License-Identifier: Apache-2.0
// Frames come from packets or from a feed of the source: one after the other, as often as the state changes. In between
// all parcels are returned.
#include "source/feed_multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "source/multicast_thread.h"

#define REJECTED_MOST 8u

struct multicast_parcel {
	struct parcel parcel; // must be first
	struct slot *slot;
};

static struct multicast_feed *of(struct feed *base) { return (struct multicast_feed *)base; }

// What has not come yet. False: nothing.
static bool find_missing(struct multicast_feed *feed) {
	const struct index *index = feed->gather->order.index;
	bool is_any = false;

	for (uint32_t i = 0; i < index->chunk_count; i++) {
		bool is_missing = bitmap_has(feed->gather->wanted, i) || bitmap_has(feed->rejected, i);
		if (is_missing)
			bitmap_add(feed->inner_wanted, i);
		else
			bitmap_remove(feed->inner_wanted, i);
		is_any |= is_missing;
	}
	return is_any;
}

// With the lock held; so are the following.
static int take_parcel(struct multicast_feed *feed, struct parcel **ret, struct fault *fault) {
	struct multicast_parcel *parcel = calloc(1, sizeof(*parcel));

	if (!parcel)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	parcel->slot = gather_take(feed->gather);
	parcel->parcel = (struct parcel){&feed->gather->order.index->chunks[parcel->slot->chunk], parcel->slot->frame};
	feed->held++;
	*ret = &parcel->parcel;
	return 0;
}

static void note_inner(struct multicast_feed *feed, const struct parcel *parcel) {
	uint32_t i = (uint32_t)(parcel->chunk - feed->gather->order.index->chunks);

	feed->held++;
	gather_drop(feed->gather, i);
	bitmap_remove(feed->rejected, i);
}

// Waits without the lock. An error is none if this feed has stopped the inner one itself.
static int take_inner(struct multicast_feed *feed, struct parcel **ret, struct fault *fault) {
	int r;

	feed->inside++;
	pthread_mutex_unlock(&feed->lock);
	r = feed_next(feed->inner, ret, fault);
	pthread_mutex_lock(&feed->lock);
	feed->inside--;
	pthread_cond_broadcast(&feed->changed);
	if (r == 0 && *ret)
		note_inner(feed, *ret);
	return feed->state == MULTICAST_RETURNS && !feed->is_stopped ? 0 : r;
}

static void end_inner(struct multicast_feed *feed) {
	feed_close(&feed->inner);
	multicast_return(feed);
}

// Whether frames come from the source now, or there are none left. No parcel of packets is out.
static bool is_paused(const struct multicast_feed *feed) {
	return (feed->state == MULTICAST_PAUSES || feed->state == MULTICAST_ENDED) && (feed->inner || feed->held == 0);
}

// Does what the state permits. Returns 1 when *ret is the result, 0 to be called again.
static int step(struct multicast_feed *feed, struct parcel **ret, struct fault *fault) {
	int r;

	if (feed->is_stopped)
		return fault_errno(fault, CODE_FAILED, ECANCELED, "image");
	if (feed->gather->ready) {
		r = take_parcel(feed, ret, fault);
		return r < 0 ? r : 1;
	}
	if (feed->state == MULTICAST_RETURNS && feed->inside == 0 && feed->held == 0) {
		end_inner(feed);
		return 0;
	}
	if (!is_paused(feed)) {
		// without deadline: the thread changes the state in time
		pthread_cond_wait(&feed->changed, &feed->lock);
		return 0;
	}
	if (!feed->inner && !find_missing(feed))
		return 1;
	if (!feed->inner)
		return feed_open_source(feed->source, feed->gather->order.index, feed->inner_wanted, 0, feed->memory,
					&feed->inner, fault);
	r = take_inner(feed, ret, fault);
	return r < 0 ? r : *ret || feed->state != MULTICAST_RETURNS;
}

static int multicast_next(struct feed *base, struct parcel **ret, struct fault *fault) {
	struct multicast_feed *feed = of(base);
	bool is_own;
	int r = 0;

	*ret = NULL;
	pthread_mutex_lock(&feed->lock);
	while (r == 0)
		r = step(feed, ret, fault);
	is_own = !feed->inner;
	pthread_mutex_unlock(&feed->lock);
	if (r > 0 && *ret && is_own)
		slot_restore(((struct multicast_parcel *)*ret)->slot);
	return r < 0 ? r : 0;
}

static void give_back_own(struct multicast_feed *feed, struct multicast_parcel *own, bool is_right) {
	if (is_right) {
		feed->summary->bytes += own->parcel.chunk->frame;
	} else {
		bitmap_add(feed->rejected, own->slot->chunk);
		if (++feed->summary->rejected >= REJECTED_MOST)
			multicast_end(feed, "frames were not right");
	}
	gather_return(feed->gather, own->slot);
	free(own);
}

// Parcels are of the inner feed while there is one: all others were returned before.
static int give_back(struct multicast_feed *feed, struct parcel *parcel, int error) {
	int r = 0;

	pthread_mutex_lock(&feed->lock);
	if (!feed->inner)
		give_back_own(feed, (struct multicast_parcel *)parcel, error == 0);
	else if (error)
		r = feed_reject(feed->inner, parcel, error);
	else
		feed_return(feed->inner, parcel);
	feed->held--;
	pthread_cond_broadcast(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	return r;
}

static void multicast_give_back(struct feed *base, struct parcel *parcel) { (void)give_back(of(base), parcel, 0); }

static int multicast_reject(struct feed *base, struct parcel *parcel, int error) {
	return give_back(of(base), parcel, error);
}

static void multicast_stop(struct feed *base) {
	struct multicast_feed *feed = of(base);
	const uint64_t one = 1;

	pthread_mutex_lock(&feed->lock);
	feed->is_stopped = true;
	if (feed->inner)
		feed_stop(feed->inner);
	pthread_cond_broadcast(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	if (write(feed->wake, &one, sizeof(one)) < 0)
		return; // it wakes by itself
}

static void send_stats(struct multicast_feed *feed) {
	const struct gather_counts *counts = &feed->gather->counts;
	uint8_t bytes[PACKET_MAX];
	struct packet packet = {.type = PACKET_STATS};

	packet.stats = (struct stats_packet){
		.client = feed->client,
		.ms = (uint32_t)((clock_now() - feed->opened) / MILLISECOND),
		.lost = (uint32_t)counts->lost,
		.duplicate = (uint32_t)counts->duplicate,
		.dropped = (uint32_t)counts->dropped,
		.rejected = feed->summary->rejected,
		.multicast_bytes = feed->summary->bytes,
		.http_bytes = source_received(feed->source),
	};
	feed->summary->packets = counts->received;
	feed->summary->lost = counts->lost;
	feed->summary->last = counts->received > 0 ? feed->gather->sequence : 0;
	feed->summary->dropped = counts->dropped;
	if (feed->heard || feed->answered)
		(void)send(feed->sender, bytes, packet_encode(&packet, &feed->session, bytes), MSG_DONTWAIT);
}

static void multicast_close(struct feed *base) {
	struct multicast_feed *feed = of(base);

	multicast_stop(base);
	if (feed->has_thread)
		pthread_join(feed->thread, NULL);
	feed_close(&feed->inner);
	if (feed->gather && feed->sender >= 0)
		send_stats(feed);
	gather_close(&feed->gather);
	cleanup_close_(&feed->group);
	cleanup_close_(&feed->sender);
	cleanup_close_(&feed->wake);
	pthread_cond_destroy(&feed->changed);
	pthread_mutex_destroy(&feed->lock);
	free(feed->buffers);
	free(feed->packets);
	free(feed->rejected);
	free(feed->inner_wanted);
	free(feed);
}

static int open_sockets(struct multicast_feed *feed, const uint8_t digest[HASH], struct fault *fault) {
	struct sockaddr_in group = address_group(digest);
	struct in_addr local;
	int r = udp_connect(&feed->address.sender, &local, &feed->sender, fault);

	if (r == 0)
		r = udp_join(&group, local, &feed->group, fault);
	feed->wake = eventfd(0, EFD_CLOEXEC);
	return r == 0 && feed->wake < 0 ? fault_errno(fault, CODE_FAILED, errno, "eventfd") : r;
}

static int start(struct multicast_feed *feed, const struct index *index, const uint8_t *wanted, struct fault *fault) {
	struct gather_order order = {.index = index,
				     .wanted = wanted,
				     .room = (uint32_t)(feed->memory / SYMBOL),
				     .expected = feed->address.expected};
	int r;

	feed->client = feed->address.client;
	while (feed->client == 0)
		if (getrandom(&feed->client, sizeof(feed->client), 0) < 0)
			return fault_errno(fault, CODE_FAILED, errno, "random numbers");
	order.client = feed->client;
	feed->opened = feed->started = feed->last_data = clock_now();
	r = gather_open(&order, feed->started, &feed->gather, fault);
	return r == 0 ? multicast_start(feed, fault) : r;
}

int feed_open_multicast(struct source *source, const struct index *index, const uint8_t *wanted, size_t memory,
			const struct multicast_address *address, const uint8_t digest[HASH],
			struct multicast_summary *summary, struct feed **ret, struct fault *fault) {
	static const struct feed_ops ops = {multicast_next, multicast_give_back, multicast_reject, multicast_stop,
					    multicast_close};
	cleanup_with(feed_close) struct feed *base = NULL;
	struct multicast_feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	base = &feed->base;
	*feed = (struct multicast_feed){.base = {&ops},
					.source = source,
					.memory = memory,
					.address = *address,
					.summary = summary,
					.group = -1,
					.sender = -1,
					.wake = -1,
					.session = {.has_key = address->has_key}};
	memcpy(feed->session.id, digest, SESSION_ID);
	memcpy(feed->session.key, address->key, SIPHASH_KEY);
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->changed, NULL);
	feed->rejected = calloc(1, bitmap_size(index) + 1);
	feed->inner_wanted = calloc(1, bitmap_size(index) + 1);
	r = feed->rejected && feed->inner_wanted ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	if (r == 0)
		r = open_sockets(feed, digest, fault);
	if (r == 0)
		r = start(feed, index, wanted, fault);
	if (r < 0)
		return r;
	*ret = steal_pointer(&base);
	return 0;
}
