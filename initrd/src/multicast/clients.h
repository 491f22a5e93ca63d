// SPDX-License-Identifier: Apache-2.0
// The clients of a sender: how many there are, and what they lose. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "multicast/packet.h"

#define CLIENT_WAYS 8u
#define CLIENT_BUCKETS 512u // 4,096 clients

struct client {
	uint32_t id; // 0: none
	int64_t seen;
	uint32_t received, lost, dropped;	// since it was judged
	uint32_t long_received, long_lost;	// over more packets, whether it is to leave
	bool requests;				// it has requested something, and was not referred to HTTP
	bool loses, chokes, lacks_room, leaves; // loses: some packets; chokes: so many that a slower sender helps
};

struct clients {
	struct client buckets[CLIENT_BUCKETS][CLIENT_WAYS];
	uint32_t present; // as of clients_count, and those that came since
	bool strained;	  // a quarter of them loses packets
	bool crowded;	  // a quarter of them, and at least two, chokes or lacks room
};

// Counts what a NEED reports. Returns its client; sets *ret_new if this is the first NEED of the client, which then may
// have replaced the one that was silent for longest.
struct client *clients_record(struct clients *clients, const struct need_packet *need, int64_t now, bool *ret_new);

// Sets present, strained and crowded from the clients whose last NEED is recent.
void clients_count(struct clients *clients, int64_t now);
