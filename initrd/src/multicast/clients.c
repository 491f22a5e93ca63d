// SPDX-License-Identifier: Apache-2.0
#include "multicast/clients.h"

#include "base/clock.h"

#define PRESENT (3 * SECOND) // since the last NEED
#define JUDGED 500u	     // packets
#define LOSS_BAD 2u	     // percent
#define LOSS_CHOKES 10u	     // parity makes up for less at a lower cost than a lower rate
#define JUDGED_LONG 4096u
#define LOSS_LEAVE 20u

// Its place, or that of the one in its bucket that was not seen for longest.
static struct client *find(struct clients *clients, uint32_t id) {
	struct client *bucket = clients->buckets[(id * UINT32_C(0x9e3779b1)) >> 23], *oldest = bucket;

	for (uint32_t i = 0; i < CLIENT_WAYS; i++) {
		if (bucket[i].id == id)
			return &bucket[i];
		if (bucket[i].seen < oldest->seen)
			oldest = &bucket[i];
	}
	return oldest;
}

static uint32_t add(uint32_t a, uint32_t b) { return a + b < a ? UINT32_MAX : a + b; }

static bool is_more(uint32_t lost, uint32_t received, uint64_t percent) {
	return (uint64_t)lost * 100 > ((uint64_t)lost + received) * percent;
}

static void judge(struct client *client) {
	if (add(client->received, client->lost) >= JUDGED) {
		client->loses = is_more(client->lost, client->received, LOSS_BAD);
		client->chokes = is_more(client->lost, client->received, LOSS_CHOKES);
		client->lacks_room = client->dropped > 0;
		client->received = client->lost = client->dropped = 0;
	}
	if (add(client->long_received, client->long_lost) >= JUDGED_LONG) {
		client->leaves |= is_more(client->long_lost, client->long_received, LOSS_LEAVE);
		client->long_received = client->long_lost = 0;
	}
}

struct client *clients_record(struct clients *clients, const struct need_packet *need, int64_t now, bool *ret_new) {
	struct client *client = find(clients, need->client);

	*ret_new = client->id != need->client;
	if (*ret_new)
		*client = (struct client){.id = need->client};
	if (*ret_new || now - client->seen >= PRESENT)
		clients->present++;
	client->seen = now;
	client->received = add(client->received, need->received);
	client->lost = add(client->lost, need->lost);
	client->dropped = add(client->dropped, need->dropped);
	client->long_received = add(client->long_received, need->received);
	client->long_lost = add(client->long_lost, need->lost);
	judge(client);
	return client;
}

void clients_count(struct clients *clients, int64_t now) {
	uint32_t lose = 0, bad = 0;

	clients->present = 0;
	for (uint32_t i = 0; i < CLIENT_BUCKETS * CLIENT_WAYS; i++) {
		const struct client *client = &clients->buckets[i / CLIENT_WAYS][i % CLIENT_WAYS];
		if (client->id == 0 || now - client->seen >= PRESENT || client->leaves)
			continue;
		clients->present++;
		lose += client->loses;
		bad += client->chokes || client->lacks_room;
	}
	clients->strained = lose > 0 && lose * 4 >= clients->present;
	clients->crowded = bad >= 2 && bad * 4 >= clients->present;
}
