// SPDX-License-Identifier: Apache-2.0
#include "multicast/carousel.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define GATHERING (50 * MILLISECOND) // between the first NEED of the last client, after idleness, and the first turn
#define GATHERING_MOST (300 * MILLISECOND) // between the NEED that ends idleness and the first turn
#define EXPECTING_MOST SECOND		   // the same, for clients that are expected
#define BUDGET_MOST (512u * 8)

int carousel_open(const struct carousel_order *order, int64_t now, struct carousel **ret, struct fault *fault) {
	cleanup_with(carousel_close) struct carousel *c = calloc(1, sizeof(*c));
	uint32_t count = order->index->chunk_count;

	if (count > PACKET_CHUNKS_MAX)
		return fault_set(fault, CODE_UNSUPPORTED, "image: %u chunks; at most %u are sent by multicast", count,
				 PACKET_CHUNKS_MAX);
	if (c) {
		c->order = *order;
		c->want = calloc(1, bitmap_size(order->index) + 1);
		c->kept = calloc(KEPT, sizeof(*c->kept));
		c->kept_at = calloc(count + 1, sizeof(*c->kept_at));
		c->owing = calloc(KEPT * BLOCKS_MAX, sizeof(*c->owing));
	}
	if (!c || !c->want || !c->kept || !c->kept_at || !c->owing)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image: %u chunks", count);
	c->sequence = (uint32_t)order->seed;
	c->turn.number = (uint16_t)(order->seed >> 32);
	c->rate = order->cap / 2;
	c->last_need = c->next_announce = now;
	c->next_rate = now + SECOND / 4;
	*ret = steal_pointer(&c);
	return 0;
}

void carousel_close(struct carousel **carousel) {
	if (*carousel) {
		free((*carousel)->want);
		free((*carousel)->kept);
		free((*carousel)->kept_at);
		free((*carousel)->owing);
	}
	free(*carousel);
	*carousel = NULL;
}

bool carousel_is_sending(const struct carousel *c) {
	return c->want_count > 0 || c->turn.count > 0 || c->owing_count > 0;
}

static bool starts_late(const struct carousel *c, uint32_t chunk) {
	for (uint32_t i = 0; i < c->turn.count; i++)
		if (c->turn.members[i].chunk == chunk)
			return c->turn.sent * LATE_SHARE > c->turn.symbols;
	return true;
}

void carousel_want(struct carousel *c, uint32_t chunk, int64_t now) {
	if (bitmap_has(c->want, chunk) || !starts_late(c, chunk))
		return;
	if (!carousel_is_sending(c)) {
		c->began = now;
		c->starts = now + GATHERING;
		c->gathered = c->expected = 0;
	}
	bitmap_add(c->want, chunk);
	c->want_count++;
}

void carousel_gather(struct carousel *c, uint32_t expected, int64_t now) {
	int64_t latest;

	if (!carousel_is_sending(c) || now >= c->starts)
		return;
	c->gathered++;
	c->expected = expected > c->expected ? expected : c->expected;
	latest = c->began + (c->gathered < c->expected ? EXPECTING_MOST : GATHERING_MOST);
	c->starts = c->gathered < c->expected || now + GATHERING > latest ? latest : now + GATHERING;
}

void carousel_drop(struct carousel *c) {
	memset(c->want, 0, bitmap_size(c->order.index));
	c->want_count = c->turn.count = 0;
	for (; c->owing_count > 0; c->owing_count--) {
		uint32_t which = c->owing[c->owing_first];
		struct block_sent *state = &c->kept[which / BLOCKS_MAX].blocks[which % BLOCKS_MAX];
		state->owed = 0;
		state->queued = false;
		c->owing_first = (c->owing_first + 1) % (KEPT * BLOCKS_MAX);
	}
}

// How many parity symbols of the block left after that sequence, as far as is known.
static uint32_t sent_after(const struct block_sent *block, uint32_t sequence) {
	uint32_t known = block->used < MARKS ? block->used : MARKS, count = 0;

	for (uint32_t i = 0; i < known; i++)
		count += (int32_t)(block->marks[i] - sequence) > 0;
	return count;
}

// Data symbols of the block that still leave in the present turn, and are not to be made up for.
static uint32_t still_to_leave(const struct carousel *c, uint32_t chunk, uint32_t block) {
	for (uint32_t i = 0; i < c->turn.count; i++) {
		uint32_t symbols = c->turn.members[i].symbols, blocks = block_count(symbols);
		if (c->turn.members[i].chunk == chunk)
			return block_size(symbols, block) - (c->turn.members[i].sent + blocks - 1 - block) / blocks;
	}
	return 0;
}

void carousel_owe(struct carousel *c, uint32_t chunk, uint32_t block, uint32_t missing, uint32_t sequence,
		  int64_t now) {
	uint32_t place = c->kept_at[chunk], sent, left;
	struct block_sent *state;

	if (place == 0) {
		carousel_want(c, chunk, now);
		return;
	}
	if ((int32_t)(c->kept[place - 1].started - sequence) > 0)
		return; // the whole chunk left after that
	left = still_to_leave(c, chunk, block);
	missing = missing > left ? missing - left : 0;
	state = &c->kept[place - 1].blocks[block];
	sent = sent_after(state, sequence);
	if (missing <= sent + state->owed)
		return;
	if (state->used + missing - sent > PARITY_MAX) {
		carousel_want(c, chunk, now);
		return;
	}
	state->owed = (uint8_t)(missing - sent);
	if (!state->queued) {
		c->owing[(c->owing_first + c->owing_count++) % (KEPT * BLOCKS_MAX)] = (place - 1) * BLOCKS_MAX + block;
		state->queued = true;
	}
}

// Forgets the chunk that left longest ago. Its blocks stay in the queue, and owe nothing.
static void keep(struct carousel *c, uint32_t chunk) {
	uint32_t place = c->kept_at[chunk] ? c->kept_at[chunk] - 1u : c->kept_count++ % KEPT;
	struct chunk_sent *sent = &c->kept[place];

	if (sent->chunk != chunk && c->kept_at[sent->chunk] == place + 1)
		c->kept_at[sent->chunk] = 0;
	for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
		if (sent->chunk != chunk || sent->blocks[i].used + BLOCK_MAX / 4 > PARITY_MAX)
			sent->blocks[i].used = 0;
		sent->blocks[i].owed = 0;
	}
	sent->chunk = chunk;
	sent->started = c->sequence;
	c->kept_at[chunk] = (uint16_t)(place + 1);
}

static void add_member(struct carousel *c, uint32_t chunk, uint32_t symbols) {
	struct turn *turn = &c->turn;

	turn->members[turn->count].chunk = chunk;
	turn->members[turn->count].symbols = symbols;
	turn->members[turn->count++].sent = 0;
	turn->symbols += symbols;
	bitmap_remove(c->want, chunk);
	c->want_count--;
	keep(c, chunk);
}

static void start_turn(struct carousel *c) {
	struct turn *turn = &c->turn;
	uint32_t chunks = c->order.index->chunk_count, at = c->cursor;

	turn->number++;
	turn->symbols = turn->sent = 0;
	while (at < chunks && !bitmap_has(c->want, at))
		at++;
	for (at = at < chunks ? at : 0; at < chunks && turn->count < TURN_CHUNKS; at++) {
		uint32_t symbols = frame_symbols(c->order.index->chunks[at].frame);
		if (!bitmap_has(c->want, at))
			continue;
		if (turn->count > 0 && turn->symbols + symbols > TURN_SYMBOLS)
			break;
		add_member(c, at, symbols);
	}
	c->cursor = at;
}

// The next symbol of the chunk of which the smallest share was sent: all end together.
static void next_data(struct carousel *c, struct data_packet *ret) {
	struct turn *turn = &c->turn;
	uint32_t least = 0, blocks, i;

	for (uint32_t m = 1; m < turn->count; m++)
		if ((turn->members[m].sent * 2 + 1) * turn->members[least].symbols <
		    (turn->members[least].sent * 2 + 1) * turn->members[m].symbols)
			least = m;
	blocks = block_count(turn->members[least].symbols);
	i = turn->members[least].sent++;
	ret->chunk = turn->members[least].chunk;
	ret->symbols = (uint16_t)turn->members[least].symbols;
	ret->block = (uint8_t)(i % blocks);
	ret->symbol = (uint8_t)(i / blocks);
	if (++turn->sent == turn->symbols)
		turn->count = 0;
	c->budget += c->clients.strained ? 4 : 1;
	c->budget = c->budget < BUDGET_MOST ? c->budget : BUDGET_MOST;
	c->counts.data++;
}

// Blocks that owe take turns. False: none owes anything.
static bool next_repair(struct carousel *c, uint32_t sequence, struct data_packet *ret) {
	const uint32_t ring = KEPT * BLOCKS_MAX;

	while (c->owing_count > 0) {
		uint32_t which = c->owing[c->owing_first], block = which % BLOCKS_MAX;
		struct chunk_sent *sent = &c->kept[which / BLOCKS_MAX];
		struct block_sent *state = &sent->blocks[block];
		c->owing_first = (c->owing_first + 1) % ring;
		c->owing_count--;
		state->queued = state->owed > 1;
		if (state->owed == 0)
			continue;
		if (--state->owed > 0)
			c->owing[(c->owing_first + c->owing_count++) % ring] = which;
		state->marks[state->used % MARKS] = sequence;
		ret->chunk = sent->chunk;
		ret->symbols = (uint16_t)frame_symbols(c->order.index->chunks[sent->chunk].frame);
		ret->block = (uint8_t)block;
		ret->symbol = (uint8_t)(BLOCK_MAX + state->used++);
		c->counts.repairs++;
		return true;
	}
	return false;
}

bool carousel_next(struct carousel *c, int64_t now, uint32_t *ret_sequence, struct data_packet *ret) {
	bool may_start = c->want_count > 0 && now >= c->starts, has_data = c->turn.count > 0 || may_start;

	ret->payload = NULL;
	*ret_sequence = c->sequence + 1;
	if ((c->budget >= 8 || !has_data) && next_repair(c, c->sequence + 1, ret)) {
		c->budget -= c->budget >= 8 ? 8 : c->budget;
	} else {
		if (!has_data)
			return false;
		if (c->turn.count == 0)
			start_turn(c);
		next_data(c, ret);
	}
	ret->turn = c->turn.number;
	c->sequence++;
	return true;
}
