// SPDX-License-Identifier: Apache-2.0
#include "multicast/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NEW_SENDER 65536 // packets; a larger step in the sequence is that of another sender
#define NEW_SENDER_TURNS 4096
#define WINDOW 4096u  // packets over which the loss is judged
#define LOSS_MOST 20u // percent
#define DROPPED_MOST 20u

static void append(struct slot ***end, struct slot *slot) {
	slot->next = NULL;
	slot->link = *end;
	**end = slot;
	*end = &slot->next;
}

static void take_off(struct slot ***end, struct slot *slot) {
	*slot->link = slot->next;
	if (slot->next)
		slot->next->link = slot->link;
	else
		*end = slot->link;
}

static void close_open(struct gather *g, struct slot *slot) {
	take_off(&g->open_end, slot);
	g->slots[slot->chunk] = NULL;
	gather_return(g, slot);
}

int gather_open(const struct gather_order *order, int64_t now, struct gather **ret, struct fault *fault) {
	cleanup_with(gather_close) struct gather *g = calloc(1, sizeof(*g));
	size_t size = bitmap_size(order->index);

	if (g) {
		g->order = *order;
		g->open_end = &g->open;
		g->ready_end = &g->ready;
		g->wanted = calloc(1, size + 1);
		g->ask = calloc(1, size + 1);
		g->slots = calloc(order->index->chunk_count + 1, sizeof(*g->slots));
	}
	if (!g || !g->wanted || !g->ask || !g->slots)
		return fault_errno(fault, CODE_FAILED, ENOMEM, "image: %u chunks", order->index->chunk_count);
	if (order->wanted)
		memcpy(g->wanted, order->wanted, size);
	else
		bitmap_fill(order->index, g->wanted);
	for (uint32_t i = 0; i < order->index->chunk_count; i++)
		g->left += bitmap_has(g->wanted, i);
	g->room = order->room;
	g->chance = order->client * UINT64_C(0x9e3779b97f4a7c15) | 1;
	gather_reset(g, now);
	*ret = steal_pointer(&g);
	return 0;
}

static void close_all(struct slot *slot) {
	for (struct slot *next; slot; slot = next) {
		next = slot->next;
		slot_close(slot);
	}
}

void gather_close(struct gather **gather) {
	if (*gather) {
		close_all((*gather)->open);
		close_all((*gather)->ready);
		free((*gather)->wanted);
		free((*gather)->ask);
		free((*gather)->slots);
	}
	free(*gather);
	*gather = NULL;
}

void gather_ask(struct gather *g, uint32_t chunk) {
	if (bitmap_has(g->wanted, chunk) && !g->slots[chunk] && !bitmap_has(g->ask, chunk)) {
		bitmap_add(g->ask, chunk);
		g->ask_count++;
	}
}

static void unask(struct gather *g, uint32_t chunk) {
	if (bitmap_has(g->ask, chunk)) {
		bitmap_remove(g->ask, chunk);
		g->ask_count--;
	}
}

// Requests what was in the turn and did not come: what there was no room for, and what no symbol came of.
static void end_turn(struct gather *g) {
	for (uint32_t i = 0; i < g->turn.missed_count; i++)
		gather_ask(g, g->turn.missed[i]);
	for (uint32_t i = g->turn.low; i < g->turn.high; i++)
		gather_ask(g, i);
}

static void start_turn(struct gather *g, uint16_t number) {
	if (g->started)
		end_turn(g);
	g->turn = (struct turn_seen){.number = number, .low = 1};
}

static bool is_late(const struct data_packet *data) {
	uint32_t i = (uint32_t)data->symbol * block_count(data->symbols) + data->block;
	return i * LATE_SHARE > data->symbols;
}

static void note_turn(struct gather *g, const struct data_packet *data) {
	int ahead = (int16_t)(uint16_t)(data->turn - g->turn.number);

	if (!g->started || ahead > 0 || ahead < -NEW_SENDER_TURNS) {
		start_turn(g, data->turn);
		if (!g->started)
			g->turn.left_out = is_parity(data->symbol) || is_late(data);
	}
}

// The turn of late packets is over.
static void note_data(struct gather *g, const struct data_packet *data) {
	struct turn_seen *turn = &g->turn;

	if (is_parity(data->symbol) || data->turn != turn->number)
		return;
	if (turn->low > turn->high)
		turn->low = turn->high = data->chunk;
	turn->low = data->chunk < turn->low ? data->chunk : turn->low;
	turn->high = data->chunk > turn->high ? data->chunk : turn->high;
}

static void judge(struct gather *g) {
	uint64_t lost = g->counts.lost - g->window.lost, received = g->counts.received - g->window.received;
	uint64_t dropped = g->counts.dropped - g->window.dropped;

	if (received + lost < WINDOW)
		return;
	if (lost * 100 > (received + lost) * LOSS_MOST)
		g->verdict = GATHER_LOSES;
	else if (dropped * 100 > received * DROPPED_MOST)
		g->verdict = GATHER_LACKS_ROOM;
	g->window = g->counts;
}

// `came`: the packet with that sequence. Else it was announced, and those up to it came or are lost.
static void note_sequence(struct gather *g, uint32_t sequence, bool came) {
	int64_t ahead = (int32_t)(sequence - g->sequence);

	g->counts.received += came;
	if (!g->started || ahead > NEW_SENDER || ahead < -NEW_SENDER) {
		g->sequence = sequence;
	} else if (ahead > 0) {
		g->counts.lost += (uint64_t)ahead - came;
		g->sequence = sequence;
	} else if (came && ahead < 0 && g->counts.lost > g->at_need.lost && g->counts.lost > g->window.lost) {
		g->counts.lost--; // it was late
	}
	judge(g);
}

// NULL: there is no room, or this turn is left out.
static struct slot *open_slot(struct gather *g, const struct data_packet *data) {
	struct turn_seen *turn = &g->turn;
	struct slot *slot = NULL;

	for (uint32_t i = 0; i < turn->missed_count; i++)
		if (turn->missed[i] == data->chunk)
			return NULL;
	if (data->symbols <= g->room && !turn->left_out)
		slot = slot_open(data->chunk, data->symbols, !g->order.counts_only);
	if (!slot) {
		if (turn->missed_count < TURN_CHUNKS)
			turn->missed[turn->missed_count++] = data->chunk;
		return NULL;
	}
	slot->turn = data->turn;
	g->room -= data->symbols;
	g->slots[data->chunk] = slot;
	append(&g->open_end, slot);
	unask(g, data->chunk);
	return slot;
}

static void take_symbol(struct gather *g, const struct data_packet *data) {
	struct slot *slot = g->slots[data->chunk];

	if (!slot && !bitmap_has(g->wanted, data->chunk)) {
		g->counts.duplicate++;
		return;
	}
	if (!slot && (is_parity(data->symbol) || !(slot = open_slot(g, data)))) {
		g->counts.dropped += !is_parity(data->symbol) && !g->turn.left_out;
		return;
	}
	if (!is_parity(data->symbol))
		slot->turn = data->turn;
	switch (slot_put(slot, data->block, data->symbol, data->payload)) {
	case SLOT_STORED: break;
	case SLOT_DUPLICATE: g->counts.duplicate++; break;
	case SLOT_COMPLETE:
		take_off(&g->open_end, slot);
		append(&g->ready_end, slot);
		g->slots[data->chunk] = NULL;
		bitmap_remove(g->wanted, data->chunk);
		g->left--;
	}
}

bool gather_data(struct gather *g, uint32_t sequence, const struct data_packet *data, int64_t now) {
	const struct index *index = g->order.index;

	if (data->chunk >= index->chunk_count || data->symbols != frame_symbols(index->chunks[data->chunk].frame)) {
		g->counts.refused++;
		return false;
	}
	note_sequence(g, sequence, true);
	note_turn(g, data);
	g->confirms |= !g->started;
	g->started = true;
	g->idle = false;
	g->last_data = now;
	note_data(g, data);
	take_symbol(g, data);
	return true;
}

void gather_announce(struct gather *g, const struct packet *announce, int64_t now) {
	int ahead = (int16_t)(uint16_t)(announce->announce.turn - g->turn.number);

	if (g->started) {
		note_sequence(g, announce->sequence, false);
		if (ahead > 0 || ahead < -NEW_SENDER_TURNS)
			start_turn(g, announce->announce.turn);
	}
	g->interval = announce->announce.interval * MILLISECOND;
	g->idle = announce->flags & FLAG_IDLE;
	if (g->idle && g->next_need > now + g->interval)
		g->next_need = now + g->interval;
}

void gather_reset(struct gather *g, int64_t now) {
	while (g->open)
		close_open(g, g->open);
	memset(g->ask, 0, bitmap_size(g->order.index));
	g->ask_count = 0;
	g->started = g->idle = g->confirms = false;
	g->turn = (struct turn_seen){.low = 1};
	g->last_data = g->next_need = now;
	g->asked_all = g->last_need = now - SECOND;
	g->interval = INTERVAL_MIN * MILLISECOND;
	g->window = g->counts;
	g->verdict = GATHER_STAYS;
}

struct slot *gather_take(struct gather *g) {
	struct slot *slot = g->ready;

	if (slot)
		take_off(&g->ready_end, slot);
	return slot;
}

void gather_return(struct gather *g, struct slot *slot) {
	g->room += slot->symbols;
	slot_close(slot);
}

void gather_drop(struct gather *g, uint32_t chunk) {
	struct slot *slot = g->slots[chunk];

	if (!bitmap_has(g->wanted, chunk))
		return;
	unask(g, chunk);
	bitmap_remove(g->wanted, chunk);
	g->left--;
	if (slot)
		close_open(g, slot);
}
