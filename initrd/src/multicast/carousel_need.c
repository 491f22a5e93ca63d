// SPDX-License-Identifier: Apache-2.0
#include "multicast/carousel_need.h"

#include <string.h>

#include "base/clock.h"

#define ANNOUNCES (250 * MILLISECOND)
#define ANNOUNCES_IDLE (50 * MILLISECOND)
#define RATES (250 * MILLISECOND)
#define LEAST_SHARE 4 // the rate is never less than that part of the cap: whoever forges losses costs no more
#define OVER (60 * SECOND)
#define UNHEARD (500 * MILLISECOND) // since the first turn
#define UNHEARD_LONG (3 * SECOND)   // since somebody heard it
#define NEW_SENDER 65536	    // packets; a NEED with a sequence farther away is about another sender

static void announce(struct carousel *c, uint32_t client, uint8_t flags, struct packet *ret) {
	uint32_t interval = (c->clients.present + 3) / 4; // 4,000 NEEDs a second

	ret->type = PACKET_ANNOUNCE;
	ret->flags = flags | (carousel_is_sending(c) ? 0 : FLAG_IDLE);
	ret->sequence = c->sequence;
	interval = interval > INTERVAL_MIN ? interval : INTERVAL_MIN;
	ret->announce = (struct announce_packet){
		.turn = c->turn.number,
		.cursor = c->cursor,
		.rate = c->rate > 0 ? c->rate : 1,
		.clients = c->clients.present,
		.interval = (uint16_t)(interval < INTERVAL_MAX ? interval : INTERVAL_MAX),
		.client = client,
	};
	memcpy(ret->announce.digest, c->order.digest, HASH);
}

static void take_entry(struct carousel *c, const struct need_entry *entry, uint32_t sequence, int64_t now) {
	const struct index *index = c->order.index;
	uint32_t end = entry->chunk + entry->count;

	if (entry->chunk >= index->chunk_count)
		return;
	if (entry->missing == 0) {
		for (uint32_t i = entry->chunk; i < end && i < index->chunk_count; i++)
			carousel_want(c, i, now);
	} else if (entry->block < block_count(frame_symbols(index->chunks[entry->chunk].frame))) {
		carousel_owe(c, entry->chunk, entry->block, entry->missing, sequence, now);
	}
}

// Fewer clients than that are as fast by HTTP. Those that are expected count before they come: whoever is first would
// fetch alone what all will have.
static bool is_alone(const struct carousel *c, const struct need_packet *need) {
	return !carousel_is_sending(c) && c->clients.present < c->order.from && need->expected < c->order.from;
}

bool carousel_need(struct carousel *c, const struct packet *need, int64_t now, struct packet *ret) {
	int64_t behind = (int32_t)(c->sequence - need->sequence);
	uint32_t sequence = behind < 0 || behind > NEW_SENDER ? c->sequence : need->sequence;
	bool is_new;
	struct client *client = clients_record(&c->clients, &need->need, now, &is_new);

	c->counts.needs++;
	c->last_need = now;
	if (need->sequence != 0)
		c->heard = now;
	if (!carousel_is_sending(c))
		clients_count(&c->clients, now); // some may have left
	if (client->leaves || is_alone(c, &need->need)) {
		announce(c, need->need.client, client->leaves ? FLAG_LEAVE : FLAG_ALONE, ret);
		return true;
	}
	for (uint32_t i = 0; i < need->need.entry_count; i++)
		take_entry(c, &need->need.entries[i], sequence, now);
	if (need->need.entry_count > 0 && !client->requests) {
		carousel_gather(c, need->need.expected, now);
		client->requests = true;
	}
	if (is_new)
		announce(c, need->need.client, 0, ret);
	return is_new;
}

static void adapt_rate(struct carousel *c, int64_t now) {
	uint32_t cap = c->order.cap, least = cap / LEAST_SHARE;

	if (now < c->next_rate)
		return;
	c->next_rate = now + RATES;
	clients_count(&c->clients, now);
	if (c->clients.crowded)
		c->rate = c->rate / 5 * 4 > least ? c->rate / 5 * 4 : least;
	else
		c->rate = cap - c->rate > cap / 20 ? c->rate + cap / 20 : cap;
}

static bool is_unheard(const struct carousel *c, int64_t now) {
	return c->heard >= c->starts ? now - c->heard > UNHEARD_LONG : now - c->starts > UNHEARD;
}

bool carousel_announce(struct carousel *c, int64_t now, struct packet *ret) {
	adapt_rate(c, now);
	if (carousel_is_sending(c) && is_unheard(c, now))
		carousel_drop(c);
	if (now < c->next_announce)
		return false;
	c->next_announce = now + (carousel_is_sending(c) ? ANNOUNCES : ANNOUNCES_IDLE);
	announce(c, 0, 0, ret);
	return true;
}

void carousel_use_cap(struct carousel *c, uint32_t cap) {
	c->order.cap = cap;
	c->rate = c->rate < cap ? c->rate : cap;
}

bool carousel_is_over(const struct carousel *c, int64_t now) { return now - c->last_need > OVER; }
