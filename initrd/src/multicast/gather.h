// SPDX-License-Identifier: Apache-2.0
// Receiver of multicast (contract/multicast.md, "Receiver"): packets in, data frames and NEEDs out. Pure: no socket, no
// clock (`now` is a point of a monotonic clock in nanoseconds), one thread.
#pragma once

#include "base/clock.h"
#include "image/bitmap.h"
#include "multicast/packet.h"
#include "multicast/slot.h"

#define ROOM (24u * 1024 * 1024 / SYMBOL) // symbols; about 80 frames

struct gather_order {
	const struct index *index;
	const uint8_t *wanted; // a bit for each chunk; NULL: all
	uint32_t client;       // a random number, not 0
	uint16_t expected;     // nodes that receive the image now; 0: not known
	uint32_t room;	       // symbols that may be held, in frames that are not returned yet too
	bool counts_only;      // for simulations: keeps no bytes
};

struct gather_counts {
	uint64_t received, lost; // DATA packets
	uint64_t duplicate;	 // symbols that were not needed
	uint64_t dropped;	 // for want of room
	uint64_t refused;	 // that do not go with the index
};

enum gather_verdict { GATHER_STAYS, GATHER_LOSES, GATHER_LACKS_ROOM };

// The turn that the sender is in, as far as it was seen.
struct turn_seen {
	uint16_t number;
	bool left_out;				    // it is the first one, and was not seen from its start
	uint32_t low, high;			    // chunks of which data came; low > high: none
	uint32_t missed[TURN_CHUNKS], missed_count; // chunks of which symbols were not taken
};

struct gather {
	struct gather_order order;
	uint8_t *wanted, *ask;	       // bits of chunks: not complete; to be requested as a whole
	uint32_t left, ask_count;      // chunks that are not complete; bits in `ask`
	struct slot **slots;	       // of each chunk; NULL: not open
	struct slot *open, **open_end; // in the order of their opening
	struct slot *ready, **ready_end;
	uint32_t room;

	bool started;	   // a DATA packet came
	bool confirms;	   // the next NEED is sent without entries, too: the sender is heard
	bool idle;	   // the sender is
	uint32_t sequence; // highest
	struct turn_seen turn;
	int64_t last_data, next_need, last_need, asked_all;
	int64_t interval;
	uint64_t chance;
	struct gather_counts counts, at_need; // at_need: at the last NEED
	struct gather_counts window;	      // when the judging of the loss started
	enum gather_verdict verdict;	      // whether this node should use HTTP
};

int gather_open(const struct gather_order *order, int64_t now, struct gather **ret, struct fault *fault);
void gather_close(struct gather **gather); // for cleanup_with; *gather may be NULL

// Takes a DATA packet. Returns false if it does not go with the index.
bool gather_data(struct gather *gather, uint32_t sequence, const struct data_packet *data, int64_t now);
void gather_announce(struct gather *gather, const struct packet *announce, int64_t now);

// As if nothing had come, except for frames that are complete: another transport took over, or has ended.
void gather_reset(struct gather *gather, int64_t now);

// Returns the next complete frame, whose bytes slot_restore makes, in any thread; NULL if there is none. Requires
// gather_return after it.
struct slot *gather_take(struct gather *gather);
void gather_return(struct gather *gather, struct slot *slot);

// The chunk is not wanted any more: another transport fetches it. What came of it is dropped.
void gather_drop(struct gather *gather, uint32_t chunk);

// The chunk is to be requested as a whole, if it is wanted and nothing of it is there.
void gather_ask(struct gather *gather, uint32_t chunk);
