// SPDX-License-Identifier: Apache-2.0
// Sender of multicast (contract/multicast.md, "Sender"), one session: NEEDs in, packets out. Pure: no socket, no clock
// (`now` is a point of a monotonic clock in nanoseconds), no bytes of the image, one thread.
#pragma once

#include "image/bitmap.h"
#include "multicast/clients.h"
#include "multicast/packet.h"

#define KEPT 4096u // chunks whose parity is known
#define MARKS 32u  // parity symbols of a block whose sequence is known

struct carousel_order {
	const struct index *index;
	uint8_t digest[HASH];
	uint32_t cap;  // kbit/s
	uint32_t from; // clients; fewer are referred to HTTP
	uint64_t seed; // random
};

struct carousel_counts {
	uint64_t data, repairs; // symbols sent
	uint64_t needs;
};

// What was sent of a block, since its chunk left for the last time.
struct block_sent {
	uint8_t used;	       // parity symbols that were sent
	uint8_t owed;	       // that are to be sent
	bool queued;	       // in the queue of those that owe
	uint32_t marks[MARKS]; // sequences of the last ones: number i at i mod MARKS
};

struct chunk_sent {
	uint32_t chunk;
	uint32_t started; // sequence at the start of its turn
	struct block_sent blocks[BLOCKS_MAX];
};

struct turn {
	uint16_t number;
	uint32_t count;		// chunks; 0: there is no turn
	uint32_t symbols, sent; // of all of them
	struct {
		uint32_t chunk, symbols, sent;
	} members[TURN_CHUNKS];
};

struct carousel {
	struct carousel_order order;
	uint8_t *want;
	uint32_t want_count, cursor;
	struct turn turn;
	struct chunk_sent *kept; // a ring
	uint32_t kept_count;
	uint16_t *kept_at; // of each chunk: its place in the ring and 1, or 0
	uint32_t *owing;   // a ring of those that owe: place in `kept` * BLOCKS_MAX + block
	uint32_t owing_first, owing_count;
	uint32_t budget;	     // in eighths of a symbol
	uint32_t sequence;	     // of the last DATA packet
	int64_t began;		     // idleness ended
	int64_t starts;		     // no turn starts before
	uint32_t gathered, expected; // clients that have come since idleness ended; that come, by what they know
	int64_t heard;		     // when a NEED of a client came that had received something, last
	int64_t last_need, next_announce, next_rate;
	uint32_t rate; // kbit/s
	struct clients clients;
	struct carousel_counts counts;
};

int carousel_open(const struct carousel_order *order, int64_t now, struct carousel **ret, struct fault *fault);
void carousel_close(struct carousel **carousel); // for cleanup_with; *carousel may be NULL

// Makes the next DATA packet, without its payload: a data symbol from the frame or a parity symbol of it. Returns
// false if nothing is to be sent now.
bool carousel_next(struct carousel *carousel, int64_t now, uint32_t *ret_sequence, struct data_packet *ret);

bool carousel_is_sending(const struct carousel *carousel);
void carousel_want(struct carousel *carousel, uint32_t chunk, int64_t now);

// A client requests something for the first time. It may share the first turn, and knows how many will.
void carousel_gather(struct carousel *carousel, uint32_t expected, int64_t now);

// Nobody hears what is sent: nothing is wanted or owed any more.
void carousel_drop(struct carousel *carousel);

// Parity symbols that the block owes to a client that lacked so many symbols when `sequence` was the highest it knew.
void carousel_owe(struct carousel *carousel, uint32_t chunk, uint32_t block, uint32_t missing, uint32_t sequence,
		  int64_t now);
