// SPDX-License-Identifier: Apache-2.0
// One sender of multicast and its receivers in virtual time, without a network.
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "multicast/carousel_need.h"
#include "multicast/gather_need.h"
#include "multicast/parity.h"

#define TICK (5 * MILLISECOND) // also how long a packet takes to arrive
#define BATCH_MAX 512u	       // packets of a tick
#define BURST 20.0	       // packets that a burst of losses takes on average

enum loss { LOSS_INDEPENDENT, LOSS_COMMON, LOSS_BURST };

struct simulation {
	uint32_t receivers, chunks, cap; // kbit/s
	enum loss loss;
	double share;	  // of the packets that are lost
	double bad_share; // the same for the first receiver, if it is more
	uint64_t seed;
	int64_t spread;	   // over which the receivers start
	uint32_t from;	   // receivers; fewer are referred to HTTP. 0: 1
	uint16_t expected; // what each knows of how many there will be
	uint32_t killed;   // receivers that stop in the middle
	bool restarts;	   // the sender does, in the middle
	bool disorder;	   // packets arrive twice and in another order
	bool bytes;	   // of symbols are sent, and frames compared
};

struct simulation_result {
	uint32_t complete, left;	     // receivers; left: by HTTP for the rest
	uint32_t alone;			     // NEEDs that were referred to HTTP
	double copies;			     // DATA packets sent by symbols of the image
	double seconds, slowest;	     // until the last was complete; the most that one took
	uint32_t needs_most;		     // in a second
	uint64_t duplicate, received, wrong; // wrong: frames with other bytes
};

struct sent {
	uint32_t sequence;
	struct data_packet data;
	bool lost; // for all
	uint8_t payload[SYMBOL];
};

struct losing {
	uint64_t chance;
	bool is_lost;
	uint32_t until; // packets until that changes
};

struct simulated {
	struct gather *gather; // NULL: it did not start, or is done
	int64_t start;
	bool is_over, is_killed;
	struct losing losing;
};

struct world {
	const struct simulation *order;
	struct simulation_result *result;
	struct index index;
	uint64_t symbols; // of the image
	uint8_t **frames; // NULL: no bytes
	struct carousel *carousel;
	struct simulated *receivers;
	struct losing common;
	struct sent *batch;
	uint32_t batch_count;
	struct packet *needs; // of the tick before
	uint32_t need_count, needs_now;
	int64_t now, credit; // bits
	uint64_t chance, sent;
};

static inline uint64_t simulation_next(uint64_t *chance) {
	*chance ^= *chance << 13;
	*chance ^= *chance >> 7;
	*chance ^= *chance << 17;
	return *chance;
}

static inline double simulation_share(uint64_t *chance) {
	return ((double)(simulation_next(chance) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

// How many of a row of trials, of which one in `mean` ends it.
static inline uint32_t simulation_run(uint64_t *chance, double mean) {
	double n = mean <= 1 ? 1 : 1 + floor(log(simulation_share(chance)) / log1p(-1 / mean));
	return n < 1e9 ? (uint32_t)n : 1000000000u;
}

static inline bool simulation_loses(struct losing *losing, const struct simulation *order, double share) {
	double burst = order->loss == LOSS_BURST ? BURST : 1 / (1 - share);

	if (share <= 0)
		return false;
	if (losing->until == 0) {
		losing->is_lost = !losing->is_lost;
		losing->until = simulation_run(&losing->chance, losing->is_lost ? burst : burst * (1 - share) / share);
	}
	losing->until--;
	return losing->is_lost;
}

static inline void simulation_make_image(struct world *w) {
	w->index.chunk_count = w->order->chunks;
	w->index.chunks = calloc(w->order->chunks, sizeof(*w->index.chunks));
	w->frames = w->order->bytes ? calloc(w->order->chunks, sizeof(*w->frames)) : NULL;
	for (uint32_t i = 0; i < w->order->chunks; i++) {
		// 308 KB on average, as in an image of Debian
		uint32_t size = 1 + (uint32_t)(simulation_next(&w->chance) % 616000), n = frame_symbols(size);
		w->index.chunks[i].frame = size;
		w->symbols += n;
		if (w->frames) {
			w->frames[i] = calloc(n, SYMBOL);
			for (uint32_t at = 0; at < size; at++)
				w->frames[i][at] = (uint8_t)(simulation_next(&w->chance) >> 32);
		}
	}
}

static inline void simulation_start_sender(struct world *w) {
	struct carousel_order order = {.index = &w->index,
				       .cap = w->order->cap,
				       .from = w->order->from > 1 ? w->order->from : 1,
				       .seed = simulation_next(&w->chance)};
	struct fault fault;

	carousel_close(&w->carousel);
	if (carousel_open(&order, w->now, &w->carousel, &fault) < 0)
		abort();
}

static inline void simulation_start_receiver(struct world *w, uint32_t i) {
	struct gather_order order = {.index = &w->index,
				     .client = i + 1,
				     .room = ROOM,
				     .expected = w->order->expected,
				     .counts_only = !w->order->bytes};
	struct fault fault;

	if (gather_open(&order, w->now, &w->receivers[i].gather, &fault) < 0)
		abort();
}

static inline void simulation_fill(const struct world *w, struct sent *sent) {
	struct data_packet *data = &sent->data;
	const uint8_t *frame = w->frames[data->chunk], *block[BLOCK_MAX];
	uint32_t blocks = block_count(data->symbols), k = block_size(data->symbols, data->block);

	for (uint32_t i = 0; i < k; i++)
		block[i] = frame + (size_t)(i * blocks + data->block) * SYMBOL;
	if (is_parity(data->symbol))
		parity_make(block, k, data->symbol, sent->payload, SYMBOL);
	else
		memcpy(sent->payload, block[data->symbol], SYMBOL);
	data->payload = sent->payload;
}

static inline void simulation_send(struct world *w) {
	const int64_t bits = (int64_t)PACKET_MAX * 8;

	w->batch_count = 0;
	w->credit += (int64_t)w->carousel->rate * (TICK / MILLISECOND);
	while (w->credit >= bits && w->batch_count < BATCH_MAX) {
		struct sent *sent = &w->batch[w->batch_count];
		if (!carousel_next(w->carousel, w->now, &sent->sequence, &sent->data))
			break;
		w->credit -= bits;
		w->batch_count++;
		sent->lost = w->order->loss == LOSS_COMMON && simulation_loses(&w->common, w->order, w->order->share);
		if (w->frames)
			simulation_fill(w, sent);
	}
	w->credit = w->credit < bits ? w->credit : bits; // nothing is saved up
	w->sent += w->batch_count;
}

static inline double simulation_share_of(const struct world *w, uint32_t i) {
	return i == 0 && w->order->bad_share > w->order->share ? w->order->bad_share : w->order->share;
}

static inline void simulation_deliver(struct world *w, uint32_t i, uint32_t n) {
	if (!gather_data(w->receivers[i].gather, w->batch[n].sequence, &w->batch[n].data, w->now))
		abort();
}

static inline void simulation_receive(struct world *w, uint32_t i) {
	struct simulated *receiver = &w->receivers[i];
	double share = simulation_share_of(w, i);
	bool common = w->order->loss == LOSS_COMMON && share <= w->order->share;
	uint32_t late = BATCH_MAX; // a packet that arrives three packets later, twice

	for (uint32_t n = 0; n < w->batch_count; n++) {
		if (common ? w->batch[n].lost : simulation_loses(&receiver->losing, w->order, share))
			continue;
		if (w->order->disorder && late == BATCH_MAX && n + 4 < w->batch_count &&
		    simulation_share(&receiver->losing.chance) < 0.05) {
			late = n;
			continue;
		}
		simulation_deliver(w, i, n);
		if (late != BATCH_MAX && (n >= late + 3 || n + 1 == w->batch_count)) {
			simulation_deliver(w, i, late);
			simulation_deliver(w, i, late);
			late = BATCH_MAX;
		}
	}
	if (late != BATCH_MAX)
		simulation_deliver(w, i, late);
}

static inline void simulation_take(struct world *w, struct gather *gather) {
	for (struct slot *slot = gather_take(gather); slot; slot = gather_take(gather)) {
		if (w->frames) {
			slot_restore(slot);
			w->result->wrong += memcmp(slot->frame, w->frames[slot->chunk],
						   (size_t)slot->symbols * SYMBOL) != 0;
		}
		gather_return(gather, slot);
	}
}

static inline void simulation_end(struct world *w, struct simulated *receiver, bool complete) {
	double took = (double)(w->now - receiver->start) / SECOND;

	w->result->complete += complete;
	w->result->seconds = (double)w->now / SECOND;
	w->result->slowest = took > w->result->slowest ? took : w->result->slowest;
	w->result->duplicate += receiver->gather->counts.duplicate;
	w->result->received += receiver->gather->counts.received;
	receiver->is_over = true;
	gather_close(&receiver->gather);
}

static inline void simulation_step(struct world *w, uint32_t i) {
	struct simulated *receiver = &w->receivers[i];
	struct packet *need = &w->needs[w->need_count];

	simulation_receive(w, i);
	simulation_take(w, receiver->gather);
	if (receiver->gather->left == 0) {
		simulation_end(w, receiver, true);
	} else if (receiver->gather->verdict != GATHER_STAYS) {
		w->result->left++;
		simulation_end(w, receiver, false);
	} else if (receiver->is_killed && receiver->gather->left < w->index.chunk_count / 2) {
		simulation_end(w, receiver, false);
	} else if (gather_need(receiver->gather, w->now, need)) {
		w->needs_now++;
		w->need_count += simulation_share(&receiver->losing.chance) >= w->order->share;
	}
}

// What the receivers sent in the tick before, and what is announced.
static inline void simulation_answer(struct world *w) {
	static struct packet announce;

	for (uint32_t i = 0; i < w->need_count; i++) {
		struct simulated *receiver = &w->receivers[w->needs[i].need.client - 1];
		if (!carousel_need(w->carousel, &w->needs[i], w->now, &announce) || !receiver->gather)
			continue;
		gather_announce(receiver->gather, &announce, w->now);
		w->result->alone += (announce.flags & FLAG_ALONE) != 0;
		if (announce.flags & FLAG_LEAVE) {
			w->result->left++;
			simulation_end(w, receiver, false);
		}
	}
	w->need_count = 0;
	if (!carousel_announce(w->carousel, w->now, &announce))
		return;
	for (uint32_t i = 0; i < w->order->receivers; i++) {
		struct simulated *receiver = &w->receivers[i];
		if (receiver->gather && simulation_share(&receiver->losing.chance) >= w->order->share)
			gather_announce(receiver->gather, &announce, w->now);
	}
}

static inline uint32_t simulation_tick(struct world *w) {
	uint32_t over = 0;

	simulation_answer(w);
	simulation_send(w);
	for (uint32_t i = 0; i < w->order->receivers; i++) {
		struct simulated *receiver = &w->receivers[i];
		if (!receiver->gather && !receiver->is_over && w->now >= receiver->start)
			simulation_start_receiver(w, i);
		if (receiver->gather)
			simulation_step(w, i);
		over += receiver->is_over;
	}
	w->now += TICK;
	w->result->needs_most = w->needs_now > w->result->needs_most ? w->needs_now : w->result->needs_most;
	w->needs_now = w->now % SECOND < TICK ? 0 : w->needs_now;
	return over;
}

static inline void simulation_free(struct world *w) {
	for (uint32_t i = 0; i < w->order->receivers; i++)
		gather_close(&w->receivers[i].gather);
	for (uint32_t i = 0; w->frames && i < w->order->chunks; i++)
		free(w->frames[i]);
	carousel_close(&w->carousel);
	free(w->frames);
	free(w->index.chunks);
	free(w->receivers);
	free(w->batch);
	free(w->needs);
}

// Until every receiver is done, or for an hour.
static inline struct simulation_result simulate(const struct simulation *order) {
	struct simulation_result result = {0};
	struct world w = {.order = order, .result = &result, .chance = order->seed * 2 + 1};
	bool restarted = !order->restarts;

	for (int i = 0; i < 8; i++)
		simulation_next(&w.chance);
	simulation_make_image(&w);
	w.receivers = calloc(order->receivers, sizeof(*w.receivers));
	w.batch = calloc(BATCH_MAX, sizeof(*w.batch));
	w.needs = calloc(order->receivers + 1, sizeof(*w.needs));
	w.common.chance = simulation_next(&w.chance);
	w.common.is_lost = true;
	for (uint32_t i = 0; i < order->receivers; i++) {
		w.receivers[i].losing = (struct losing){.chance = simulation_next(&w.chance), .is_lost = true};
		w.receivers[i].start = order->spread * i / order->receivers;
		w.receivers[i].is_killed = i >= order->receivers - order->killed;
	}
	simulation_start_sender(&w);
	while (simulation_tick(&w) < order->receivers && w.now < 3600 * SECOND) {
		if (!restarted && w.sent > w.symbols / 2) {
			simulation_start_sender(&w);
			restarted = true;
		}
	}
	result.copies = (double)w.sent / (double)w.symbols;
	simulation_free(&w);
	return result;
}
