// SPDX-License-Identifier: Apache-2.0
// Packets of contract/multicast.md: bytes to fields and back. Pure functions over buffers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "multicast/blocks.h"
#include "multicast/siphash.h"

#define PACKET_MAX 1440u	     // bytes
#define NEED_MIN 80u		     // bytes: not less than an ANNOUNCE, which answers it
#define ENTRIES_MAX 170u	     // of a NEED
#define SESSION_ID 8u		     // bytes
#define PACKET_CHUNKS_MAX (1u << 21) // an image of more is not sent
#define RATE_MAX 100000000u	     // kbit/s
#define INTERVAL_MIN 20u	     // ms
#define INTERVAL_MAX 1024u	     // that of 4,096 clients

enum packet_type { PACKET_DATA = 1, PACKET_NEED, PACKET_ANNOUNCE, PACKET_STATS };

enum packet_flag { FLAG_REPAIR = 1, FLAG_IDLE = 2, FLAG_ALONE = 4, FLAG_LEAVE = 8 };

// Why a packet is refused: the first of these that holds.
enum packet_refusal {
	PACKET_TAKEN,
	REFUSED_SIZE,
	REFUSED_MAGIC,
	REFUSED_TYPE,
	REFUSED_SESSION,
	REFUSED_TAG,
	REFUSED_FIELD,
	REFUSALS,
};

struct session {
	uint8_t id[SESSION_ID]; // the first bytes of the digest
	bool has_key;
	uint8_t key[SIPHASH_KEY];
};

struct data_packet {
	uint16_t turn, symbols; // of the frame
	uint32_t chunk;
	uint8_t block, symbol;
	const uint8_t *payload; // SYMBOL bytes; points into the packet that was decoded
};

// Chunks from `chunk` on if `missing` is 0; else parity of a block.
struct need_entry {
	uint32_t chunk, count;
	uint8_t block, missing;
};

struct need_packet {
	uint32_t client;
	uint32_t received, lost, dropped; // DATA packets since the last NEED
	uint16_t room;			  // symbols
	uint16_t expected;		  // nodes that receive the image now, by the plan; 0: not known
	uint16_t entry_count;
	struct need_entry entries[ENTRIES_MAX];
};

struct announce_packet {
	uint16_t turn, interval; // ms
	uint32_t cursor;
	uint8_t digest[HASH];
	uint32_t rate;		  // kbit/s
	uint32_t clients, client; // client: whom the flags are for; 0: all
};

struct stats_packet {
	uint32_t client, ms, lost, duplicate, dropped, rejected, parity;
	uint64_t multicast_bytes, http_bytes;
};

struct packet {
	enum packet_type type;
	uint8_t flags;	   // enum packet_flag
	uint32_t sequence; // 0 in STATS
	union {
		struct data_packet data;
		struct need_packet need;
		struct announce_packet announce;
		struct stats_packet stats;
	};
};

// Returns the id of the session of a packet, by which a sender of several images finds the key; NULL if the packet
// is too short.
const uint8_t *packet_session(const uint8_t *data, size_t size);

enum packet_refusal packet_decode(const uint8_t *data, size_t size, const struct session *session, struct packet *ret);

// Returns the size. The fields are within their limits.
size_t packet_encode(const struct packet *packet, const struct session *session, uint8_t ret[PACKET_MAX]);

const char *refusal_name(enum packet_refusal refusal); // "size", "tag": for counters
