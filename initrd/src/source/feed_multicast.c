// SPDX-License-Identifier: Apache-2.0
// A thread receives packets and sends NEEDs. When it is over, the rest comes from a feed of the source.
#include "source/feed_multicast.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "multicast/gather_need.h"
#include "net/udp.h"

#define WAKES (250 * MILLISECOND) // at least, to see how long nothing came
#define REJECTED_MOST 8u
#define PACKETS 64u // received at once

struct multicast_parcel {
	struct parcel parcel; // must be first
	struct slot *slot;
};

struct multicast_feed {
	struct feed base;
	struct source *source;
	size_t memory;
	struct place place;
	struct session session;
	struct multicast_told *told;
	uint32_t client;
	int group, sender, wake; // sockets; eventfd
	uint8_t *buffers;
	struct udp_packet packets[PACKETS];
	pthread_t thread;
	bool has_thread;

	pthread_mutex_t lock; // for what follows
	pthread_cond_t changed;
	struct gather *gather;
	uint8_t *rest; // chunks that the source is read for
	bool has_rest, is_over, is_stopped, heard;
	int64_t started, last_data;
	uint32_t held; // parcels that were not returned
	struct feed *inner; // once it is over; NULL: nothing was left
	bool has_inner;
};

static struct multicast_feed *of(struct feed *base) { return (struct multicast_feed *)base; }

// With the lock held.
static void end_multicast(struct multicast_feed *feed, const char *why) {
	if (feed->is_over)
		return;
	feed->is_over = true;
	snprintf(feed->told->why, sizeof(feed->told->why), "%s", why);
	pthread_cond_broadcast(&feed->changed);
}

static void take_announce(struct multicast_feed *feed, const struct packet *packet, int64_t now) {
	bool is_mine = packet->announce.client == feed->client;

	gather_announce(feed->gather, packet, now);
	if (is_mine && packet->flags & FLAG_ALONE)
		end_multicast(feed, "no other node requests it");
	else if (is_mine && packet->flags & FLAG_LEAVE)
		end_multicast(feed, "the sender refuses this node");
}

static void take_packets(struct multicast_feed *feed, int fd, int64_t now) {
	static const size_t room = PACKET_MAX + 1;
	size_t count = udp_receive(fd, feed->packets, PACKETS, room);
	struct packet packet;

	for (size_t i = 0; i < count && !feed->is_over; i++) {
		const struct udp_packet *from = &feed->packets[i];
		if (packet_decode(from->data, from->size, &feed->session, &packet) != PACKET_TAKEN)
			continue;
		if (packet.type == PACKET_DATA && gather_data(feed->gather, packet.sequence, &packet.data, now)) {
			feed->heard = true;
			feed->last_data = now;
		} else if (packet.type == PACKET_ANNOUNCE) {
			feed->heard = true;
			take_announce(feed, &packet, now);
		}
	}
}

static void judge(struct multicast_feed *feed, int64_t now) {
	if (feed->gather->left == 0)
		end_multicast(feed, "");
	else if (!feed->heard && now - feed->started > feed->place.join)
		end_multicast(feed, "nobody sends it");
	else if (now - feed->last_data > feed->place.silence)
		end_multicast(feed, "the sender is silent");
	else if (feed->gather->verdict == GATHER_LOSES)
		end_multicast(feed, "too many packets are lost");
	else if (feed->gather->verdict == GATHER_LACKS_ROOM)
		end_multicast(feed, "this node is too slow");
}

static void send_need(struct multicast_feed *feed, int64_t now) {
	uint8_t bytes[PACKET_MAX];
	struct packet need;

	if (!feed->is_over && gather_need(feed->gather, now, &need))
		(void)send(feed->sender, bytes, packet_encode(&need, &feed->session, bytes), MSG_DONTWAIT);
}

static void *receive(void *data) {
	struct multicast_feed *feed = data;
	struct pollfd wait[] = {{.fd = feed->group, .events = POLLIN}, {.fd = feed->sender, .events = POLLIN},
		{.fd = feed->wake, .events = POLLIN}};
	bool is_over = false;

	while (!is_over) {
		int64_t now = clock_now(), next;
		pthread_mutex_lock(&feed->lock);
		take_packets(feed, feed->group, now);
		take_packets(feed, feed->sender, now);
		send_need(feed, now);
		judge(feed, now);
		if (feed->gather->ready)
			pthread_cond_broadcast(&feed->changed);
		next = feed->gather->next_need < now + WAKES ? feed->gather->next_need : now + WAKES;
		is_over = feed->is_over || feed->is_stopped;
		pthread_mutex_unlock(&feed->lock);
		if (!is_over)
			(void)poll(wait, ELEMENTS(wait), clock_poll_timeout(next));
	}
	return NULL;
}

// The chunks that did not come. With the lock held, when no parcel is out.
static int open_inner(struct multicast_feed *feed, struct fault *fault) {
	const struct index *index = feed->gather->order.index;
	int r = 0;

	for (uint32_t i = 0; i < index->chunk_count; i++) {
		if (bitmap_has(feed->gather->wanted, i))
			bitmap_add(feed->rest, i);
		feed->has_rest |= bitmap_has(feed->rest, i);
	}
	feed->has_inner = true;
	if (feed->has_rest)
		r = feed_open_source(feed->source, index, feed->rest, 0, feed->memory, &feed->inner, fault);
	pthread_cond_broadcast(&feed->changed);
	return r;
}

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

// This wait needs no deadline: the thread ends multicast before its own.
static int multicast_next(struct feed *base, struct parcel **ret, struct fault *fault) {
	struct multicast_feed *feed = of(base);
	struct feed *inner = NULL;
	int r = 0;

	*ret = NULL;
	pthread_mutex_lock(&feed->lock);
	while (!feed->is_stopped && !feed->gather->ready && !feed->has_inner && !(feed->is_over && feed->held == 0))
		pthread_cond_wait(&feed->changed, &feed->lock);
	if (feed->is_stopped)
		r = fault_errno(fault, CODE_FAILED, ECANCELED, "image");
	else if (feed->gather->ready)
		r = take_parcel(feed, ret, fault);
	else if (!feed->has_inner)
		r = open_inner(feed, fault);
	inner = feed->inner;
	pthread_mutex_unlock(&feed->lock);
	if (r == 0 && *ret)
		slot_restore(((struct multicast_parcel *)*ret)->slot);
	else if (r == 0 && inner)
		r = feed_next(inner, ret, fault);
	return r;
}

// Parcels are of the inner feed once there is one: all others were returned before.
static void give_back(struct multicast_feed *feed, struct parcel *parcel, bool is_right) {
	struct multicast_parcel *own = (struct multicast_parcel *)parcel;

	if (is_right) {
		feed->told->bytes += parcel->chunk->frame;
	} else {
		bitmap_add(feed->rest, own->slot->chunk);
		if (++feed->told->rejected >= REJECTED_MOST)
			end_multicast(feed, "frames were not right");
	}
	gather_return(feed->gather, own->slot);
	feed->held--;
	pthread_cond_broadcast(&feed->changed);
	free(own);
}

// False: it is a parcel of the inner feed.
static bool give_back_own(struct multicast_feed *feed, struct parcel *parcel, bool is_right) {
	bool is_own;

	pthread_mutex_lock(&feed->lock);
	is_own = !feed->has_inner;
	if (is_own)
		give_back(feed, parcel, is_right);
	pthread_mutex_unlock(&feed->lock);
	return is_own;
}

static void multicast_give_back(struct feed *base, struct parcel *parcel) {
	if (!give_back_own(of(base), parcel, true))
		feed_return(of(base)->inner, parcel);
}

static int multicast_reject(struct feed *base, struct parcel *parcel, int error) {
	return give_back_own(of(base), parcel, false) ? 0 : feed_reject(of(base)->inner, parcel, error);
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
		.ms = (uint32_t)((clock_now() - feed->started) / MILLISECOND),
		.lost = (uint32_t)counts->lost,
		.duplicate = (uint32_t)counts->duplicate,
		.dropped = (uint32_t)counts->dropped,
		.rejected = feed->told->rejected,
		.multicast_bytes = feed->told->bytes,
		.http_bytes = source_received(feed->source),
	};
	feed->told->packets = counts->received;
	feed->told->lost = counts->lost;
	feed->told->dropped = counts->dropped;
	if (feed->heard)
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
	free(feed->rest);
	free(feed);
}

static int open_sockets(struct multicast_feed *feed, const uint8_t digest[HASH], struct fault *fault) {
	struct sockaddr_in group = place_group(digest);
	struct in_addr local;
	int r = udp_connect(&feed->place.sender, &local, &feed->sender, fault);

	if (r == 0)
		r = udp_join(&group, local, &feed->group, fault);
	feed->wake = eventfd(0, EFD_CLOEXEC);
	return r == 0 && feed->wake < 0 ? fault_errno(fault, CODE_FAILED, errno, "eventfd") : r;
}

static int start(struct multicast_feed *feed, const struct index *index, const uint8_t *wanted, struct fault *fault) {
	struct gather_order order = {.index = index, .wanted = wanted, .room = (uint32_t)(feed->memory / SYMBOL)};
	int r;

	while (feed->client == 0)
		if (getrandom(&feed->client, sizeof(feed->client), 0) < 0)
			return fault_errno(fault, CODE_FAILED, errno, "random numbers");
	order.client = feed->client;
	feed->started = feed->last_data = clock_now();
	r = gather_open(&order, feed->started, &feed->gather, fault);
	if (r < 0)
		return r;
	r = pthread_create(&feed->thread, NULL, receive, feed);
	feed->has_thread = r == 0;
	return r ? fault_errno(fault, CODE_FAILED, r, "starting a thread") : 0;
}

int feed_open_multicast(struct source *source, const struct index *index, const uint8_t *wanted, size_t memory,
			const struct place *place, const uint8_t digest[HASH], struct multicast_told *told,
			struct feed **ret, struct fault *fault) {
	static const struct feed_ops ops = {multicast_next, multicast_give_back, multicast_reject, multicast_stop,
		multicast_close};
	cleanup_with(feed_close) struct feed *base = NULL;
	struct multicast_feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	base = &feed->base;
	*feed = (struct multicast_feed){.base = {&ops}, .source = source, .memory = memory, .place = *place,
		.told = told, .group = -1, .sender = -1, .wake = -1, .session = {.has_key = place->has_key}};
	memcpy(feed->session.id, digest, SESSION_ID);
	memcpy(feed->session.key, place->key, SIPHASH_KEY);
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->changed, NULL);
	feed->buffers = malloc(PACKETS * (PACKET_MAX + 1));
	feed->rest = calloc(1, bitmap_size(index) + 1);
	for (size_t i = 0; i < PACKETS; i++)
		feed->packets[i].data = feed->buffers + i * (PACKET_MAX + 1);
	r = feed->buffers && feed->rest ? 0 : fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	if (r == 0)
		r = open_sockets(feed, digest, fault);
	if (r == 0)
		r = start(feed, index, wanted, fault);
	if (r < 0)
		return r;
	*ret = steal_pointer(&base);
	return 0;
}
