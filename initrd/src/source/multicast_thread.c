// SPDX-License-Identifier: Apache-2.0
#include "source/multicast_thread.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define WAKES (250 * MILLISECOND) // at least, to see how long nothing came
#define PACKETS 64u		  // received at once
#define ALIVE_ALONE SECOND
#define ALIVE_SILENT (5 * SECOND)
#define RETURNS_MOST 8u	 // each costs what the source had sent and nobody had taken
#define SILENCES_MOST 3u // each costs the time until it is noticed

static void explain(struct multicast_feed *feed, const char *why) {
	if (*why)
		snprintf(feed->summary->why, sizeof(feed->summary->why), "%s", why);
	pthread_cond_broadcast(&feed->changed);
}

void multicast_end(struct multicast_feed *feed, const char *why) {
	if (feed->state == MULTICAST_ENDED)
		return;
	feed->state = MULTICAST_ENDED;
	explain(feed, why);
}

static void pause_multicast(struct multicast_feed *feed, int64_t every, const char *why, int64_t now) {
	if (feed->returns == RETURNS_MOST || feed->silences == SILENCES_MOST) {
		multicast_end(feed, why);
		return;
	}
	feed->state = MULTICAST_PAUSES;
	feed->alive_every = every;
	feed->next_alive = now + every;
	gather_reset(feed->gather, now);
	explain(feed, why);
}

static void pause_for_silence(struct multicast_feed *feed, const char *why, int64_t now) {
	feed->silences++;
	pause_multicast(feed, ALIVE_SILENT, why, now);
}

void multicast_return(struct multicast_feed *feed) {
	int64_t now = clock_now();

	feed->state = MULTICAST_RUNS;
	feed->heard = feed->answered = false;
	feed->started = feed->last_data = now;
	gather_reset(feed->gather, now);
	pthread_cond_broadcast(&feed->changed);
}

static void take_announce(struct multicast_feed *feed, const struct packet *packet, int64_t now) {
	bool is_mine = packet->announce.client == feed->client;

	gather_announce(feed->gather, packet, now);
	if (is_mine && packet->flags & FLAG_ALONE)
		pause_multicast(feed, ALIVE_ALONE, "no other node requests it", now);
	else if (is_mine && packet->flags & FLAG_LEAVE)
		multicast_end(feed, "the sender refuses this node");
}

static void take_packet(struct multicast_feed *feed, const struct packet *packet, int64_t now) {
	if (packet->type == PACKET_ANNOUNCE) {
		take_announce(feed, packet, now);
	} else if (packet->type == PACKET_DATA && gather_data(feed->gather, packet->sequence, &packet->data, now)) {
		feed->last_data = now;
	}
}

// Whether the image is sent, or would be if this node requested it.
static bool is_sent(const struct multicast_feed *feed, const struct packet *packet) {
	if (packet->type != PACKET_ANNOUNCE)
		return packet->type == PACKET_DATA;
	if (packet->announce.client == feed->client)
		return !(packet->flags & (FLAG_ALONE | FLAG_LEAVE));
	return packet->announce.client == 0 && !(packet->flags & FLAG_IDLE);
}

static void watch_packet(struct multicast_feed *feed, const struct packet *packet) {
	if (feed->gather->left == 0 || !is_sent(feed, packet))
		return;
	feed->state = MULTICAST_RETURNS;
	feed->returns++;
	if (feed->inner)
		feed_stop(feed->inner);
	pthread_cond_broadcast(&feed->changed);
}

static void take_packets(struct multicast_feed *feed, int fd, int64_t now) {
	size_t count = udp_receive(fd, feed->packets, PACKETS, PACKET_MAX + 1);
	struct packet packet;

	for (size_t i = 0; i < count; i++) {
		const struct udp_packet *from = &feed->packets[i];
		if (packet_decode(from->data, from->size, &feed->session, &packet) != PACKET_TAKEN) {
			feed->summary->refused++;
			continue;
		}
		feed->heard |= fd == feed->group;
		feed->answered |= fd == feed->sender;
		if (feed->state == MULTICAST_RUNS)
			take_packet(feed, &packet, now);
		else if (feed->state == MULTICAST_PAUSES)
			watch_packet(feed, &packet);
	}
}

static void judge(struct multicast_feed *feed, int64_t now) {
	if (feed->state != MULTICAST_RUNS)
		return;
	if (feed->gather->left == 0)
		multicast_end(feed, "");
	else if (!feed->heard && now - feed->started > feed->address.join)
		pause_for_silence(feed, feed->answered ? "packets to the group do not arrive" : "nobody sends it", now);
	else if (now - feed->last_data > feed->address.silence)
		pause_for_silence(feed, "the sender is silent", now);
	else if (feed->gather->verdict == GATHER_LOSES)
		multicast_end(feed, "too many packets are lost");
	else if (feed->gather->verdict == GATHER_LACKS_ROOM)
		multicast_end(feed, "this node is too slow");
}

// Returns when it is to be called again.
static int64_t send_need(struct multicast_feed *feed, int64_t now) {
	uint8_t bytes[PACKET_MAX];
	struct packet need;
	bool is_due = false;

	if (feed->state == MULTICAST_RUNS)
		is_due = gather_need(feed->gather, now, &need);
	else if (feed->state == MULTICAST_PAUSES && now >= feed->next_alive && feed->gather->left > 0) {
		gather_alive(feed->gather, now, &need);
		feed->next_alive = now + feed->alive_every;
		is_due = true;
	}
	if (is_due)
		(void)send(feed->sender, bytes, packet_encode(&need, &feed->session, bytes), MSG_DONTWAIT);
	return feed->state == MULTICAST_RUNS ? feed->gather->next_need : feed->next_alive;
}

static void *receive(void *data) {
	struct multicast_feed *feed = data;
	struct pollfd wait[] = {{.fd = feed->group, .events = POLLIN},
				{.fd = feed->sender, .events = POLLIN},
				{.fd = feed->wake, .events = POLLIN}};
	bool is_over = false;

	while (!is_over) {
		int64_t now = clock_now(), next;
		pthread_mutex_lock(&feed->lock);
		take_packets(feed, feed->group, now);
		take_packets(feed, feed->sender, now);
		judge(feed, now);
		next = send_need(feed, now);
		if (feed->gather->ready)
			pthread_cond_broadcast(&feed->changed);
		next = next < now + WAKES ? next : now + WAKES;
		is_over = feed->state == MULTICAST_ENDED || feed->is_stopped;
		pthread_mutex_unlock(&feed->lock);
		if (!is_over)
			(void)poll(wait, ELEMENTS(wait), clock_poll_timeout(next));
	}
	close(feed->group); // leaves the group: its packets are for others
	feed->group = -1;
	return NULL;
}

int multicast_start(struct multicast_feed *feed, struct fault *fault) {
	int r;

	feed->buffers = malloc(PACKETS * (PACKET_MAX + 1));
	feed->packets = calloc(PACKETS, sizeof(*feed->packets));
	if (!feed->buffers || !feed->packets)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image");
	for (size_t i = 0; i < PACKETS; i++)
		feed->packets[i].data = feed->buffers + i * (PACKET_MAX + 1);
	r = pthread_create(&feed->thread, NULL, receive, feed);
	feed->has_thread = r == 0;
	return r ? fault_errno(fault, CODE_FAILED, r, "starting a thread") : 0;
}
